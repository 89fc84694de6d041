/** FROM: tables, queries in parentheses, and joins. */
import type { DerivedTable, Expression, Join, TableSource } from '../../../server/src/syntax/tree.ts';
import type { BoundCondition } from './conditions.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import type { Column, Environment, Relation, Scope } from './scope.ts';
import type { Value } from './values.ts';

/** One row per source of the scope; places of sources outside of a join's side are empty. */
type Joined = readonly (readonly Value[])[];
type Rows = (outer: Environment | null) => readonly Joined[];
type BindOn = (on: Expression, scope: Scope) => BoundCondition;

/** Binds the sources of a FROM into the scope; without any there is one row of nothing. */
export function bindSources(from: readonly TableSource[], scope: Scope, on: BindOn): Rows {
  const bound = from.map((source) => bindSource(source, scope, on));
  return bound.reduce<Rows>(
    (left, right) => crossed(left, right),
    () => [[]],
  );
}

function crossed(left: Rows, right: Rows): Rows {
  return (outer) => {
    const others = right(outer);
    return left(outer).flatMap((row) => others.map((other) => merged(row, other)));
  };
}

function merged(left: Joined, right: Joined): Joined {
  const rows = [...left];
  for (let place = 0; place < right.length; place += 1) {
    const row = right[place];
    if (row !== undefined) rows[place] = row;
  }
  return rows;
}

function bindSource(source: TableSource, scope: Scope, on: BindOn): Rows {
  switch (source.kind) {
    case 'table': {
      if (source.timeTravel !== null || source.sample !== null || source.columns.length > 0)
        throw new BeyondEngine('a clause of a table');
      const [schema, name] = [source.name.parts.at(-2)?.name ?? 'dbo', source.name.parts.at(-1)?.name ?? ''];
      const relation = scope.world.relation(source);
      const place = scope.add({
        alias: (source.alias?.name ?? name).toLowerCase(),
        schema: source.alias === null ? schema.toLowerCase() : null,
        columns: relation.columns,
      });
      return placed(place, relation);
    }
    case 'derived-table': {
      const relation = derived(source, scope);
      const place = scope.add({
        alias: (source.alias?.name ?? '').toLowerCase(),
        schema: null,
        columns: relation.columns,
      });
      return placed(place, relation);
    }
    case 'source-group':
      return bindSource(source.source, scope, on);
    case 'join':
      return bindJoin(source, scope, on);
    default:
      throw new BeyondEngine(`source ${source.kind}`);
  }
}

function placed(place: number, { rows }: Relation): Rows {
  return (outer) =>
    rows(outer).map((row) => {
      const joined: (readonly Value[])[] = [];
      joined[place] = row;
      return joined;
    });
}

/** A query in FROM must have an alias, and its columns different names. */
function derived(source: DerivedTable, scope: Scope): Relation {
  if (source.lateral) throw new BeyondEngine('LATERAL');
  if (source.alias === null) throw new SqlError(102, "Incorrect syntax near ')'.", 15);
  const alias = source.alias.name;
  const { columns, rows } = scope.world.query(source.query, scope.outer);
  const names = source.columns.length > 0 ? source.columns.map(({ name }) => name) : columns.map(({ name }) => name);
  if (names.length !== columns.length)
    throw new SqlError(8158, `'${alias}' has more columns than were specified in the column list.`);
  checkNames(names, alias);
  return { columns: columns.map(({ type }, index): Column => ({ name: names[index] ?? '', type })), rows };
}

export function checkNames(names: readonly string[], owner: string): void {
  const seen = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (name === '') throw new SqlError(8155, `No column name was specified for column ${index + 1} of '${owner}'.`);
    if (seen.has(name.toLowerCase()))
      throw new SqlError(8156, `The column '${name}' was specified multiple times for '${owner}'.`);
    seen.add(name.toLowerCase());
  }
}

function bindJoin(join: Join, scope: Scope, on: BindOn): Rows {
  if (join.natural || join.hint !== null || join.using.length > 0) throw new BeyondEngine('a clause of a join');
  const first = scope.sources.length;
  const left = bindSource(join.left, scope, on);
  const middle = scope.sources.length;
  const right = bindSource(join.right, scope, on);
  const last = scope.sources.length;
  if (join.type === 'cross') return crossed(left, right);
  if (join.on === null) throw new SqlError(102, 'A join without ON.', 15);
  const visible = scope.visible;
  scope.visible = [first, last];
  const condition = on(join.on, scope);
  scope.visible = visible;
  const keepsLeft = join.type === 'left' || join.type === 'full';
  const keepsRight = join.type === 'right' || join.type === 'full';
  if (join.type !== 'inner' && !keepsLeft && !keepsRight) throw new BeyondEngine(`join ${join.type}`);
  const [noLeft, noRight] = [nothing(scope, first, middle), nothing(scope, middle, last)];
  return (outer) => {
    const others = right(outer);
    const met = new Set<Joined>();
    const rows: Joined[] = [];
    for (const row of left(outer)) {
      let isAlone = true;
      for (const other of others) {
        const both = merged(row, other);
        if (condition.test({ rows: both, outer }) !== true) continue;
        isAlone = false;
        met.add(other);
        rows.push(both);
      }
      if (isAlone && keepsLeft) rows.push(merged(row, noRight));
    }
    if (keepsRight) for (const other of others) if (!met.has(other)) rows.push(merged(noLeft, other));
    return rows;
  };
}

/** Rows of NULLs at the places of a join's side. */
function nothing(scope: Scope, from: number, to: number): Joined {
  const rows: (readonly Value[])[] = [];
  for (let place = from; place < to; place += 1) rows[place] = (scope.sources[place]?.columns ?? []).map(() => null);
  return rows;
}
