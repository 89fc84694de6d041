import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import type { SampleKind } from '../../../../protocol/run.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll, lastPart, tableNameOf } from '../../syntax/inspect.ts';
import type {
  Assignment,
  Delete,
  Expression,
  Insert,
  Merge,
  MergeBranch,
  Name,
  Node,
  NodeBase,
  Query,
  TableReference,
  Update,
} from '../../syntax/tree.ts';
import { isHarmless } from '../reads-only.ts';
import { type Effect, NotFollowed } from './effect.ts';
import { quoted } from './print.ts';

/** What reading a write needs to know. */
export interface Reading {
  readonly platform: PlatformName;
  /** Source text between two offsets of the statement that nodes count from. */
  slice(start: number, end: number): string;
  tableOf(name: TableName): CatalogTable | undefined;
}

export type Write = Insert | Update | Delete | Merge;

/** The rows that a write would change. Throws `NotFollowed` where its rows can't be found by a query of its own pieces. */
export function effectsOf(write: Write, reading: Reading): readonly Effect[] {
  if (write.top !== null) throw new NotFollowed('TOP leaves open which rows are written', write.top.start);
  const into = write.output.find((output) => output.into !== null);
  if (into !== undefined) throw new NotFollowed('what OUTPUT … INTO keeps is not known before the run', into.start);
  switch (write.kind) {
    case 'insert':
      return [insertEffect(write, reading)];
    case 'update':
    case 'delete':
      return [changeEffect(write, reading)];
    case 'merge':
      return mergeEffects(write, reading);
  }
}

/** The rows that TRUNCATE takes away: all, which are not known where the script has written to the table before. */
export function emptied(name: Name, reading: Reading, written: ReadonlySet<CatalogTable>): Effect {
  const table = knownTable(name, reading);
  if (written.has(table)) throw new NotFollowed('it empties a table that the script wrote to before', name.start);
  return {
    kind: 'deleted',
    table,
    with: '',
    from: `FROM ${reading.slice(name.start, name.end)} AS t`,
    address: [],
    before: stored(table, 't', reading),
    after: new Map(),
  };
}

function insertEffect(insert: Insert, reading: Reading): Effect {
  const { source } = insert;
  if (source.kind !== 'query')
    throw new NotFollowed('only the rows of a query or of VALUES are followed', source.start);
  if (insert.mode !== 'into' || insert.byName) {
    throw new NotFollowed('an INSERT that replaces, skips or matches by name is not followed', insert.start);
  }
  const clause = insert.clauses[0];
  if (clause !== undefined) throw new NotFollowed(`${clause.name} is not followed`, clause.start);
  demandReads([source, insert.with]);
  const table = targetTable(insert.target, insert, reading);
  const names = insert.columns.length > 0 ? insert.columns.map(({ name }) => name) : positional(table, reading);
  const list = names.map((_, index) => `v${index}`);
  const values = new Map(names.map((name, index) => [columnName(table, name, insert), `new_rows.v${index}`]));
  return {
    kind: 'inserted',
    table,
    with: withText(insert, reading),
    from: `FROM (\n${queryText(source, reading)}\n) AS new_rows (${list.join(', ')})`,
    address: [],
    before: new Map(),
    after: withNulls(table, values),
  };
}

/** ORDER BY has no place in a derived table of T-SQL, and no meaning for rows that are inserted. */
function queryText(query: Query, { slice, platform }: Reading): string {
  if (query.forClause !== null) throw new NotFollowed('FOR XML and FOR JSON are not followed', query.start);
  const limits =
    query.limit !== null || query.offset !== null || (query.body.kind === 'select' && query.body.top !== null);
  return isTsql(platform) && query.orderBy.length > 0 && !limits
    ? slice(query.start, query.body.end)
    : slice(query.start, query.end);
}

