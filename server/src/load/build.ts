/** Short names for the trees of `language.ts`, so that a pattern reads like what it means. */
import type { TableName } from '../../../protocol/catalog.ts';
import {
  type AggregateName,
  type Comparison,
  type Expression,
  type Item,
  type Join,
  type OrderItem,
  type Query,
  type Relation,
  type Source,
  type TextRule,
  types,
  type Union,
  type ValueType,
  type WindowName,
} from './language.ts';

export function column(of: string | null, name: string, type: ValueType): Expression {
  return { kind: 'column', of, name, type };
}
export function parameter(name: string, type: ValueType): Expression {
  return { kind: 'parameter', name, type };
}
/** The variable in which a plan keeps a count. */
export function counted(name: string) {
  return { kind: 'variable', name, type: types.count } as const;
}
export function literal(value: string | number | boolean | null, type: ValueType | null = null): Expression {
  return { kind: 'literal', value, type };
}
export function cast(operand: Expression, type: ValueType): Expression {
  return { kind: 'cast', operand, type };
}
export function compare(
  left: Expression,
  operator: Comparison,
  right: Expression,
  text: TextRule = 'column',
): Expression {
  return { kind: 'compare', operator, left, right, text };
}
export function same(left: Expression, right: Expression, text: TextRule = 'exact'): Expression {
  return { kind: 'same', left, right, text };
}
export function differs(left: Expression, right: Expression, text: TextRule = 'exact'): Expression {
  return { kind: 'differs', left, right, text };
}
/** Conjunction without needless nesting. */
export function all(...parts: readonly Expression[]): Expression {
  const of = parts.flatMap((part) => (part.kind === 'all' && part.of.length > 0 ? part.of : [part]));
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'all', of };
}
export function any(...parts: readonly Expression[]): Expression {
  const of = parts.flatMap((part) => (part.kind === 'any' && part.of.length > 0 ? part.of : [part]));
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'any', of };
}
export function isNull(operand: Expression): Expression {
  return { kind: 'is-null', operand, negated: false };
}
export function isNotNull(operand: Expression): Expression {
  return { kind: 'is-null', operand, negated: true };
}
export function isIn(operand: Expression, values: readonly (string | number)[]): Expression {
  const [only] = values;
  return values.length === 1 && only !== undefined
    ? compare(operand, '=', literal(only))
    : { kind: 'in', operand, values: values.map((value) => literal(value)) };
}
export function exists(query: Query): Expression {
  return { kind: 'exists', query, negated: false };
}
export function notExists(query: Query): Expression {
  return { kind: 'exists', query, negated: true };
}
/** `choose([condition, value], …, otherwise)`; without an otherwise it is NULL. */
export function choose(
  branches: readonly (readonly [when: Expression, then: Expression])[],
  otherwise: Expression | null = null,
): Expression {
  if (branches.length === 0) return otherwise ?? literal(null);
  return { kind: 'case', branches: branches.map(([when, then]) => ({ when, then })), otherwise };
}
export function coalesce(...of: readonly Expression[]): Expression {
  return { kind: 'coalesce', of };
}
export function trim(operand: Expression): Expression {
  return { kind: 'trim', operand };
}
export function upper(operand: Expression): Expression {
  return { kind: 'upper', operand };
}
export function nullIf(operand: Expression, value: string): Expression {
  return { kind: 'null-if', operand, value };
}
export function replace(operand: Expression, find: string, by: string): Expression {
  return { kind: 'replace', operand, find, by };
}
export function concat(...of: readonly Expression[]): Expression {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'concat', of };
}
export function shown(operand: Expression): Expression {
  return { kind: 'shown', operand };
}
export function arithmetic(left: Expression, operator: '+' | '-' | '*' | '/', right: Expression): Expression {
  return { kind: 'arithmetic', operator, left, right };
}
export function later(left: Expression, right: Expression): Expression {
  return { kind: 'later', left, right };
}
export function moveTime(
  operand: Expression,
  by: number,
  unit: 'day' | 'minute' | 'second' | 'millisecond' | 'microsecond' | 'tick',
): Expression {
  return { kind: 'move-time', operand, by, unit };
}
export function aggregate(name: AggregateName, operand: Expression | null, text: TextRule = 'column'): Expression {
  return { kind: 'aggregate', name, operand, text };
}
/** Rows for which the condition holds; 0 where there are none at all. */
export function countWhere(condition: Expression): Expression {
  return coalesce(aggregate('sum', choose([[condition, literal(1)]], literal(0))), literal(0));
}
export function countRows(): Expression {
  return aggregate('count', null);
}
export function window(
  name: WindowName,
  operand: Expression | null,
  partition: readonly Expression[],
  order: readonly OrderItem[] = [],
  options: { readonly text?: TextRule; readonly rows?: 'before' | 'after' | 'whole' } = {},
): Expression {
  const { text = 'column', rows } = options;
  return { kind: 'window', name, operand, partition, order, text, ...(rows === undefined ? {} : { rows }) };
}
export function rowAddress(of: string): Expression {
  return { kind: 'row-address', of };
}
export function ascending(by: Expression): OrderItem {
  return { by, descending: false };
}
export function descending(by: Expression): OrderItem {
  return { by, descending: true };
}

export function table(name: TableName): Relation {
  return { kind: 'table', name };
}
export function named(name: string): Relation {
  return { kind: 'named', name };
}
export function source(relation: Relation, alias: string): Source {
  return { relation, alias };
}
export function union(...parts: readonly Query[]): Query | Union {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'union', parts };
}
/** Per key the row of `query` that is greatest by the items `by`. */
export function latestRows(
  query: Query,
  keys: readonly string[],
  by: readonly string[],
  text: TextRule = 'column',
): Relation {
  return { kind: 'latest-rows', query, keys, by, text };
}
export function join(kind: Join['kind'], relation: Relation, alias: string, on: readonly Expression[]): Join {
  return { kind, source: { relation, alias }, on };
}
export function item(name: string, value: Expression): Item {
  return { name, value };
}

/** A SELECT; what is left out is empty. */
export function select(
  items: readonly Item[],
  from: Source | null,
  rest: Partial<Omit<Query, 'kind' | 'items' | 'from'>> = {},
): Query {
  return {
    kind: 'query',
    distinct: false,
    joins: [],
    where: [],
    groupBy: [],
    text: 'column',
    having: [],
    orderBy: [],
    limit: null,
    ...rest,
    items,
    from,
  };
}
