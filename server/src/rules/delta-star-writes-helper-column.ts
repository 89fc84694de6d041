import { insertAt } from './analysis/fixes.ts';
import { mergesOf } from './analysis/merges.ts';
import { includes, lists } from './analysis/names.ts';
import { type Rule, sparkPlatforms } from './engine/rule.ts';

const helpers = /^(merge_?keys?|mk|rn|row_?num(ber)?|rank|rnk|_change_type|_commit_(version|timestamp))$/i;

export const deltaStarWritesHelperColumn: Rule = {
  name: 'delta-star-writes-helper-column',
  hazards: ['D02'],
  platforms: sparkPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'INSERT * or UPDATE SET * also writes helper columns of the source.',
  why: 'Row numbers and merge keys become columns of the table, or the statement fails because the table has none.',
  help: 'Leave them out with EXCEPT, or name the columns.',
  invalid: [
    {
      platform: 'databricks',
      sql: `MERGE INTO gold.unit AS t
USING (SELECT unit_no, label, ROW_NUMBER() OVER (PARTITION BY unit_no ORDER BY loaded_at DESC, file_row DESC) AS rn FROM stage.unit QUALIFY rn = 1) AS s
ON t.unit_no = s.unit_no
WHEN NOT MATCHED THEN INSERT *;`,
    },
  ],
  valid: [
    {
      platform: 'databricks',
      sql: `MERGE INTO gold.unit AS t
USING (SELECT unit_no, label FROM stage.unit) AS s ON t.unit_no = s.unit_no
WHEN NOT MATCHED THEN INSERT *;`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      const [source] = facts.sources;
      const columns = source === undefined ? null : context.tables.relation(source)?.columns;
      const target = context.tables.tableOf(facts.target)?.columns.map((column) => column.name) ?? [];
      const found = (columns ?? [])
        .map((column) => column.name)
        .filter((name) => helpers.test(name) && !includes(target, name));
      if (found.length === 0) continue;
      for (const { action } of facts.merge.branches) {
        if ((action?.kind !== 'merge-insert' && action?.kind !== 'merge-update') || !action.star) continue;
        const left = found.filter((name) => !lists(action.except, name));
        if (left.length === 0) continue;
        context.report(step, action, {
          message: `* also writes ${left.join(', ')}.`,
          fixes:
            action.except.length > 0 || context.platform.name !== 'databricks'
              ? []
              : [
                  {
                    title: `Leave ${left.join(', ')} out`,
                    safe: false,
                    edits: [insertAt(action.end, ` EXCEPT (${left.join(', ')})`)],
                  },
                ],
        });
      }
    }
  },
};
