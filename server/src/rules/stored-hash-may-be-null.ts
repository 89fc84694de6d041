import { isSpark } from '../../../protocol/platform.ts';
import { columnComparisons, storedNullable } from './analysis/comparisons.ts';
import { replace } from './analysis/fixes.ts';
import { columnName } from './analysis/names.ts';
import { isDigestRole } from './analysis/roles.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const storedHashMayBeNull: Rule = {
  name: 'stored-hash-may-be-null',
  hazards: ['C04'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'A change test compares a stored hash that may be NULL with <>.',
  why: 'Rows that were stored before the hash column existed have NULL there, and a comparison with NULL is never true: they never change again.',
  help: 'Fill the column and declare it NOT NULL, or test for NULL too.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(30) NULL, HashDiff binary(32) NULL);`,
      sql: `UPDATE t SET City = s.City, HashDiff = s.HashDiff FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo
WHERE t.HashDiff <> s.HashDiff;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(30) NULL, HashDiff binary(32) NULL);`,
      sql: `UPDATE t SET City = s.City, HashDiff = s.HashDiff FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo
WHERE (t.HashDiff IS NULL OR t.HashDiff <> s.HashDiff);`,
    },
  ],
  statement(step, context) {
    if (isSpark(context.platform.name)) return;
    for (const { node, left, right, entry, nullTested } of columnComparisons(step, context.tables, ['<>', '!='])) {
      if (nullTested) continue;
      const digest = [left, right].find(
        (column) =>
          isDigestRole(context.tables.role(column, entry.scope)) &&
          storedNullable(column, entry.scope, context.tables) === true,
      );
      if (digest === undefined) continue;
      const name = context.text(step, digest);
      context.report(step, node, {
        message: `${columnName(digest)} may be NULL, and then this is never true: the row never changes again.`,
        fixes: [
          {
            title: `Test ${name} for NULL too`,
            safe: true,
            edits: [replace(node, `(${name} IS NULL OR ${context.text(step, node)})`)],
          },
        ],
      });
    }
  },
};
