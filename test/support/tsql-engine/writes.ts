/** INSERT, UPDATE, DELETE. */
import type {
  Assignment,
  Delete,
  Identifier,
  Insert,
  Name,
  TableSource,
  Update,
  WriteTarget,
} from '../../../server/src/syntax/tree.ts';
import { conversion } from './convert.ts';
import { type Table, withRows } from './database.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { bindCondition, bindValue } from './expressions.ts';
import { type Bound, type Environment, Scope } from './scope.ts';
import { bindSources } from './sources.ts';
import type { Value } from './values.ts';
import type { SessionWorld } from './world.ts';

/** A bound write; running it gives the number of rows. */
export type Write = () => number;

type Row = readonly Value[];

export function targetName(target: WriteTarget): Name {
  if (target.kind !== 'table') throw new BeyondEngine(`a write to ${target.kind}`);
  return target.name;
}

export function bindInsert(statement: Insert, world: SessionWorld): Write {
  if (statement.with !== null || statement.top !== null || statement.output.length > 0 || statement.clauses.length > 0)
    throw new BeyondEngine('a clause of INSERT');
  const name = targetName(statement.target);
  const table = world.table(name);
  if (statement.source.kind !== 'query') throw new BeyondEngine(`INSERT … ${statement.source.kind}`);
  const relation = world.query(statement.source, null);
  const places = insertPlaces(statement.columns, table);
  if (relation.columns.length !== places.length) {
    const [number, more] = relation.columns.length < places.length ? [120, 'fewer'] : [121, 'more'];
    throw new SqlError(
      number,
      `The select list for the INSERT statement contains ${more} items than the insert list.`,
      15,
    );
  }
  const stores = relation.columns.map(({ type }, index) => stored(type, table, places[index] ?? 0));
  return () => {
    const fresh = relation.rows(null).map((row) =>
      insertedRow(
        table,
        places,
        row.map((value, index) => stores[index]?.(value) ?? null),
      ),
    );
    const now = world.table(name);
    world.session.putTable(withRows(now, [...now.rows, ...fresh]));
    return fresh.length;
  };
}

/** How a value becomes one of a column. */
export function stored(from: Bound['type'], table: Table, place: number): (value: Value) => Value {
  const column = table.columns[place];
  if (column === undefined) throw new RangeError('a place that the table does not have');
  return conversion(from, column.type, 'store');
}

export function insertPlaces(columns: readonly Identifier[], table: Table): readonly number[] {
  if (columns.length === 0) return table.columns.map((_column, place) => place);
  const places = columns.map(({ name }) => placeOf(name, table));
  if (new Set(places).size < places.length)
    throw new SqlError(
      264,
      'The column name is specified more than once in the SET clause or column list of an INSERT.',
    );
  return places;
}

export function insertedRow(table: Table, places: readonly number[], values: Row): Row {
  return table.columns.map((_column, place) => values[places.indexOf(place)] ?? null);
}

function placeOf(column: string, table: Table): number {
  const place = table.columns.findIndex(({ name }) => name.toLowerCase() === column.toLowerCase());
  if (place < 0) throw new SqlError(207, `Invalid column name '${column}'.`);
  return place;
}

/** New values of a row, by the place of their columns. */
export type Changes = (env: Environment) => ReadonlyMap<number, Value>;

export function bindAssignments(assignments: readonly Assignment[], table: Table, scope: Scope): Changes {
  const bound = assignments.map(({ column, variable, operator, value }) => {
    if (column === null || variable !== null || operator !== '=')
      throw new BeyondEngine('SET of a variable or by an operator');
    const place = placeOf(column.parts.at(-1)?.name ?? '', table);
    const of = bindValue(value, scope);
    const store = stored(of.type, table, place);
    return { place, run: (env: Environment) => store(of.run(env)) };
  });
  if (new Set(bound.map(({ place }) => place)).size < bound.length)
    throw new SqlError(264, 'A column name is specified more than once in the SET clause.');
  return (env) => new Map(bound.map(({ place, run }) => [place, run(env)]));
}