/** The columns that an INSERT without a list fills. */
function positional(table: CatalogTable, { platform }: Reading): readonly string[] {
  return table.columns
    .filter((column) => !column.computed && !(isTsql(platform) && column.identity))
    .map(({ name }) => name);
}

/** Columns that get no value and have no default become NULL; what an engine fills in itself is left out. */
function withNulls(table: CatalogTable, values: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const after = new Map<string, string>();
  for (const { name, computed, identity, default: stated } of table.columns) {
    const value = values.get(name) ?? (computed || identity || stated !== null ? undefined : 'NULL');
    if (value !== undefined) after.set(name, value);
  }
  return after;
}

interface Target {
  readonly table: CatalogTable;
  /** By what columns of the target are qualified. */
  readonly alias: string;
  /** Where it stands in FROM; null where it is not named there. */
  readonly reference: TableReference | null;
}

function changeEffect(write: Update | Delete, reading: Reading): Effect {
  const clause = write.clauses[0];
  if (clause !== undefined) throw new NotFollowed(`${clause.name} is not followed`, clause.start);
  demandReads([...write.from, write.where, write.with]);
  const target = targetOf(write, reading);
  const isAlone = write.from.length === 0 || (write.from.length === 1 && write.from[0] === target.reference);
  const address = isAlone ? [] : addressOf(target, reading);
  const isNumbered = !isAlone && address === null;
  const own = isNumbered ? numberedTarget(target, write, reading) : targetText(target, write, reading);
  const sources = [...(target.reference === null ? [own] : []), ...fromText(write, target, own, reading)];
  const where = write.where === null ? '' : `\nWHERE ${reading.slice(write.where.start, write.where.end)}`;
  const assignments = write.kind === 'update' ? write.assignments : [];
  return {
    kind: write.kind === 'update' ? updateKind(assignments, target.table, write) : 'deleted',
    table: target.table,
    with: withText(write, reading),
    from: `FROM ${sources.join(', ')}${where}`,
    address: isNumbered ? [`${target.alias}.mergewright_row`] : (address ?? []),
    before: stored(target.table, target.alias, reading),
    after: assigned(assignments, target.table, target.alias, reading),
  };
}

function targetOf(write: Update | Delete, reading: Reading): Target {
  const { target } = write;
  if (target.kind !== 'table') throw new NotFollowed('only writes to tables are followed', target.start);
  const references = write.from.flatMap((source) => outerTables(source));
  const name = tableNameOf(target.name);
  const byAlias = references.filter(
    (each) => name.schema === null && each.alias !== null && sameIdentifier(each.alias.name, name.table),
  );
  const meant = byAlias.length > 0 ? byAlias : isTsql(reading.platform) ? sameTables(references, name, reading) : [];
  if (meant.length > 1) throw new NotFollowed('FROM names the target more than once', target.start);
  const reference = meant[0] ?? null;
  const table = targetTable(reference ?? target, write, reading);
  const alias = (reference ?? target).alias ?? lastPart((reference ?? target).name);
  return { table, alias: reading.slice(alias.start, alias.end), reference };
}

function sameTables(
  references: readonly TableReference[],
  name: TableName,
  { tableOf }: Reading,
): readonly TableReference[] {
  const table = tableOf(name);
  return table === undefined ? [] : references.filter((each) => tableOf(tableNameOf(each.name)) === table);
}

/** The tables of a FROM itself, not those of its subqueries. */
export function outerTables(source: Node): readonly TableReference[] {
  if (source.kind === 'table') return [source];
  if (source.kind === 'join') return [...outerTables(source.left), ...outerTables(source.right)];
  return source.kind === 'source-group' ? outerTables(source.source) : [];
}

/** What tells the target's rows apart: the engine's row number, or a key; null where there is neither. */
function addressOf({ table, alias }: Target, { platform }: Reading): readonly string[] | null {
  if (platform === 'duckdb') return [`${alias}.rowid`];
  const key = table.keys.find(({ kind }) => kind !== 'inferred');
  return key === undefined ? null : key.columns.map((column) => `${alias}.${quoted(column, platform)}`);
}

