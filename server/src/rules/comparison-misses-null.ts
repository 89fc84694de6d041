import { isSpark } from '../../../protocol/platform.ts';
import { bare } from '../syntax/inspect.ts';
import type { Expression } from '../syntax/tree.ts';
import {
  type ColumnComparison,
  columnComparisons,
  isNegated,
  sentinelOf,
  storedNullable,
} from './analysis/comparisons.ts';
import { nullSafeDifferent, nullSafeEqual, replace } from './analysis/fixes.ts';
import { equatedSides } from './analysis/merges.ts';
import { columnName, plainColumn } from './analysis/names.ts';
import { sameTable, sourceOfColumn } from './analysis/sides.ts';
import { ancestor, conjuncts, disjuncts, type Entry, type Step } from './analysis/steps.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const comparisonMissesNull: Rule = {
  name: 'comparison-misses-null',
  hazards: ['C01', 'D07'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'A change test or an existence test compares nullable columns with =, <> or !=.',
  why: 'A comparison with NULL is neither true nor false: a change from or to NULL is never seen, and a NOT EXISTS over such a column inserts the row on every run.',
  help: 'Compare null-safely.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(30) NULL);
CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(30) NULL);`,
      sql: `UPDATE t SET City = s.City FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo
WHERE t.City <> s.City;`,
    },
    {
      platform: 'spark',
      sql: `INSERT INTO gold.run (run_id, url, title) SELECT n.run_id, n.url, n.title FROM new_rows n
WHERE NOT EXISTS (SELECT 1 FROM gold.run e
  WHERE e.run_id = n.run_id AND coalesce(e.url, '') = coalesce(n.url, '') AND e.title = n.title);`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(30) NOT NULL);
CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(30) NOT NULL);`,
      sql: `UPDATE t SET City = s.City FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo
WHERE t.City <> s.City;`,
    },
    {
      sql: `UPDATE t SET City = s.City FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo
WHERE EXISTS (SELECT s.City EXCEPT SELECT t.City);`,
    },
  ],
  statement(step, context) {
    if (!['merge', 'update', 'insert', 'delete', 'create-table'].includes(step.statement.kind)) return;
    for (const comparison of columnComparisons(step, context.tables, ['<>', '!='])) {
      if (!isNegated(comparison.entry)) different(step, context, comparison);
    }
    for (const comparison of columnComparisons(step, context.tables, ['=', '=='])) {
      if (isNegated(comparison.entry)) notEqual(step, context, comparison);
      else equal(step, context, comparison);
    }
  },
};

/** `t.City <> s.City`. */
function different(step: Step, context: RuleContext, comparison: ColumnComparison): void {
  const { left, right, node, entry, nullable, nullTested } = comparison;
  if (nullTested || nullable === false || isUnderNotExists(entry)) return;
  const spark = isSpark(context.platform.name);
  const digest = [left, right].some((column) => isDigest(column, entry, context));
  // A stored digest that may be NULL has a rule of its own.
  if (digest && !spark) return;
  context.report(step, node, {
    message: `"${context.text(step, node)}" is not true when one side is NULL, so such a change is not seen.`,
    severity: nullable === true ? 'warning' : 'info',
    hazards: spark ? (digest ? ['D07', 'C04'] : ['C01', 'D07']) : ['C01'],
    fixes: [
      {
        title: 'Compare null-safely',
        safe: true,
        edits: [
          replace(node, nullSafeDifferent(context.platform, context.text(step, left), context.text(step, right))),
        ],
      },
    ],
  });
}

