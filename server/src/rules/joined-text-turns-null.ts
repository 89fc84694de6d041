import { isTsql } from '../../../protocol/platform.ts';
import { replace } from './analysis/fixes.ts';
import { factsOf, textLiteral } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const joinedTextTurnsNull: Rule = {
  name: 'joined-text-turns-null',
  hazards: ['H05'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'The text of a hash is joined by an operator that gives NULL when one value is NULL.',
  why: 'One NULL makes the whole hash NULL, so no later change of the row is seen.',
  help: 'Replace NULL in each value by a placeholder, or use CONCAT.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, Street varchar(50) NULL, City varchar(50) NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', Street + '||' + City)) AS HashDiff FROM stg.Shop;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, Street varchar(50) NULL, City varchar(50) NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', COALESCE(Street, '^^') + '||' + COALESCE(City, '^^'))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      const passesNull =
        hash.joining === 'plus' ||
        hash.joining === 'pipes' ||
        (hash.joining === 'concat' && !isTsql(context.platform.name) && context.platform.name !== 'duckdb');
      // A key without a value should have no hash.
      if (!passesNull || hash.purpose === 'key') continue;
      const open = hash.parts.filter(({ expression }) => context.tables.nullable(expression, hash.scope) === true);
      if (open.length === 0) continue;
      context.report(step, hash.joined, {
        message: `One NULL in ${open.map(({ expression }) => context.text(step, expression)).join(', ')} makes the whole text NULL.`,
        fixes: [
          {
            title: "Show NULL as '^^'",
            safe: false,
            edits: open.map(({ expression }) => {
              const national = factsOf(expression, hash.scope, context)?.base.startsWith('n') === true;
              return replace(expression, `COALESCE(${context.text(step, expression)}, ${textLiteral('^^', national)})`);
            }),
          },
        ],
      });
    }
  },
};
