import { columnComparisons } from './analysis/comparisons.ts';
import { replace } from './analysis/fixes.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { columnName } from './analysis/names.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const comparisonUsesFloat: Rule = {
  name: 'comparison-uses-float',
  hazards: ['C10'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A change test compares float columns exactly.',
  why: 'A value that was computed again differs in its last bits, so the row gets a new version on every load.',
  help: 'Round both sides, or cast them to decimal.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Rate (RateNo int NOT NULL PRIMARY KEY, Pct float NOT NULL);
CREATE TABLE stg.Rate (RateNo int NOT NULL PRIMARY KEY, Pct float NOT NULL);`,
      sql: `UPDATE t SET Pct = s.Pct FROM dw.Rate AS t JOIN stg.Rate AS s ON s.RateNo = t.RateNo WHERE t.Pct <> s.Pct;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Rate (RateNo int NOT NULL PRIMARY KEY, Pct float NOT NULL);
CREATE TABLE stg.Rate (RateNo int NOT NULL PRIMARY KEY, Pct float NOT NULL);`,
      sql: `UPDATE t SET Pct = s.Pct FROM dw.Rate AS t JOIN stg.Rate AS s ON s.RateNo = t.RateNo WHERE ROUND(t.Pct, 6) <> ROUND(s.Pct, 6);`,
    },
  ],
  statement(step, context) {
    if (!['merge', 'update', 'insert', 'delete'].includes(step.statement.kind)) return;
    for (const { node, left, right, entry } of columnComparisons(step, context.tables, ['<>', '!='])) {
      const float = [left, right].find((column) => factsOf(column, entry.scope, context)?.family === 'float');
      if (float === undefined) continue;
      context.report(step, node, {
        message: `${columnName(float)} is a float: values that were computed again are never exactly equal.`,
        fixes: [
          {
            title: 'Compare rounded values',
            safe: false,
            edits: [
              replace(
                node,
                `ROUND(${context.text(step, left)}, 6) ${node.operator} ROUND(${context.text(step, right)}, 6)`,
              ),
            ],
          },
        ],
      });
    }
  },
};
