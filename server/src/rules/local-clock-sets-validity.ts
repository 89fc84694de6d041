import { replace } from './analysis/fixes.ts';
import { clockReads } from './analysis/flow.ts';
import { labelOf } from './analysis/hashes.ts';
import { callName, roleByName } from './analysis/names.ts';
import type { Rule } from './engine/rule.ts';

const local: Readonly<Record<string, string>> = {
  GETDATE: 'SYSUTCDATETIME()',
  SYSDATETIME: 'SYSUTCDATETIME()',
  CURRENT_TIMESTAMP: 'SYSUTCDATETIME()',
};

export const localClockSetsValidity: Rule = {
  name: 'local-clock-sets-validity',
  hazards: ['T05'],
  platforms: ['sqlserver'],
  severity: 'info',
  fix: 'unsafe',
  summary: "The server's local time is stored as the start or end of a version.",
  why: 'When daylight saving time ends, one hour comes twice: versions of that night are out of order or overlap.',
  help: 'Store UTC: SYSUTCDATETIME().',
  judges: 'part',
  invalid: [
    { sql: `UPDATE dw.DimTier SET ValidTo = GETDATE(), IsCurrent = 0 WHERE MemberNo = @member AND IsCurrent = 1;` },
  ],
  valid: [
    {
      sql: `UPDATE dw.DimTier SET ValidTo = SYSUTCDATETIME(), IsCurrent = 0 WHERE MemberNo = @member AND IsCurrent = 1;`,
    },
  ],
  statement(step, context) {
    if (!['insert', 'update', 'merge'].includes(step.statement.kind)) return;
    for (const node of clockReads(step)) {
      const better = local[callName(node)];
      const entry = step.entry(node);
      const label = entry === undefined ? null : labelOf(entry, step);
      const role = label === null ? null : roleByName(label);
      if (better === undefined || (role !== 'effective-start' && role !== 'effective-end')) continue;
      context.report(step, node, {
        message: `${label} gets the server's local time.`,
        fixes: [{ title: 'Use SYSUTCDATETIME()', safe: false, edits: [replace(node, better)] }],
      });
    }
  },
};
