import { sourceText } from './analysis/tables.ts';
import type { Rule } from './engine/rule.ts';
import { hintRemoval } from './merge-target-hint-is-refused.ts';

export const sourceIsReadWithNolock: Rule = {
  name: 'source-is-read-with-nolock',
  hazards: ['M25'],
  platforms: ['sqlserver', 'azuresql', 'synapse'],
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A load reads its source with NOLOCK.',
  why: 'Rows may be missed or read twice while others write: missed rows look deleted, and rows read twice break the MERGE or are stored twice.',
  help: 'Remove the hint, and use snapshot isolation where readers must not wait.',
  judges: 'part',
  invalid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s WITH (NOLOCK) ON t.UnitNo = s.UnitNo
WHEN MATCHED AND s.Gone = 1 THEN DELETE;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND s.Gone = 1 THEN DELETE;`,
    },
  ],
  statement(step, context) {
    const { statement } = step;
    const merges = step.find('merge').length > 0;
    const detects = ['update', 'delete'].includes(statement.kind);
    for (const { node, parent, scope } of step.find('table')) {
      const hint = node.hints.find(({ name }) => name === 'NOLOCK' || name === 'READUNCOMMITTED');
      if (hint === undefined) continue;
      const isTarget =
        scope?.target?.node === node && parent !== null && 'target' in parent.node && parent.node.target === node;
      if (isTarget) continue;
      const source = { alias: '', node, common: null, optional: false, outer: null };
      context.report(step, hint, {
        message: `${hint.name} on ${sourceText(source)} may miss rows or read some twice.`,
        // In a plain query the reader may have decided to live with that.
        severity: merges || detects ? 'warning' : 'info',
        fixes: [
          {
            title: `Remove ${hint.name}`,
            safe: false,
            edits: [hintRemoval(node.hints, hint, (start, end) => context.slice(step, start, end))],
          },
        ],
      });
    }
  },
};
