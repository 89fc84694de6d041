import type { Expression } from '../syntax/tree.ts';
import { sentinelOf } from './analysis/comparisons.ts';
import { nullSafeDifferent, nullSafeEqual, replace } from './analysis/fixes.ts';
import { sidesOf } from './analysis/sides.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const comparisonEquatesNullWithValue: Rule = {
  name: 'comparison-equates-null-with-value',
  hazards: ['C02'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: "A change test replaces NULL by a value that may be data, such as ''.",
  why: 'NULL and that value compare as equal, so a change from one to the other is lost.',
  help: 'Compare null-safely instead of replacing NULL.',
  judges: 'part',
  invalid: [
    {
      sql: `UPDATE t SET City = s.City FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo
WHERE ISNULL(t.City, '') <> ISNULL(s.City, '');`,
    },
  ],
  valid: [
    {
      sql: `UPDATE t SET City = s.City FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo
WHERE EXISTS (SELECT s.City EXCEPT SELECT t.City);`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('binary')) {
      if (!['=', '<>', '!='].includes(node.operator)) continue;
      const left = sentinelOf(node.left);
      const right = sentinelOf(node.right);
      if (left === null || right === null || left.value !== right.value) continue;
      const never = (expression: Expression) => context.tables.nullable(expression, scope) === false;
      const first = scope?.sources[0];
      const sides = first === undefined ? null : sidesOf(node, scope, first, context.tables);
      if ((never(left.column) && never(right.column)) || sides === null) continue;
      const one = context.text(step, left.column);
      const other = context.text(step, right.column);
      const text =
        node.operator === '='
          ? nullSafeEqual(context.platform, one, other)
          : nullSafeDifferent(context.platform, one, other);
      context.report(step, node, {
        message: `NULL and '${left.value}' are the same here, so a change between them is lost.`,
        fixes: [{ title: 'Compare null-safely', safe: false, edits: [replace(node, text)] }],
      });
    }
  },
};
