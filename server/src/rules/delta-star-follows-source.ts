import { replace } from './analysis/fixes.ts';
import { mergesOf } from './analysis/merges.ts';
import { type Rule, sparkPlatforms } from './engine/rule.ts';

export const deltaStarFollowsSource: Rule = {
  name: 'delta-star-follows-source',
  hazards: ['D01'],
  platforms: sparkPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: 'A MERGE writes * of its source.',
  why: 'With schema evolution, new or misspelt source columns are added to the table; target columns that the source lacks keep their value on update and get NULL on insert. Without it a missing column is an error.',
  help: 'Name the columns.',
  invalid: [
    {
      platform: 'delta',
      ddl: `CREATE TABLE gold.unit (unit_no INT NOT NULL, label STRING) USING DELTA;`,
      sql: `MERGE INTO gold.unit AS t USING stage.unit AS s ON t.unit_no = s.unit_no
WHEN NOT MATCHED THEN INSERT *;`,
    },
  ],
  valid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.unit AS t USING stage.unit AS s ON t.unit_no = s.unit_no
WHEN NOT MATCHED THEN INSERT (unit_no, label) VALUES (s.unit_no, s.label);`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      const columns = context.tables
        .tableOf(facts.target)
        ?.columns.filter((column) => !column.computed && !column.identity);
      const [source] = facts.sources;
      for (const { action } of facts.merge.branches) {
        if ((action?.kind !== 'merge-insert' && action?.kind !== 'merge-update') || !action.star) continue;
        const names = columns?.map((column) => column.name) ?? [];
        const list =
          action.kind === 'merge-insert'
            ? `INSERT (${names.join(', ')}) VALUES (${names.map((name) => `${source?.alias}.${name}`).join(', ')})`
            : `UPDATE SET ${names.map((name) => `${facts.target.alias}.${name} = ${source?.alias}.${name}`).join(', ')}`;
        context.report(step, action, {
          message: facts.merge.schemaEvolution
            ? 'The columns of the source decide what is written, and new ones are added to the table.'
            : 'The columns of the source decide what is written.',
          fixes:
            names.length === 0 || source === undefined || action.except.length > 0
              ? []
              : [{ title: 'Name the columns', safe: false, edits: [replace(action, list)] }],
        });
      }
    }
  },
};
