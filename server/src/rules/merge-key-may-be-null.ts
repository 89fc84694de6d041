import { isSpark } from '../../../protocol/platform.ts';
import { nullSafeEqual, replace } from './analysis/fixes.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { columnName } from './analysis/names.ts';
import { meet, originsOf } from './analysis/sides.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const mergeKeyMayBeNull: Rule = {
  name: 'merge-key-may-be-null',
  hazards: ['M22', 'D07'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'ON compares a nullable column with =.',
  why: 'NULL = NULL is not true, so a row with NULL in this column never matches and is inserted again on every run.',
  help: 'Refuse NULL keys in the stage, or compare null-safely.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Line (AcctNo int NOT NULL, SubNo int NULL, Amount decimal(18,2) NULL);
CREATE TABLE stg.Line (AcctNo int NOT NULL, SubNo int NULL, Amount decimal(18,2) NULL);`,
      sql: `MERGE dw.Line WITH (HOLDLOCK) AS t USING stg.Line AS s ON t.AcctNo = s.AcctNo AND t.SubNo = s.SubNo
WHEN NOT MATCHED THEN INSERT (AcctNo, SubNo, Amount) VALUES (s.AcctNo, s.SubNo, s.Amount);`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Line (AcctNo int NOT NULL, SubNo int NOT NULL, Amount decimal(18,2) NULL, PRIMARY KEY (AcctNo, SubNo));`,
      sql: `MERGE dw.Line WITH (HOLDLOCK) AS t USING stg.Line AS s ON t.AcctNo = s.AcctNo AND t.SubNo = s.SubNo
WHEN NOT MATCHED THEN INSERT (AcctNo, SubNo, Amount) VALUES (s.AcctNo, s.SubNo, s.Amount);`,
    },
  ],
  statement(step, context) {
    for (const { merge, pairs, scope, target, sources } of mergesOf(step, context.tables)) {
      if (branchesOf(merge, 'not-matched').length === 0) continue;
      // A source that reads the target gives NULL on purpose for the rows to insert.
      const own = originsOf(target, context.tables);
      if (sources.some((source) => meet(originsOf(source, context.tables), own))) continue;
      for (const pair of pairs) {
        if (pair.nullSafe || context.tables.nullable(pair.target, scope) !== true) continue;
        if (context.tables.nullable(pair.other, scope) === false) continue;
        const left = context.text(step, pair.target);
        const right = context.text(step, pair.other);
        context.report(step, pair.test, {
          message: `${columnName(pair.target)} may be NULL, and a NULL never equals a NULL: such rows are inserted on every run.`,
          hazards: isSpark(context.platform.name) ? ['M22', 'D07'] : ['M22'],
          fixes: [
            {
              title: 'Compare null-safely',
              safe: true,
              edits: [replace(pair.test, nullSafeEqual(context.platform, left, right))],
            },
          ],
        });
      }
    }
  },
};
