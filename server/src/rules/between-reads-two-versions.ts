import { replace } from './analysis/fixes.ts';
import { labelOf } from './analysis/hashes.ts';
import { hasClosingRule } from './analysis/house.ts';
import { plainColumn, roleByName } from './analysis/names.ts';
import { stepsOf, stepsWith } from './analysis/selections.ts';
import { innerColumn } from './analysis/sides.ts';
import type { Body } from './analysis/steps.ts';
import { closingSteps, closingsOf } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const betweenReadsTwoVersions: Rule = {
  name: 'between-reads-two-versions',
  hazards: ['T06'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A date is looked up with BETWEEN valid-from AND valid-to.',
  why: 'Where a version ends at the moment at which the next one starts, that moment finds both, and rows are doubled.',
  help: 'Write from <= d AND d < to. Where versions end one unit early on purpose, state the closing rule in mergewright.json.',
  invalid: [
    {
      sql: `SELECT f.SaleNo, d.TierKey FROM dw.Sale AS f JOIN dw.DimTier AS d ON d.MemberNo = f.MemberNo AND f.SoldAt BETWEEN d.ValidFrom AND d.ValidTo;`,
    },
  ],
  valid: [
    {
      sql: `SELECT f.SaleNo, d.TierKey FROM dw.Sale AS f JOIN dw.DimTier AS d ON d.MemberNo = f.MemberNo AND f.SoldAt >= d.ValidFrom AND f.SoldAt < d.ValidTo;`,
    },
  ],
  body(body, context) {
    const found = stepsWith(body, 'between').flatMap((step) => step.find('between').map((entry) => ({ step, entry })));
    if (found.length === 0) return;
    const halfOpen = closesHalfOpen(body, context);
    for (const { step, entry } of found) {
      const { node, scope } = entry;
      const low = innerColumn(node.low);
      const high = innerColumn(node.high);
      if (low === null || high === null || node.not || plainColumn(node.low) === null) continue;
      if (context.tables.role(low, scope) !== 'effective-start' || context.tables.role(high, scope) !== 'effective-end')
        continue;
      if (hasClosingRule(step, context)) continue;
      const value = context.text(step, node.operand);
      context.report(step, node, {
        message: 'At the moment at which one version ends and the next starts, this finds both.',
        // Only the statements that close versions show how this table's intervals end.
        severity: halfOpen ? 'warning' : 'info',
        fixes: [
          {
            title: 'Leave the end out',
            safe: false,
            edits: [
              replace(
                node,
                `(${value} >= ${context.text(step, node.low)} AND ${value} < ${context.text(step, node.high)})`,
              ),
            ],
          },
        ],
      });
    }
  },
};

/** An UPDATE of the script closes with the value that an INSERT of it starts the next version with. */
function closesHalfOpen(body: Body, context: RuleContext): boolean {
  const ends = new Set<string>();
  const starts = new Set<string>();
  for (const step of closingSteps(body, context.tables)) {
    for (const { closing } of closingsOf(step, context.tables)) {
      if (closing.end !== null) ends.add(context.text(step, closing.end.value).toLowerCase());
    }
  }
  for (const step of stepsOf(body, 'insert')) {
    for (const entry of step.find('select-item')) {
      const label = labelOf(entry, step);
      if (label !== null && roleByName(label) === 'effective-start')
        starts.add(context.text(step, entry.node.expression).toLowerCase());
    }
  }
  return [...ends].some((value) => starts.has(value));
}
