/** Queries: what they see, which rows they give, and of which types. */
import type { Query, QueryBody, Select, SelectItem, SetOperation } from '../../../server/src/syntax/tree.ts';
import { order } from './aggregates.ts';
import { conversion } from './convert.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { bindCondition, bindValue } from './expressions.ts';
import { type Bound, type Column, type Environment, type Relation, Scope, type World } from './scope.ts';
import { holdsAggregate } from './shape.ts';
import { bindSources } from './sources.ts';
import { bigint, commonType, isInteger, xml } from './types.ts';
import { grouped, rowKey, type Value } from './values.ts';
import { xmlOf } from './xml.ts';

type Rows = readonly (readonly Value[])[];

export function bindQuery(query: Query, outer: Scope | null, world: World): Relation {
  if (query.with !== null) throw new BeyondEngine('WITH');
  if (query.offset !== null || query.limit !== null) throw new BeyondEngine('OFFSET … FETCH');
  const relation =
    query.body.kind === 'select'
      ? bindSelect(query.body, query, outer, world).relation
      : bindBody(query.body, outer, world);
  if (query.body.kind !== 'select' && query.orderBy.length > 0) throw new BeyondEngine('ORDER BY of a set operation');
  return query.forClause === null ? relation : asXml(world.textOf(query.forClause), relation);
}

function asXml(clause: string, { columns, rows }: Relation): Relation {
  const [column, ...more] = columns;
  if (!/^FOR XML PATH\(N?''\), TYPE$/.test(clause) || column === undefined || more.length > 0 || column.name !== '') {
    throw new BeyondEngine(clause);
  }
  return {
    columns: [{ name: '', type: xml }],
    rows: (env) => [[xmlOf(rows(env).map((row) => row[0] ?? null))]],
  };
}

function bindBody(body: QueryBody, outer: Scope | null, world: World): Relation {
  switch (body.kind) {
    case 'select':
      return bindSelect(body, null, outer, world).relation;
    case 'set-operation':
      return bindSetOperation(body, outer, world);
    case 'query-group':
      return bindQuery(body.query, outer, world);
    default:
      throw new BeyondEngine(body.kind);
  }
}

function bindSetOperation(body: SetOperation, outer: Scope | null, world: World): Relation {
  const [left, right] = [bindBody(body.left, outer, world), bindBody(body.right, outer, world)];
  if (left.columns.length !== right.columns.length) {
    throw new SqlError(
      205,
      'All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.',
    );
  }
  const columns = left.columns.map(
    ({ name, type }, index): Column => ({ name, type: commonType([type, right.columns[index]?.type ?? type]) }),
  );
  const [fromLeft, fromRight] = [converted(left, columns), converted(right, columns)];
  if (body.operator === 'UNION' && body.all) return { columns, rows: (env) => [...fromLeft(env), ...fromRight(env)] };
  const keyOf = rowKey(columns.map(({ type }) => type));
  return {
    columns,
    rows: (env) => {
      const [a, b] = [distinctRows(fromLeft(env), keyOf), distinctRows(fromRight(env), keyOf)];
      if (body.operator === 'UNION') return [...new Map([...b, ...a]).values()];
      return [...a].filter(([key]) => b.has(key) === (body.operator === 'INTERSECT')).map(([, row]) => row);
    },
  };
}

function converted({ columns, rows }: Relation, to: readonly Column[]): Relation['rows'] {
  const converts = columns.map(({ type }, index) => conversion(type, to[index]?.type ?? type));
  return (env) => rows(env).map((row) => row.map((value, index) => converts[index]?.(value) ?? null));
}

function distinctRows(rows: Rows, keyOf: (row: readonly Value[]) => string): ReadonlyMap<string, readonly Value[]> {
  const found = new Map<string, readonly Value[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (!found.has(key)) found.set(key, row);
  }
  return found;
}

export interface BoundSelect {
  readonly relation: Relation;
  /** The items one by one and the rows they are computed over, for `SELECT @v = …`. */
  readonly items: readonly Bound[];
  readonly environments: (outer: Environment | null) => readonly Environment[];
}

