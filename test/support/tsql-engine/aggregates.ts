/** Aggregate functions over the members of a group. */
import type { Call, Expression, OrderItem } from '../../../server/src/syntax/tree.ts';
import type { BindValue } from './conditions.ts';
import { conversion, overflow } from './convert.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import type { Bound, Environment, Scope } from './scope.ts';
import { bigint, decimal, int, integerBounds, isInteger, isText, isUnicode, longest, type SqlType } from './types.ts';
import { comparer, groupKey, nullsFirst, type Value } from './values.ts';

/** Folds values, NULLs left out, into the result. */
export interface Aggregate {
  readonly type: SqlType;
  readonly fold: (values: readonly Exclude<Value, null>[]) => Value;
}

export function bindAggregate(name: string, e: Call, scope: Scope, value: BindValue): Bound {
  if (scope.groupedBy === null)
    throw new SqlError(147, 'An aggregate may not appear in the WHERE clause or inside another aggregate.', 15);
  const [argument] = e.arguments;
  if (argument === undefined) throw new SqlError(174, `The ${name} function requires 1 argument(s).`, 15);
  if (argument.kind === 'star') {
    const type = countType(name);
    return { type, canon: `${name}(*)`, run: (env) => BigInt(membersOf(env).length) };
  }
  const operand = scope.ungrouped(() => value(argument, scope));
  if (name === 'STRING_AGG') return stringAggregate(e, operand, scope, value);
  const { type, fold } = aggregateOf(name, operand.type);
  const distinct = e.distinct ? groupKey(operand.type) : null;
  const run: Bound['run'] = (env) => {
    const known = membersOf(env)
      .map((member) => operand.run(member))
      .filter((found) => found !== null);
    return fold(distinct === null ? known : [...new Map(known.map((found) => [distinct(found), found])).values()]);
  };
  return { type, canon: `${name}(${e.distinct},${operand.canon})`, run };
}

function membersOf(env: Environment): readonly Environment[] {
  if (env.members === undefined) throw new RangeError('an aggregate outside of a group');
  return env.members;
}

function countType(name: string): SqlType {
  if (name === 'COUNT') return int;
  if (name === 'COUNT_BIG') return bigint;
  throw new SqlError(102, "Incorrect syntax near '*'.", 15);
}

/** What an aggregate makes of values of a type. */
export function aggregateOf(name: string, of: SqlType): Aggregate {
  switch (name) {
    case 'COUNT':
    case 'COUNT_BIG':
      return { type: countType(name), fold: (values) => BigInt(values.length) };
    case 'MIN':
    case 'MAX': {
      if (of.base === 'bit') throw invalid(of, name);
      const compare = comparer(of);
      const better = (a: Exclude<Value, null>, b: Exclude<Value, null>): boolean =>
        name === 'MIN' ? compare(a, b) < 0 : compare(a, b) > 0;
      return {
        type: of,
        fold: (values) => values.reduce<Value>((best, one) => (best === null || better(one, best) ? one : best), null),
      };
    }
    case 'SUM':
      return sum(of);
    default:
      throw new BeyondEngine(`aggregate ${name}`);
  }
}

function sum(of: SqlType): Aggregate {
  if (of.base === 'bit' || !(isInteger(of) || of.base === 'decimal')) throw invalid(of, 'sum');
  const type = of.base === 'decimal' ? decimal(38, of.scale) : of.base === 'bigint' ? bigint : int;
  const [low, high] = integerBounds[type.base] ?? [-(10n ** 38n) + 1n, 10n ** 38n - 1n];
  return {
    type,
    fold: (values) => {
      if (values.length === 0) return null;
      const total = values.reduce<bigint>((so, one) => so + BigInt(String(one)), 0n);
      if (total < low || total > high) throw overflow(type);
      return total;
    },
  };
}

function invalid(of: SqlType, name: string): SqlError {
  return new SqlError(8117, `Operand data type ${of.base} is invalid for ${name.toLowerCase()} operator.`);
}

/** The result is as long as its type allows; beyond 8,000 bytes a text that is not `max` is error 9829. */
function stringAggregate(e: Call, operand: Bound, scope: Scope, value: BindValue): Bound {
  if (scope.world.version < 2017)
    throw new SqlError(195, "'STRING_AGG' is not a recognized built-in function name.", 15);
  const separator = e.arguments[1];
  if (separator === undefined || !isText(operand.type)) throw new BeyondEngine('STRING_AGG of what is no text');
  const between = scope.ungrouped(() => value(separator, scope));
  const orders = e.withinGroup.map((item) => scope.ungrouped(() => order(item, scope, value)));
  const base = isUnicode(operand.type) ? 'nvarchar' : 'varchar';
  const length = operand.type.length === 'max' ? 'max' : longest(base);
  const type: SqlType = { ...operand.type, base, length };
  const toText = conversion(operand.type, { ...type, length: 'max' });
  const run: Bound['run'] = (env) => {
    const rows = [...membersOf(env)].sort((a, b) => orders.reduce((so, compare) => so || compare(a, b), 0));
    const texts = rows.map((row) => toText(operand.run(row))).filter((text) => text !== null);
    if (texts.length === 0) return null;
    const text = texts.join(String(between.run(rows[0] ?? env) ?? ''));
    if (length !== 'max' && text.length > length)
      throw new SqlError(
        9829,
        'STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB types to avoid result truncation.',
      );
    return text;
  };
  return { type, canon: `string_agg(${operand.canon},${between.canon})`, run };
}

/** How an ORDER BY item puts two rows in order. */
export function order(
  { expression, descending }: OrderItem,
  scope: Scope,
  value: (e: Expression, scope: Scope) => Bound,
): (a: Environment, b: Environment) => number {
  if (expression.kind === 'literal') throw new BeyondEngine('ORDER BY a number');
  const bound = value(expression, scope);
  const compare = nullsFirst(comparer(bound.type));
  return (a, b) => (descending ? compare(bound.run(b), bound.run(a)) : compare(bound.run(a), bound.run(b)));
}
