import { isTsql } from '../../../protocol/platform.ts';
import { insertAt } from './analysis/fixes.ts';
import { peeled, placeholderOf } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { columnsIn } from './analysis/sides.ts';
import type { Step } from './analysis/steps.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const nullBusinessKeyIsHashed: Rule = {
  name: 'null-business-key-is-hashed',
  hazards: ['H16'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A business key that may be NULL is hashed to a key like any other.',
  why: 'All rows with a NULL key share one hash key, so unrelated rows become one, and the missing key is never noticed.',
  help: 'Leave such rows out and count them, or map them to a stand-in key on purpose.',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Shop (ShopCode varchar(20) NULL, City varchar(30) NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', ISNULL(ShopCode, '^^'))) AS ShopHk FROM stg.Shop;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Shop (ShopCode varchar(20) NULL, City varchar(30) NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', ISNULL(ShopCode, '^^'))) AS ShopHk FROM stg.Shop WHERE ShopCode IS NOT NULL;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      if (hash.purpose !== 'key') continue;
      const open = hash.parts.flatMap(({ expression }) => {
        const silent =
          placeholderOf(expression) !== null || (hash.joining === 'concat' && isTsql(context.platform.name));
        const column = peeled(expression);
        if (!silent || column.kind !== 'column') return [];
        const nullable = context.tables.nullable(column, hash.scope);
        if (nullable === false || isFiltered(context.text(step, column), step, context)) return [];
        return nullable === null && placeholderOf(expression) === null ? [] : [{ column, certain: nullable === true }];
      });
      const [first] = open;
      if (first === undefined) continue;
      const names = open.map(({ column }) => context.text(step, column));
      const test = names.map((name) => `${name} IS NULL`).join(' OR ');
      context.report(step, hash.call, {
        message: `Where ${names.join(' or ')} is NULL, this still gives a hash key.`,
        severity: open.some(({ certain }) => certain) ? 'warning' : 'info',
        fixes: [
          {
            title: 'Give NULL for a NULL key',
            safe: false,
            edits: [insertAt(hash.call.start, `CASE WHEN ${test} THEN NULL ELSE `), insertAt(hash.call.end, ' END')],
          },
        ],
      });
    }
  },
};

/** A filter or a CASE of the statement takes care of NULL. */
function isFiltered(column: string, step: Step, context: RuleContext): boolean {
  return step
    .find('is-null')
    .some(({ node }) =>
      columnsIn(node.operand).some((tested) => context.text(step, tested).toLowerCase() === column.toLowerCase()),
    );
}
