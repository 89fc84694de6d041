import { insertAt } from './analysis/fixes.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const mergeInsertNamesNoColumns: Rule = {
  name: 'merge-insert-names-no-columns',
  hazards: ['M15'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'The INSERT branch of a MERGE has values but no column list.',
  why: 'When a column is added to the target the statement fails, and when one is moved the values go into the wrong columns.',
  help: 'Name the columns.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label nvarchar(50) NULL);`,
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT VALUES (s.UnitNo, s.Label);`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT (UnitNo, Label) VALUES (s.UnitNo, s.Label);`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('merge-insert')) {
      if (node.columns.length > 0 || node.star || node.values.length === 0) continue;
      const table = context.tables.tableOf(scope?.target ?? null);
      const columns = table?.columns.filter((column) => !column.identity && !column.computed) ?? [];
      const head = context.slice(step, node.start, node.values[0]?.start ?? node.start);
      const at = /\bVALUES\b/i.exec(head)?.index;
      const list = columns.map((column) => (/^\w+$/.test(column.name) ? column.name : `[${column.name}]`)).join(', ');
      context.report(step, node, {
        message: "This INSERT relies on the order of the target's columns.",
        fixes:
          columns.length === node.values.length && at !== undefined
            ? [{ title: 'Name the columns', safe: true, edits: [insertAt(node.start + at, `(${list}) `)] }]
            : [],
      });
    }
  },
};
