import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import { absoluteRange, lineStartsOf, rangeOf, tableNameOf, textOf, unitsOf, walk } from '../syntax/inspect.ts';
import type { Node, NodeBase, Query, Script, Statement, TableElement, Unit } from '../syntax/tree.ts';
import { droppedAgain, isTemporary } from './definitions.ts';
import { readElements } from './elements.ts';
import { nameFits, sameIdentifier } from './names.ts';
import { type QueryColumn, type QueryColumns, readQueryColumns } from './query-columns.ts';

/** A temporary table or view or a table variable of a script, with the columns that are known of it. */
export interface LocalTable {
  readonly name: TableName;
  readonly range: Range;
  readonly columns: readonly LocalColumn[];
  /** Its columns follow from a query. */
  readonly derived: boolean;
}

export interface LocalColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly range: Range;
}

/** The columns of a table outside of the script; undefined where it is not known. */
type ReadColumns = (name: TableName) => readonly Omit<LocalColumn, 'range'>[] | undefined;

/** A table as the script makes it: its columns are written out, or a query gives them. */
interface MadeTable {
  readonly name: TableName;
  readonly range: Range;
  /** Where it is made, as an offset of the script. */
  readonly start: number;
  readonly columns: readonly LocalColumn[];
  readonly query: QueryColumns | null;
  /** Names in front of the query, `CREATE VIEW v (a, b)`; [] where there are none. */
  readonly names: readonly string[];
}

/** Statements that make no temporary table; ranges of the others move with the text before them. */
const without = new WeakSet<Statement>();
const nothing: ReadColumns = () => undefined;

/** The temporary tables, views and table variables that a script makes, inside procedures, too. */
export function localTables(script: Script, read: ReadColumns = nothing): readonly LocalTable[] {
  const reading = new LocalReading(script, read);
  return temporaryTables(script).map((made) => reading.resolve(made));
}

/** True for a name without a schema that means a temporary table or view of the script. */
export function namesTemporary(script: Script, name: TableName): boolean {
  return isTemporary(name) || (name.schema === null && findTemporary(script, name) !== undefined);
}

/**
 * Finds a local table by name: a temporary one, or one that the script makes and drops again.
 *
 * @param at where the name stands, as an offset: of several tables of one name, the one of its batch is meant that was made last before it
 * @param read tells the columns of other tables, from which those of a query follow
 */
export function localTable(
  script: Script,
  name: TableName,
  at: number | null = null,
  read: ReadColumns = nothing,
): LocalTable | undefined {
  const made = findMade(script, name, at);
  return made === undefined ? undefined : new LocalReading(script, read).resolve(made);
}

function findMade(script: Script, name: TableName, at: number | null): MadeTable | undefined {
  if (isTemporary(name)) return findTemporary(script, name, at);
  return ownTables(script).find((table) => nameFits(name, table.name)) ?? findTemporary(script, name, at);
}

function findTemporary(script: Script, name: TableName, at: number | null = null): MadeTable | undefined {
  const found = temporaryTables(script).filter(
    (table) =>
      sameIdentifier(table.name.table, name.table) &&
      (name.schema === null || temporarySchemas.test(name.schema) || nameFits(name, table.name)),
  );
  if (at === null || found.length < 2) return found.at(-1);
  const batch = script.batches.find(({ start, end }) => start <= at && at <= end);
  const inBatch = found.filter(({ start }) => batch !== undefined && batch.start <= start && start <= batch.end);
  const near = inBatch.length > 0 ? inBatch : found;
  return near.findLast(({ start }) => start <= at) ?? near[0];
}

/** Where Spark and DuckDB keep temporary tables and views. */
const temporarySchemas = /^(?:temp|global_temp)$/i;

const temporary = new WeakMap<Script, readonly MadeTable[]>();

function temporaryTables(script: Script): readonly MadeTable[] {
  const known = temporary.get(script);
  if (known !== undefined) return known;
  let lineStarts: readonly number[] | undefined;
  const made = unitsOf(script).flatMap((unit) => {
    if (without.has(unit.statement)) return [];
    const found = readUnit(script, unit, (node) => {
      lineStarts ??= lineStartsOf(script.text);
      return rangeOf(lineStarts, absoluteRange(unit, node));
    });
    if (found.length === 0) without.add(unit.statement);
    return found;
  });
  temporary.set(script, made);
  return made;
}

const owned = new WeakMap<Script, readonly MadeTable[]>();

