import { mergesOf } from './analysis/merges.ts';
import type { Rule } from './engine/rule.ts';

export const synapseRefusesSyntax: Rule = {
  name: 'synapse-refuses-syntax',
  hazards: ['M27'],
  platforms: ['synapse'],
  severity: 'error',
  fix: 'none',
  summary: 'A statement uses T-SQL that a Synapse dedicated pool does not know.',
  why: 'OUTPUT, TOP, table hints and a VALUES source are not part of its MERGE, and INSERT … VALUES takes one row only; the server refuses the statement.',
  help: 'Write literal rows as SELECT … UNION ALL SELECT …, and count changes by queries of their own.',
  invalid: [
    {
      platform: 'synapse',
      sql: `MERGE dw.Unit AS t USING (VALUES (1, 'x')) AS s (UnitNo, Label) ON t.UnitNo = s.UnitNo
WHEN MATCHED AND t.Label <> s.Label THEN UPDATE SET Label = s.Label;`,
    },
    { platform: 'synapse', sql: `INSERT INTO dw.Unit (UnitNo) VALUES (1), (2);` },
  ],
  valid: [
    {
      platform: 'synapse',
      sql: `INSERT INTO dw.Unit (UnitNo) SELECT 1 UNION ALL SELECT 2;`,
    },
  ],
  statement(step, context) {
    for (const { merge, sources } of mergesOf(step, context.tables)) {
      const refused = (at: { readonly start: number; readonly end: number }, what: string) =>
        context.report(step, at, { message: `${what} is not supported in a MERGE on Synapse.` });
      for (const output of merge.output) refused(output, 'OUTPUT');
      if (merge.top !== null) refused(merge.top, 'TOP');
      if (merge.target.kind === 'table') for (const hint of merge.target.hints) refused(hint, `The hint ${hint.name}`);
      for (const { node } of sources) {
        if (node.kind === 'derived-table' && node.query.body.kind === 'values') refused(node, 'A VALUES source');
      }
    }
    for (const { node } of step.find('insert')) {
      if (node.source.kind !== 'query' || node.source.body.kind !== 'values') continue;
      const second = node.source.body.rows[1];
      if (second === undefined) continue;
      context.report(step, second, { message: 'INSERT … VALUES takes one row only on Synapse.' });
    }
  },
};