export function changedRow(row: Row, changes: ReadonlyMap<number, Value>): Row {
  return row.map((value, place) => (changes.has(place) ? (changes.get(place) ?? null) : value));
}

export function bindUpdate(statement: Update, world: SessionWorld): Write {
  if (statement.with !== null || statement.top !== null || statement.output.length > 0 || statement.clauses.length > 0)
    throw new BeyondEngine('a clause of UPDATE');
  const { table, place, rows, scope, name } = bindChanged(statement, world);
  const changes = bindAssignments(statement.assignments, table, scope);
  return () => {
    const changed = new Map<Row, Row>();
    for (const env of rows()) {
      const row = env.rows[place];
      if (row === undefined) continue;
      const next = changedRow(row, changes(env));
      const former = changed.get(row);
      if (former !== undefined && JSON.stringify(former, asText) !== JSON.stringify(next, asText)) {
        throw new BeyondEngine(`an UPDATE of ${table.name} that finds one row twice with different values`);
      }
      changed.set(row, next);
    }
    const now = world.table(name);
    world.session.putTable(
      withRows(
        now,
        now.rows.map((row) => changed.get(row) ?? row),
      ),
    );
    return now.rows.filter((row) => changed.has(row)).length;
  };
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

export function bindDelete(statement: Delete, world: SessionWorld): Write {
  if (statement.with !== null || statement.top !== null || statement.output.length > 0 || statement.clauses.length > 0)
    throw new BeyondEngine('a clause of DELETE');
  const { place, rows, name } = bindChanged(statement, world);
  return () => {
    const gone = new Set(rows().map((env) => env.rows[place]));
    const now = world.table(name);
    const kept = now.rows.filter((row) => !gone.has(row));
    world.session.putTable(withRows(now, kept));
    return now.rows.length - kept.length;
  };
}

interface Changed {
  readonly table: Table;
  readonly name: Name;
  readonly scope: Scope;
  /** The place of the changed table among the sources. */
  readonly place: number;
  readonly rows: () => readonly Environment[];
}

/** The rows that an UPDATE or DELETE finds: its target is one of FROM's sources, or stands beside them. */
function bindChanged(statement: Update | Delete, world: SessionWorld): Changed {
  const written = targetName(statement.target);
  const scope = new Scope(world, null);
  const named = sourceNamed(written, statement.from);
  const from: readonly TableSource[] =
    named === null ? [{ ...asSource(statement.target) }, ...statement.from] : statement.from;
  const sources = bindSources(from, scope, bindCondition);
  const name = named ?? written;
  const alias = (written.parts.at(-1)?.name ?? '').toLowerCase();
  const place = scope.sources.findIndex((source) => source.alias === alias);
  if (place < 0) throw new BeyondEngine(`the target ${alias} among the sources`);
  const where = statement.where === null ? null : bindCondition(statement.where, scope);
  const rows = (): readonly Environment[] =>
    sources(null)
      .map((joined): Environment => ({ rows: joined, outer: null }))
      .filter((env) => where === null || where.test(env) === true);
  return { table: world.table(name), name, scope, place, rows };
}

function asSource(target: WriteTarget): TableSource {
  if (target.kind !== 'table') throw new BeyondEngine(`a write to ${target.kind}`);
  return target;
}

/** The table behind a target that is an alias, or the name, of a source. */
function sourceNamed(written: Name, from: readonly TableSource[]): Name | null {
  const wanted = (written.parts.at(-1)?.name ?? '').toLowerCase();
  for (const source of from) {
    if (source.kind === 'join') {
      const found = sourceNamed(written, [source.left, source.right]);
      if (found !== null) return found;
    }
    if (source.kind !== 'table') continue;
    const exposed = (source.alias?.name ?? source.name.parts.at(-1)?.name ?? '').toLowerCase();
    if (exposed === wanted) return source.name;
  }
  return null;
}