function ownTables(script: Script): readonly MadeTable[] {
  const known = owned.get(script);
  if (known !== undefined) return known;
  const { tables, derived } = droppedAgain(script);
  const made: readonly MadeTable[] = [
    ...tables.map(({ name, range, columns }) => ({ name, range, start: 0, columns, query: null, names: [] })),
    ...derived.map(({ facts: { name, range }, columns: query, names }) => ({
      name,
      range,
      start: 0,
      columns: [],
      query,
      names,
    })),
  ];
  owned.set(script, made);
  return made;
}

function readUnit(script: Script, unit: Unit, range: (node: NodeBase) => Range): readonly MadeTable[] {
  const found: MadeTable[] = [];
  const fromElements = (name: TableName, node: NodeBase, elements: readonly TableElement[]): void => {
    const source = { platform: script.platform, text: (part: NodeBase) => textOf(script, unit, part), range };
    found.push({
      name,
      range: range(node),
      start: absoluteRange(unit, node).start,
      columns: readElements(source, elements).columns,
      query: null,
      names: [],
    });
  };
  const fromQuery = (name: TableName, node: NodeBase, query: Query, names: readonly string[] = []): void => {
    const { start } = absoluteRange(unit, node);
    found.push({ name, range: range(node), start, columns: [], query: readQueryColumns(query, range), names });
  };
  walk(unit.statement, (node: Node) => {
    if (node.kind === 'create-table' && (node.temporary || isTemporary(tableNameOf(node.name)))) {
      if (node.query === null) fromElements(tableNameOf(node.name), node, node.elements);
      else fromQuery(tableNameOf(node.name), node, node.query);
    } else if (node.kind === 'create-view' && node.temporary) {
      fromQuery(
        tableNameOf(node.name),
        node,
        node.query,
        node.columns.map((column) => column.name),
      );
    } else if (node.kind === 'declare-table') {
      fromElements({ database: null, schema: null, table: node.name }, node, node.elements);
    } else if (
      node.kind === 'query' &&
      node.body.kind === 'select' &&
      node.body.into !== null &&
      isTemporary(tableNameOf(node.body.into))
    ) {
      fromQuery(tableNameOf(node.body.into), node, node);
    }
  });
  return found;
}

/** Fills in the columns of tables that queries make, each table once, however many others read it. */
class LocalReading {
  private readonly known = new Map<MadeTable, LocalTable>();
  private readonly script: Script;
  private readonly read: ReadColumns;

  constructor(script: Script, read: ReadColumns) {
    this.script = script;
    this.read = read;
  }

  resolve(made: MadeTable): LocalTable {
    const known = this.known.get(made);
    if (known !== undefined) return known;
    const { name, range, query, names } = made;
    const empty: LocalTable = { name, range, columns: made.columns, derived: query !== null };
    // Tables that read each other in a circle have no columns there.
    this.known.set(made, empty);
    if (query === null) return empty;
    const columnsOf: ReadColumns = (asked) => {
      const other = findMade(this.script, asked, made.start);
      return other === undefined || other === made ? this.read(asked) : this.resolve(other).columns;
    };
    const columns = query.items.flatMap((item) => resolvedItem(item, range, columnsOf));
    const unknown = { type: '', nullable: true, range };
    const renamed = names.map((each, at) => ({
      ...((names.length === columns.length ? columns[at] : null) ?? unknown),
      name: each,
    }));
    const table = { ...empty, columns: names.length === 0 ? columns : renamed };
    this.known.set(made, table);
    return table;
  }
}

function resolvedItem(item: QueryColumn, whole: Range, columnsOf: ReadColumns): readonly LocalColumn[] {
  if (item.kind === 'all') {
    return (columnsOf(item.table) ?? [])
      .filter((column) => !item.except.some((name) => sameIdentifier(name, column.name)))
      .map(({ name, type, nullable }) => ({ name, type, nullable, range: whole }));
  }
  const { name, origin } = item;
  const range = item.range ?? whole;
  if (origin === null) return [{ name, type: '', nullable: true, range }];
  if (origin.kind === 'type') return [{ name, type: origin.type, nullable: origin.nullable, range }];
  const having = origin.tables
    .flatMap((table) => columnsOf(table) ?? [])
    .filter((column) => sameIdentifier(column.name, origin.column));
  const [only] = having;
  return [
    having.length === 1 && only !== undefined
      ? { name, type: only.type, nullable: only.nullable, range }
      : { name, type: '', nullable: true, range },
  ];
}