function targetText({ alias }: Target, write: Update | Delete, { slice }: Reading): string {
  const { target } = write;
  if (target.kind !== 'table') return '';
  return `${slice(target.name.start, target.name.end)} AS ${alias}`;
}

/** The target with a number for each row, under its own alias. */
function numberedTarget(target: Target, write: Update | Delete, { slice }: Reading): string {
  const long = findAll(write, 'column').find(({ parts }) => parts.length > 2);
  if (long !== undefined) {
    throw new NotFollowed(
      'the target has no key that tells its rows apart, and a column is named with its schema',
      long.start,
    );
  }
  const named = target.reference ?? write.target;
  const name = named.kind === 'table' ? slice(named.name.start, named.name.end) : '';
  return `(SELECT ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS mergewright_row, * FROM ${name}) AS ${target.alias}`;
}

/** FROM as written, the target's place taken by its own text where that differs. */
function fromText(write: Update | Delete, { reference }: Target, own: string, { slice }: Reading): readonly string[] {
  const first = write.from[0];
  const last = write.from.at(-1);
  if (first === undefined || last === undefined) return [];
  if (reference === null || !own.startsWith('(')) return [slice(first.start, last.end)];
  return [`${slice(first.start, reference.start)}${own}${slice(reference.end, last.end)}`];
}

function mergeEffects(merge: Merge, reading: Reading): readonly Effect[] {
  const { source, on, target } = merge;
  if (source === null || on === null) throw new NotFollowed('the MERGE is not complete', merge.start);
  if (merge.schemaEvolution) throw new NotFollowed('WITH SCHEMA EVOLUTION is not followed', merge.start);
  if (target.kind !== 'table') throw new NotFollowed('only writes to tables are followed', target.start);
  demandReads([source, on, merge.with, ...merge.branches.map(({ condition }) => condition)]);
  const table = targetTable(target, merge, reading);
  const identifier = target.alias ?? lastPart(target.name);
  const text = (node: NodeBase) => reading.slice(node.start, node.end);
  const alias = text(identifier);
  const stands = `${text(target.name)}${target.alias === null ? '' : ` AS ${alias}`}`;
  const joins: Readonly<Record<MergeBranch['match'], string>> = {
    matched: `FROM ${stands}\nINNER JOIN ${text(source)}\n  ON ${text(on)}\nWHERE 1 = 1`,
    'not-matched': `FROM ${text(source)}\nWHERE NOT EXISTS (SELECT 1 FROM ${stands} WHERE ${text(on)})`,
    'not-matched-by-source': `FROM ${stands}\nWHERE NOT EXISTS (SELECT 1 FROM ${text(source)} WHERE ${text(on)})`,
  };
  return merge.branches.flatMap((branch, index): Effect[] => {
    const { action, match, condition } = branch;
    if (action === null) throw new NotFollowed('the MERGE is not complete', branch.start);
    if (action.kind === 'merge-nothing') return [];
    const earlier = merge.branches.slice(0, index).filter((each) => each.match === match);
    const from = [
      joins[match],
      ...(condition === null ? [] : [`  AND (${text(condition)})`]),
      // A row that an earlier branch took does not come to this one; an unknown condition takes no row.
      ...earlier.map((each) =>
        each.condition === null ? '  AND 1 = 0' : `  AND CASE WHEN ${text(each.condition)} THEN 1 ELSE 0 END = 0`,
      ),
    ].join('\n');
    const common = { table, with: withText(merge, reading), from, address: [] };
    if (action.kind === 'merge-delete') {
      return [{ ...common, kind: 'deleted', before: stored(table, alias, reading), after: new Map() }];
    }
    if (action.star) throw new NotFollowed(`${text(action)} is not followed`, action.start);
    if (action.kind === 'merge-update') {
      demandReads(action.assignments.map(({ value }) => value));
      const kind = updateKind(action.assignments, table, merge);
      const after = assigned(action.assignments, table, alias, reading);
      return [{ ...common, kind, before: stored(table, alias, reading), after }];
    }
    demandReads(action.values);
    const names = action.columns.length > 0 ? action.columns.map(({ name }) => name) : positional(table, reading);
    const values = new Map<string, string>();
    for (const [at, name] of names.entries()) {
      const value = action.values[at];
      if (value !== undefined) values.set(columnName(table, name, action), valueText(value, reading));
    }
    return [{ ...common, kind: 'inserted', before: new Map(), after: withNulls(table, values) }];
  });
}

