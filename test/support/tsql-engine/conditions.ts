/** Predicates in three-valued logic. */
import type { Binary, Expression, Like } from '../../../server/src/syntax/tree.ts';
import { comparableName } from './collations.ts';
import { conversion } from './convert.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { likePattern } from './patterns.ts';
import type { Bound, Condition, Environment, Scope } from './scope.ts';
import { commonType, isText, type SqlType } from './types.ts';
import { comparer, type Value } from './values.ts';

export type BindValue = (expression: Expression, scope: Scope) => Bound;

/** A condition and its canon. `value` binds the values in it. */
export interface BoundCondition {
  readonly canon: string;
  readonly test: Condition;
}

export function bindCondition(e: Expression, scope: Scope, value: BindValue): BoundCondition {
  const inner = (of: Expression): BoundCondition => bindCondition(of, scope, value);
  switch (e.kind) {
    case 'parenthesis':
      return inner(e.inner);
    case 'binary':
      return e.operator === 'AND' || e.operator === 'OR' ? connected(e, inner) : comparison(e, scope, value);
    case 'unary': {
      if (e.operator !== 'NOT') break;
      const { canon, test } = inner(e.operand);
      return { canon: `not(${canon})`, test: negated(test, true) };
    }
    case 'is-null': {
      const operand = value(e.operand, scope);
      return { canon: `null(${operand.canon},${e.not})`, test: (env) => (operand.run(env) === null) !== e.not };
    }
    case 'is-distinct': {
      if (scope.world.version < 2022) throw new SqlError(156, "Incorrect syntax near the keyword 'DISTINCT'.", 15);
      const pair = comparable(value(e.left, scope), value(e.right, scope));
      const test: Condition = (env) => {
        const [left, right] = pair.values(env);
        const isSame = left === null || right === null ? left === right : pair.compare(left, right) === 0;
        return isSame === e.not;
      };
      return { canon: `distinct(${pair.canon},${e.not})`, test };
    }
    case 'in-list': {
      const operand = value(e.operand, scope);
      const pairs = e.items.map((item) => comparable(operand, value(item, scope)));
      const test: Condition = (env) => anyOf(pairs.map((pair) => pair.tested(env, (order) => order === 0)));
      return { canon: `in(${pairs.map(({ canon }) => canon).join(',')},${e.not})`, test: negated(test, e.not) };
    }
    case 'in-query': {
      const operand = value(e.operand, scope);
      const query = scope.world.query(e.query, scope);
      const [column, ...more] = query.columns;
      if (column === undefined || more.length > 0)
        throw new SqlError(
          116,
          'Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.',
        );
      const pair = comparable(operand, { type: column.type, canon: `query ${e.start}`, run: () => null });
      const test: Condition = (env) => {
        const found = query
          .rows(env)
          .map((row) => pair.between(operand.run(env), row[0] ?? null, (order) => order === 0));
        return anyOf(found);
      };
      return { canon: `in-query ${e.start}`, test: negated(test, e.not) };
    }
    case 'between': {
      const operand = value(e.operand, scope);
      const low = comparable(operand, value(e.low, scope));
      const high = comparable(operand, value(e.high, scope));
      const test: Condition = (env) =>
        both(
          low.tested(env, (order) => order >= 0),
          () => high.tested(env, (order) => order <= 0),
        );
      return { canon: `between(${low.canon},${high.canon},${e.not})`, test: negated(test, e.not) };
    }
    case 'like':
      return like(e, scope, value);
    case 'exists': {
      const query = scope.world.query(e.query, scope);
      return { canon: `exists ${e.start}`, test: (env) => query.rows(env).length > 0 };
    }
    default:
      break;
  }
  throw new BeyondEngine(`${e.kind} as a condition`);
}

function negated(test: Condition, not: boolean): Condition {
  if (!not) return test;
  return (env) => {
    const result = test(env);
    return result === null ? null : !result;
  };
}

function connected(e: Binary, inner: (of: Expression) => BoundCondition): BoundCondition {
  const [left, right] = [inner(e.left), inner(e.right)];
  const test: Condition =
    e.operator === 'AND'
      ? (env) => both(left.test(env), () => right.test(env))
      : (env) => {
          const first = left.test(env);
          if (first === true) return true;
          const second = right.test(env);
          return second === true ? true : first === null ? null : second;
        };
  return { canon: `${e.operator}(${left.canon},${right.canon})`, test };
}

function both(first: boolean | null, second: () => boolean | null): boolean | null {
  if (first === false) return false;
  const other = second();
  return other === false ? false : first === null ? null : other;
}

function anyOf(results: readonly (boolean | null)[]): boolean | null {
  return results.includes(true) ? true : results.includes(null) ? null : false;
}

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function comparison(e: Binary, scope: Scope, value: BindValue): BoundCondition {
  const holds = orders[e.operator];
  if (holds === undefined) throw new BeyondEngine(`operator ${e.operator} as a condition`);
  const pair = comparable(value(e.left, scope), value(e.right, scope));
  return { canon: `${e.operator}(${pair.canon})`, test: (env) => pair.tested(env, holds) };
}

interface Pair {
  readonly canon: string;
  readonly type: SqlType;
  readonly compare: (a: Exclude<Value, null>, b: Exclude<Value, null>) => number;
  values(env: Environment): readonly [Value, Value];
  between(left: Value, right: Value, holds: (order: number) => boolean): boolean | null;
  tested(env: Environment, holds: (order: number) => boolean): boolean | null;
}

/** Two values brought to their common type. */
export function comparable(left: Bound, right: Bound): Pair {
  const type = commonType([left.type, right.type]);
  const [toLeft, toRight] = [conversion(left.type, type), conversion(right.type, type)];
  const compare = comparer(type);
  const between = (a: Value, b: Value, holds: (order: number) => boolean): boolean | null => {
    const [x, y] = [toLeft(a), toRight(b)];
    return x === null || y === null ? null : holds(compare(x, y));
  };
  return {
    canon: `${left.canon},${right.canon}`,
    type,
    compare,
    values: (env) => [toLeft(left.run(env)), toRight(right.run(env))],
    between,
    tested: (env, holds) => between(left.run(env), right.run(env), holds),
  };
}

function like(e: Like, scope: Scope, value: BindValue): BoundCondition {
  if (e.operator !== 'LIKE' || e.escape !== null) throw new BeyondEngine('LIKE … ESCAPE');
  const [operand, pattern] = [value(e.operand, scope), value(e.pattern, scope)];
  if (!isText(operand.type) || !isText(pattern.type)) throw new BeyondEngine('LIKE over what is no text');
  const name = comparableName(commonType([operand.type, pattern.type]).collation);
  const test: Condition = (env) => {
    const [text, form] = [operand.run(env), pattern.run(env)];
    return text === null || form === null ? null : likePattern(String(form), name).test(String(text));
  };
  return { canon: `like(${operand.canon},${pattern.canon},${e.not})`, test: negated(test, e.not) };
}
