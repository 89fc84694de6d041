import { insertAt } from './analysis/fixes.ts';
import { hasDescendant } from './analysis/flow.ts';
import { mergesOf, sourceKeyColumns } from './analysis/merges.ts';
import { coversKey } from './analysis/relations.ts';
import { indicesWhere, indicesWith, stepsAt } from './analysis/selections.ts';
import { meet, tableNamesOf, tablesIn } from './analysis/sides.ts';
import { sourceText } from './analysis/tables.ts';
import type { Rule } from './engine/rule.ts';

export const unenforcedKeyIsTrusted: Rule = {
  name: 'unenforced-key-is-trusted',
  hazards: ['P15'],
  platforms: ['synapse', 'fabric', 'databricks'],
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A MERGE relies on a key of its source that the platform does not enforce.',
  why: 'The stage may hold the key twice all the same: both rows are inserted, or the MERGE fails; queries over such a key may give wrong results.',
  help: 'Look for repeated keys before the load, or keep one row of each key in the source.',
  invalid: [
    {
      platform: 'synapse',
      ddl: `CREATE TABLE stg.Unit (UnitNo int NOT NULL, Label varchar(50) NULL, CONSTRAINT PK_Unit PRIMARY KEY NONCLUSTERED (UnitNo) NOT ENFORCED) WITH (DISTRIBUTION = HASH (UnitNo), HEAP);
CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label varchar(50) NULL) WITH (DISTRIBUTION = HASH (UnitNo), HEAP);`,
      sql: `MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT (UnitNo, Label) VALUES (s.UnitNo, s.Label);`,
    },
  ],
  valid: [
    {
      platform: 'synapse',
      ddl: `CREATE TABLE stg.Unit (UnitNo int NOT NULL, Label varchar(50) NULL, CONSTRAINT PK_Unit PRIMARY KEY NONCLUSTERED (UnitNo) NOT ENFORCED) WITH (DISTRIBUTION = HASH (UnitNo), HEAP);
CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label varchar(50) NULL) WITH (DISTRIBUTION = HASH (UnitNo), HEAP);`,
      sql: `MERGE dw.Unit AS t USING (SELECT UnitNo, MAX(Label) AS Label FROM stg.Unit GROUP BY UnitNo) AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT (UnitNo, Label) VALUES (s.UnitNo, s.Label);`,
    },
  ],
  body(body, context) {
    for (const index of indicesWith(body, 'merge')) {
      const step = body.steps[index];
      if (step === undefined) continue;
      for (const facts of mergesOf(step, context.tables)) {
        const [source] = facts.sources;
        const columns = sourceKeyColumns(facts);
        if (source === undefined || facts.sources.length !== 1 || columns === null) continue;
        const key = coversKey(context.tables.relation(source)?.keys ?? null, columns);
        if (key === null || key.enforced) continue;
        const names = tableNamesOf(source);
        const checked = stepsAt(
          body,
          countingIndices(body).filter((at) => at < index),
        ).some((before) => meet(tablesIn(before.statement), names));
        if (checked || source.node.kind !== 'table') continue;
        const table = context.text(step, source.node.name);
        const list = columns.join(', ');
        context.report(step, source.node, {
          message: `The key ${key.columns.join(' + ')} of ${sourceText(source)} is declared but not enforced, so it may repeat.`,
          fixes: [
            {
              title: 'Stop the load when a key repeats',
              safe: false,
              edits: [
                insertAt(
                  step.statement.start,
                  context.platform.name === 'databricks'
                    ? `SELECT assert_true(count(*) = 0, 'duplicate_key: ${table}') FROM (SELECT ${list} FROM ${table} GROUP BY ${list} HAVING COUNT(*) > 1);\n`
                    : `IF EXISTS (SELECT ${list} FROM ${table} GROUP BY ${list} HAVING COUNT(*) > 1)\n    THROW 50011, N'duplicate_key: ${table}', 1;\n`,
                ),
              ],
            },
          ],
        });
      }
    }
  },
};

/** Statements that group rows and keep some groups. */
const countingIndices = indicesWhere(({ statement }) =>
  hasDescendant(statement, (node) => node.kind === 'select' && node.having !== null),
);