/** `NOT (t.Label = s.Label …)`, also with `OR (both are NULL)`, which leaves one-sided NULLs unknown. */
function notEqual(step: Step, context: RuleContext, comparison: ColumnComparison): void {
  const { left, right, node, entry, nullable, nullTested } = comparison;
  if (nullable === false) return;
  const around = notAround(entry);
  if (around === null) return;
  const alternatives = around.operand.kind === 'parenthesis' ? disjuncts(around.operand.inner) : [];
  const bothNull =
    nullTested && alternatives.length === 2 && alternatives.some((other) => conjuncts(other).length === 2);
  if (nullTested && !bothNull) return;
  const whole = alternatives.length === 2 && bothNull;
  const text = nullSafeDifferent(context.platform, context.text(step, left), context.text(step, right));
  context.report(step, whole ? around : node, {
    message: 'When one side is NULL and the other is not, this is unknown rather than true, so the change is not seen.',
    severity: nullable === true || bothNull ? 'warning' : 'info',
    hazards: isSpark(context.platform.name) ? ['C01', 'D07'] : ['C01'],
    fixes: [
      {
        title: 'Compare null-safely',
        safe: true,
        edits: [
          whole
            ? replace(around, text)
            : replace(node, nullSafeEqual(context.platform, context.text(step, left), context.text(step, right))),
        ],
      },
    ],
  });
}

function notAround(entry: Entry) {
  for (let at = entry.parent; at !== null; at = at.parent) {
    if (at.node.kind === 'unary') return at.node;
    if (!['binary', 'parenthesis'].includes(at.node.kind)) return null;
  }
  return null;
}

/** `NOT EXISTS (SELECT 1 FROM target t WHERE t.Key = s.Key AND t.Title = s.Title)`. */
function equal(step: Step, context: RuleContext, comparison: ColumnComparison): void {
  const { left, right, node, entry, nullTested } = comparison;
  if (step.statement.kind !== 'insert' || nullTested || !isUnderNotExists(entry)) return;
  const { tables } = context;
  const [inner, outer] = isOfTarget(left, entry, step, context) ? [left, right] : [right, left];
  if (!isOfTarget(inner, entry, step, context)) return;
  const stored = storedNullable(inner, entry.scope, tables);
  const given = storedNullable(outer, entry.scope, tables);
  if (stored === false || given === false) return;
  const select = ancestor(entry, 'select');
  const others = select === null ? [] : conjuncts(select.node.where).filter((test) => test !== node);
  const mixed =
    others.some(isNullSafe) && others.some((test) => isPlainEquality(test)) && !looksLikeKey(columnName(inner));
  if (stored !== true && !mixed) return;
  context.report(step, node, {
    message: `"${context.text(step, node)}" is never true for NULL, so a row with NULL in ${columnName(inner)} is inserted on every run.`,
    hazards: isSpark(context.platform.name) ? ['C01', 'D07'] : ['C01'],
    fixes: [
      {
        title: 'Compare null-safely',
        safe: true,
        edits: [replace(node, nullSafeEqual(context.platform, context.text(step, left), context.text(step, right)))],
      },
    ],
  });
}

function isUnderNotExists(entry: Entry): boolean {
  const exists = ancestor(entry, 'exists');
  return exists !== null && isNegated(exists);
}

function isOfTarget(column: Expression, entry: Entry, step: Step, context: RuleContext): boolean {
  const reference = plainColumn(column);
  const source = reference === null ? null : sourceOfColumn(reference, entry.scope, context.tables);
  const target = step.find('insert')[0]?.scope?.target;
  return source !== null && target != null && sameTable(source, target);
}

function isNullSafe(test: Expression): boolean {
  const sides = equatedSides(test);
  if (sides === null) return false;
  return sides.nullSafe || (sentinelOf(sides.left) !== null && sentinelOf(sides.right) !== null);
}

function isPlainEquality(test: Expression): boolean {
  const sides = equatedSides(test);
  return sides !== null && plainColumn(sides.left) !== null && plainColumn(sides.right) !== null;
}

function looksLikeKey(name: string): boolean {
  return /(id|key|code|no|nr|num|number|hk|bk|sk|pk)$/i.test(name);
}

function isDigest(column: Expression, entry: Entry, context: RuleContext): boolean {
  const reference = bare(column);
  const role = reference.kind === 'column' ? context.tables.role(reference, entry.scope) : null;
  return role === 'hashdiff' || role === 'checksum' || role === 'hash-key';
}