/** `query` brings ORDER BY. */
export function bindSelect(body: Select, query: Query | null, outer: Scope | null, world: World): BoundSelect {
  if (body.windows.length > 0 || body.qualify !== null || body.clauses.length > 0)
    throw new BeyondEngine('a clause of SELECT');
  const scope = new Scope(world, outer);
  const sources = bindSources(body.from, scope, bindCondition);
  const where = body.where === null ? null : bindCondition(body.where, scope);
  const orderBy = query?.orderBy ?? [];
  const isGrouped =
    body.groupBy !== null ||
    body.having !== null ||
    [...body.items, ...orderBy].some((item) => holdsAggregate(item.expression));
  const group = isGrouped ? bindGroups(body, scope) : null;
  const having = body.having === null ? null : bindCondition(body.having, scope);
  scope.windows = [];
  const items = body.items.flatMap((item) => bindItem(item, scope));
  const orders = orderBy.map((item) => order(item, scope, bindValue));
  const windows = scope.windows;
  scope.windows = null;
  const top = body.top === null ? null : bindTop(body.top, scope);

  const unordered = (env: Environment | null): readonly Environment[] => {
    const joined = sources(env).map((rows): Environment => ({ rows, outer: env }));
    const kept = where === null ? joined : joined.filter((row) => where.test(row) === true);
    const units =
      group === null ? kept : group(kept, env).filter((one) => having === null || having.test(one) === true);
    for (const unit of units) unit.windows = [];
    for (const { compute } of windows) {
      for (const [index, value] of compute(units).entries()) units[index]?.windows?.push(value);
    }
    return [...units].sort((a, b) => orders.reduce((so, compare) => so || compare(a, b), 0));
  };
  if (body.distinct && orders.length > 0) throw new BeyondEngine('DISTINCT with ORDER BY');
  const environments = (env: Environment | null): readonly Environment[] => {
    const all = unordered(env);
    return top === null || body.distinct ? all : all.slice(0, top(env));
  };
  const columns = items.map(({ name, bound }): Column => ({ name, type: bound.type }));
  const rows = (env: Environment | null): Rows => {
    const all = environments(env).map((unit) => items.map(({ bound }) => bound.run(unit)));
    if (!body.distinct) return all;
    const distinct = [...distinctRows(all, rowKey(columns.map(({ type }) => type))).values()];
    return top === null ? distinct : distinct.slice(0, top(env));
  };
  return { relation: { columns, rows }, items: items.map(({ bound }) => bound), environments };
}

function bindTop(top: NonNullable<Select['top']>, scope: Scope): (env: Environment | null) => number {
  if (top.percent || top.withTies) throw new BeyondEngine('TOP … PERCENT or WITH TIES');
  const count = bindValue(top.count, new Scope(scope.world, null));
  if (!isInteger(count.type))
    throw new SqlError(
      1060,
      'The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.',
      15,
    );
  const convert = conversion(count.type, bigint);
  return () => Number(convert(count.run({ rows: [], outer: null })) ?? 0n);
}

/** Makes the scope one of groups, and says how rows become groups. Without GROUP BY all rows are one group. */
function bindGroups(
  body: Select,
  scope: Scope,
): (rows: readonly Environment[], outer: Environment | null) => readonly Environment[] {
  if (body.groupBy !== null && (body.groupBy.all || body.groupBy.clauses.length > 0))
    throw new BeyondEngine('GROUP BY ALL');
  const keys = (body.groupBy?.items ?? []).map((item) => {
    if (item.kind === 'literal' || item.kind === 'variable') {
      throw new SqlError(
        164,
        'Each GROUP BY expression must contain at least one column that is not an outer reference.',
        15,
      );
    }
    return bindValue(item, scope);
  });
  scope.groupedBy = new Map(keys.map(({ canon }, index) => [canon, index]));
  const keyOf = rowKey(keys.map(({ type }) => type));
  return (rows, outer) => {
    if (keys.length === 0) return [{ rows: [], outer, members: rows, keys: [] }];
    const withKeys = rows.map((row) => ({ row, keys: keys.map((key) => key.run(row)) }));
    const groups = grouped(withKeys, (member) => keyOf(member.keys));
    return [...groups.values()].map(
      (members): Environment => ({
        rows: [],
        outer,
        members: members.map(({ row }) => row),
        keys: members[0]?.keys ?? [],
      }),
    );
  };
}

interface NamedItem {
  readonly name: string;
  readonly bound: Bound;
}

function bindItem({ expression, alias }: SelectItem, scope: Scope): readonly NamedItem[] {
  if (expression.kind === 'star') {
    const prefix = expression.qualifier.at(-1)?.name.toLowerCase();
    const sources = scope.sources.filter((source) => prefix === undefined || source.alias === prefix);
    return sources.flatMap((source) =>
      source.columns.map((column, index): NamedItem => {
        const place = scope.sources.indexOf(source);
        const run: Bound['run'] = (env) => env.rows[place]?.[index] ?? null;
        return { name: column.name, bound: { type: column.type, canon: `column ${scope.id}.${place}.${index}`, run } };
      }),
    );
  }
  const name = alias?.name ?? (expression.kind === 'column' ? (expression.parts.at(-1)?.name ?? '') : '');
  return [{ name, bound: bindValue(expression, scope) }];
}