/** An UPDATE that ends a version or takes its current flag away expires rows; any other updates them. */
function updateKind(assignments: readonly Assignment[], table: CatalogTable, node: NodeBase): SampleKind {
  const roles = assignments.flatMap(({ column }) => {
    if (column === null) return [];
    const name = columnName(table, lastPart(column).name, node);
    return table.columns.filter((each) => each.name === name).map(({ role }) => role);
  });
  return roles.some((role) => role === 'effective-end' || role === 'current-flag') ? 'expired' : 'updated';
}

function assigned(
  assignments: readonly Assignment[],
  table: CatalogTable,
  alias: string,
  reading: Reading,
): ReadonlyMap<string, string> {
  return new Map(
    assignments.map((assignment) => {
      const { column, variable, operator, value } = assignment;
      if (column === null || variable !== null || !/^([-+*/%&|^]?=)$/.test(operator)) {
        throw new NotFollowed('SET is followed for plain columns only', assignment.start);
      }
      demandReads([value]);
      const name = columnName(table, lastPart(column).name, assignment);
      const text = valueText(value, reading);
      const former = `${alias}.${quoted(name, reading.platform)}`;
      return [name, operator === '=' ? text : `${former} ${operator.slice(0, -1)} (${text})`] as const;
    }),
  );
}

function valueText(value: Expression, { slice }: Reading): string {
  if (findAll(value, 'default').length > 0) throw new NotFollowed('DEFAULT as a value is not followed', value.start);
  return slice(value.start, value.end);
}

function stored(table: CatalogTable, alias: string, { platform }: Reading): ReadonlyMap<string, string> {
  return new Map(table.columns.map(({ name }) => [name, `${alias}.${quoted(name, platform)}`]));
}

function targetTable(target: Insert['target'], write: Write, reading: Reading): CatalogTable {
  if (target.kind !== 'table') throw new NotFollowed('only writes to tables are followed', target.start);
  const name = tableNameOf(target.name);
  const isCommon = write.with?.tables.some((common) => sameIdentifier(common.name.name, name.table)) === true;
  if (isCommon && name.schema === null) {
    throw new NotFollowed('a write through a common table expression is not followed', target.start);
  }
  return knownTable(target.name, reading);
}

function knownTable(node: Name, { tableOf }: Reading): CatalogTable {
  const name = tableNameOf(node);
  const table = tableOf(name);
  if (table === undefined || table.columns.length === 0) {
    throw new NotFollowed(`the columns of ${name.table} are not known in this folder`, node.start);
  }
  return table;
}

function columnName(table: CatalogTable, name: string, node: NodeBase): string {
  const column = table.columns.find((each) => sameIdentifier(each.name, name));
  if (column === undefined) throw new NotFollowed(`${table.name.table} has no column ${name}`, node.start);
  return column.name;
}

function withText(write: Write, { slice }: Reading): string {
  return write.with === null ? '' : slice(write.with.start, write.with.end);
}

function demandReads(nodes: readonly (Node | null)[]): void {
  const culprit = nodes.find((node) => node !== null && !isHarmless(node));
  if (culprit !== undefined && culprit !== null) {
    throw new NotFollowed('a part of it may do more than read, or is not understood', culprit.start);
  }
}
