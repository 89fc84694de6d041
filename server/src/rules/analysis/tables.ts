import type { CatalogColumn, CatalogKey, CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import { isTsql, type Platform } from '../../../../protocol/platform.ts';
import type { ColumnRole } from '../../../../protocol/roles.ts';
import { nameFits } from '../../model/names.ts';
import { bare, tableNameOf } from '../../syntax/inspect.ts';
import type { ColumnReference, CommonTable, Expression, Query, Select } from '../../syntax/tree.ts';
import { typeOf } from './expression-types.ts';
import { memo } from './memo.ts';
import { callOf, columnName, includes, plainColumn, qualifier, roleByName, same } from './names.ts';
import { nullability } from './nullability.ts';
import { conjuncts, type Scope, type Source, scopeOfQuery, selectsOf } from './steps.ts';

/** A column of a table, common table or derived table, as far as it is known. */
interface RelationColumn {
  readonly name: string;
  /** Null when nothing tells. */
  readonly nullable: boolean | null;
  readonly type: string | null;
  /** The table column that it passes on unchanged. */
  readonly column: CatalogColumn | null;
  readonly table: CatalogTable | null;
  /** What computes it, with what it sees. */
  readonly expression: Expression | null;
  readonly scope: Scope | null;
}

/** Columns whose values are never repeated together. */
export interface UniqueKey {
  readonly columns: readonly string[];
  /** False for keys that are declared but not enforced. */
  readonly enforced: boolean;
  /** It comes from DISTINCT: rows that differ in any other column stay apart. */
  readonly byDistinct?: boolean;
}

export interface Relation {
  readonly table: CatalogTable | null;
  readonly query: Query | null;
  /** Null when the columns are not known, such as of `SELECT *` from an unknown table. */
  readonly columns: readonly RelationColumn[] | null;
  /** What is known to be unique; null when nothing is known of the rows. */
  readonly keys: readonly UniqueKey[] | null;
}

/** Tables that a script makes for itself: `#t`, `@t`, `SELECT INTO`, views and CREATE TABLE. */
export interface LocalTables {
  readonly tables: readonly CatalogTable[];
  /** Tables whose columns come from a query. */
  readonly queries: readonly { readonly name: TableName; readonly query: Query }[];
}

/** A trigger that the DDL or the script creates. */
export interface TriggerFact {
  readonly table: TableName;
  readonly name: string;
  readonly events: readonly string[];
  readonly insteadOf: boolean;
}

export interface ForeignKeyFact {
  readonly from: TableName;
  readonly to: TableName;
}

/** A unique index with a WHERE clause. */
export interface FilteredIndexFact {
  readonly table: TableName;
  readonly name: string;
  /** Columns that its filter reads. */
  readonly filter: readonly string[];
}

/** What stands in the folder besides tables, as far as rules ask. */
export interface SchemaObjects {
  readonly triggers: readonly TriggerFact[];
  readonly foreignKeys: readonly ForeignKeyFact[];
  readonly filteredIndexes: readonly FilteredIndexFact[];
  /** Columns that are GENERATED ALWAYS AS IDENTITY. */
  readonly alwaysIdentities: readonly { readonly table: TableName; readonly column: string }[];
  /** Tables with a columnstore index that CREATE INDEX made. */
  readonly columnstores: readonly TableName[];
}

/** Answers questions about names in a script, from its own tables first and from the folder's DDL second. */
export interface Tables {
  readonly platform: Platform;
  readonly objects: SchemaObjects;
  table(name: TableName): CatalogTable | null;
  /** The key that the folder's catalog worked out for a table that declares none. It proves nothing. */
  inferredKey(name: TableName): readonly string[] | null;
  relation(source: Source): Relation | null;
  /** The query that makes a table of the script, such as `SELECT … INTO #t`. */
  madeBy(table: string): Query | null;
  /** The column that a reference means and the source that it comes from. */
  column(reference: ColumnReference, scope: Scope | null): Resolved | null;
  /** The catalog table behind a source; null for queries and unknown tables. */
  tableOf(source: Source | null): CatalogTable | null;
  /** True: may be NULL; false: never; null: not known. */
  nullable(expression: Expression, scope: Scope | null): boolean | null;
  /** Type as in the catalog, null when it is not known. */
  type(expression: Expression, scope: Scope | null): string | null;
  /** A column's role by its table, else by its name. */
  role(reference: ColumnReference, scope: Scope | null): ColumnRole | null;
}

interface Resolved {
  readonly source: Source;
  readonly column: RelationColumn;
}

/** Once for each catalog: a script that makes tables of its own does not sort all of the folder's again. */
const byTableName = memo((tables: readonly CatalogTable[]): ReadonlyMap<string, readonly CatalogTable[]> => {
  const found = new Map<string, CatalogTable[]>();
  for (const table of tables) {
    const key = table.name.table.toLowerCase();
    const list = found.get(key);
    if (list === undefined) found.set(key, [table]);
    else list.push(table);
  }
  return found;
});

export function makeTables(
  platform: Platform,
  catalog: readonly CatalogTable[],
  local: LocalTables,
  objects: SchemaObjects,
): Tables {
  const ofCatalog = byTableName(catalog);
  const ofScript = byTableName(local.tables);
  const named = (name: string): readonly CatalogTable[] => {
    const key = name.toLowerCase();
    const own = ofScript.get(key);
    return own === undefined ? (ofCatalog.get(key) ?? []) : [...own, ...(ofCatalog.get(key) ?? [])];
  };
  // By source, which goes with its statement: the tables live longer.
  const relations = new WeakMap<Source, Relation | null>();
  // What a common or temporary table holds is worked out once, however often and through how many others it is read.
  const namedQueries = new WeakMap<Query, Relation | null>();
  const queries = new Map<string, Query>();
  for (const { name, query } of local.queries) {
    const key = name.table.toLowerCase();
    if (!queries.has(key) && named(key).length === 0) queries.set(key, query);
  }
  const depth = { value: 0 };

  const tables: Tables = {
    platform,
    objects,
    table: (name) => chooseTable(named(name.table), name, platform),
    inferredKey(name) {
      // Tables of several databases may share a name that a script does not tell apart: then each must have a key.
      const known = (ofCatalog.get(name.table.toLowerCase()) ?? []).filter((table) => nameFits(name, table.name));
      if (known.length === 0 || known.some((table) => table.keys.length === 0)) return null;
      return known.flatMap(({ keys }) => keys).find(({ kind }) => kind === 'inferred')?.columns ?? null;
    },
    relation(source) {
      const kept = relations.get(source);
      if (kept !== undefined) return kept;
      // A table made from itself, or a very deep chain of queries, stays unknown.
      if (depth.value > 24) return null;
      depth.value += 1;
      const found = relationOf(source, tables, queries, (query, compute) => {
        const known = namedQueries.get(query);
        if (known !== undefined) return known;
        // A table that is made from itself finds nothing there.
        namedQueries.set(query, null);
        const made = compute();
        namedQueries.set(query, made);
        return made;
      });
      depth.value -= 1;
      relations.set(source, found);
      return found;
    },
    madeBy: (table) => queries.get(table.toLowerCase()) ?? null,
    column: (reference, scope) => resolve(reference, scope, tables),
    tableOf: (source) => (source === null ? null : (tables.relation(source)?.table ?? null)),
    nullable: (expression, scope) => nullability(expression, scope, tables),
    type: (expression, scope) => typeOf(expression, scope, tables),
    role(reference, scope) {
      const resolved = tables.column(reference, scope);
      const role = resolved?.column.column?.role ?? null;
      return role !== null && role !== 'attribute' ? role : (roleByName(columnName(reference)) ?? role);
    },
  };
  return tables;
}

/** The only table that fits a name; a name that fits several different ones means none for sure. */
function chooseTable(candidates: readonly CatalogTable[], name: TableName, platform: Platform): CatalogTable | null {
  const fitting = candidates.filter((table) => nameFits(name, table.name));
  const exact = fitting.filter(
    (table) => (table.name.schema ?? '').toLowerCase() === (name.schema ?? '').toLowerCase(),
  );
  const best = exact.length > 0 ? exact : fitting;
  const onPlatform = best.filter((table) => table.platform === platform.name);
  const chosen = onPlatform.length > 0 ? onPlatform : best;
  return chosen.length === 1 || chosen.every((table) => table.file === '') ? (chosen[0] ?? null) : null;
}

function relationOf(
  source: Source,
  tables: Tables,
  queries: ReadonlyMap<string, Query>,
  once: (query: Query, compute: () => Relation) => Relation | null,
): Relation | null {
  const { node, common, outer } = source;
  if (common !== null) return once(common.query, () => commonRelation(common, outer, tables));
  switch (node.kind) {
    case 'table': {
      const name = tableNameOf(node.name);
      const table = tables.table(name);
      if (table !== null) return tableRelation(table);
      const query = queries.get(name.table.toLowerCase());
      return query === undefined ? null : once(query, () => queryRelation(query, null, tables, []));
    }
    case 'table-variable': {
      const table = tables.table({ database: null, schema: null, table: node.name });
      return table === null ? null : tableRelation(table);
    }
    case 'derived-table':
      return queryRelation(
        node.query,
        outer,
        tables,
        node.columns.map((column) => column.name),
      );
    default:
      return null;
  }
}

function tableRelation(table: CatalogTable): Relation {
  return {
    table,
    query: null,
    columns: table.columns.map((column) => ({
      name: column.name,
      nullable: column.nullable,
      type: column.type,
      column,
      table,
      expression: null,
      scope: null,
    })),
    keys: table.keys.filter((key) => key.kind !== 'inferred').map(uniqueKey),
  };
}

function uniqueKey(key: CatalogKey): UniqueKey {
  return { columns: key.columns, enforced: key.enforced };
}

function commonRelation(common: CommonTable, outer: Scope | null, tables: Tables): Relation {
  return queryRelation(
    common.query,
    outer,
    tables,
    common.columns.map((column) => column.name),
  );
}

/** What a query gives: its columns, and what is unique in its rows. */
export function queryRelation(query: Query, outer: Scope | null, tables: Tables, names: readonly string[]): Relation {
  const inside = scopeOfQuery(query, outer);
  if (inside === null) {
    // A set operation takes its names from the first SELECT and may be NULL wherever any of them may.
    const [first] = selectsOf(query);
    const columns = first === undefined ? null : first.items.map((item) => unknownColumn(itemName(item) ?? ''));
    return { table: null, query, columns: names.length > 0 ? names.map(unknownColumn) : columns, keys: null };
  }
  const { select, scope } = inside;
  const columns = selectColumns(select, scope, tables);
  const named =
    columns !== null && names.length === columns.length
      ? columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }))
      : columns;
  return { table: null, query, columns: named, keys: queryKeys(query, select, scope, tables) };
}

function unknownColumn(name: string): RelationColumn {
  return { name, nullable: null, type: null, column: null, table: null, expression: null, scope: null };
}

function itemName(item: Select['items'][number]): string | null {
  if (item.alias !== null) return item.alias.name;
  const column = plainColumn(item.expression);
  return column === null ? null : columnName(column);
}

function selectColumns(select: Select, scope: Scope, tables: Tables): readonly RelationColumn[] | null {
  const columns: RelationColumn[] = [];
  const filled = notNullColumns(select);
  const seen = (column: RelationColumn): RelationColumn =>
    column.nullable !== false && includes(filled, column.name) ? { ...column, nullable: false } : column;
  for (const item of select.items) {
    const expression = bare(item.expression);
    if (expression.kind === 'star') {
      const wanted = expression.qualifier.at(-1)?.name ?? null;
      for (const source of scope.sources) {
        if (wanted !== null && !same(source.alias, wanted)) continue;
        const relation = tables.relation(source);
        if (relation === null || relation.columns === null) return null;
        columns.push(
          ...relation.columns
            .filter((column) => !expression.except.some((left) => same(left.name, column.name)))
            .map((column) => seen(source.optional ? { ...column, nullable: true } : column)),
        );
      }
      continue;
    }
    const reference = plainColumn(expression);
    const resolved = reference === null ? null : tables.column(reference, scope);
    columns.push({
      name: itemName(item) ?? '',
      nullable:
        reference !== null && includes(filled, columnName(reference)) ? false : tables.nullable(expression, scope),
      type: tables.type(expression, scope),
      column: resolved?.column.column ?? null,
      table: resolved?.column.table ?? null,
      expression,
      scope,
    });
  }
  return columns;
}

/** Columns that the query's own WHERE keeps from being NULL. */
function notNullColumns(select: Select): readonly string[] {
  return conjuncts(select.where).flatMap((condition) => {
    if (condition.kind !== 'is-null' || !condition.not) return [];
    const column = plainColumn(condition.operand);
    return column === null ? [] : [columnName(column)];
  });
}

const byName = memo((columns: readonly RelationColumn[]) => {
  const found = new Map<string, RelationColumn>();
  for (const column of columns) {
    const name = column.name.toLowerCase();
    if (!found.has(name)) found.set(name, column);
  }
  return found;
});

/** The first column of a name. Wide tables are asked for each of their columns. */
export function columnNamed(columns: readonly RelationColumn[], name: string): RelationColumn | undefined {
  return byName(columns).get(name.toLowerCase());
}

/** GROUP BY, DISTINCT, a row number kept at 1, TOP 1, or the only source's own key. */
function queryKeys(query: Query, select: Select, scope: Scope, tables: Tables): readonly UniqueKey[] | null {
  const keys: UniqueKey[] = [];
  const itemNames = (expressions: readonly Expression[]) => outputNames(expressions, select);
  if (select.groupBy !== null && !select.groupBy.all && select.groupBy.clauses.length === 0) {
    const names = itemNames(select.groupBy.items);
    if (names !== null) keys.push({ columns: names, enforced: true });
    return keys;
  }
  if (select.distinct) {
    const names = select.items.map(itemName);
    if (names.every((name) => name !== null)) keys.push({ columns: names, enforced: true, byDistinct: true });
  }
  const one = select.top?.count ?? query.limit;
  const bareOne = one === null || one === undefined ? null : bare(one);
  if (bareOne?.kind === 'literal' && bareOne.value === '1' && select.top?.withTies !== true) {
    keys.push({ columns: [], enforced: true });
  }
  const partition = firstRowPartition(select, scope, tables);
  if (partition !== null) keys.push({ columns: partition, enforced: true });
  if (scope.sources.length === 1 && scope.sources[0] !== undefined) {
    const inner = tables.relation(scope.sources[0]);
    if (inner === null || inner.keys === null) return keys.length > 0 ? keys : null;
    for (const key of inner.keys) {
      const names = passedOn(key.columns, select);
      if (names !== null) keys.push({ columns: names, enforced: key.enforced });
    }
    return keys;
  }
  // A join may repeat rows of either side, and nothing here counts them.
  return keys.length > 0 ? keys : null;
}

/** Output names of expressions, null when one of them is not put out. */
function outputNames(expressions: readonly Expression[], select: Select): readonly string[] | null {
  const names: string[] = [];
  for (const expression of expressions) {
    const column = plainColumn(expression);
    if (column === null) return null;
    const name = passedOn([columnName(column)], select)?.[0];
    if (name === undefined) return null;
    names.push(name);
  }
  return names;
}

function passedOn(columns: readonly string[], select: Select): readonly string[] | null {
  const names: string[] = [];
  for (const wanted of columns) {
    const item = select.items.find((candidate) => {
      const expression = bare(candidate.expression);
      if (expression.kind === 'star') return !expression.except.some((left) => same(left.name, wanted));
      const column = plainColumn(expression);
      return column !== null && same(columnName(column), wanted);
    });
    if (item === undefined) return null;
    names.push(bare(item.expression).kind === 'star' ? wanted : (itemName(item) ?? wanted));
  }
  return names;
}

/** The PARTITION BY columns of a row number that the query keeps at 1 (in WHERE over a derived table, or QUALIFY). */
function firstRowPartition(select: Select, scope: Scope, tables: Tables): readonly string[] | null {
  for (const condition of [...conjuncts(select.where), ...conjuncts(select.qualify)]) {
    if (condition.kind !== 'binary' || !['=', '<='].includes(condition.operator)) continue;
    const [tested, limit] = [bare(condition.left), bare(condition.right)];
    if (limit.kind !== 'literal' || limit.value !== '1') continue;
    const call = rowNumberOf(tested, scope, tables);
    if (call === null || call.over === null) continue;
    const names: string[] = [];
    for (const expression of call.over.partitionBy) {
      const column = plainColumn(expression);
      if (column !== null) names.push(columnName(column));
    }
    if (names.length === call.over.partitionBy.length) return names;
  }
  return null;
}

/** The ROW_NUMBER call that an expression is, or that a derived column stands for. */
export function rowNumberOf(expression: Expression, scope: Scope | null, tables: Tables) {
  const direct = callOf(expression, 'ROW_NUMBER');
  if (direct !== null) return direct;
  const column = plainColumn(expression);
  const computed = column === null ? null : (tables.column(column, scope)?.column.expression ?? null);
  return computed === null ? null : callOf(computed, 'ROW_NUMBER');
}

function resolve(reference: ColumnReference, scope: Scope | null, tables: Tables): Resolved | null {
  const name = columnName(reference);
  const wanted = qualifier(reference);
  for (let at = scope; at !== null; at = at.parent) {
    if (wanted !== null && at.target !== null && ['inserted', 'deleted'].includes(wanted.toLowerCase())) {
      return fromSource(at.target, name, tables);
    }
    if (wanted !== null) {
      const source = sourceNamed(at, reference);
      if (source !== undefined) return fromSource(source, name, tables);
      continue;
    }
    const found = at.sources.map((source) => fromSource(source, name, tables)).filter((item) => item !== null);
    if (found.length > 0) return found.length === 1 ? (found[0] ?? null) : null;
    // Where a source's columns are unknown the name may be its own, so nothing further out may claim it.
    const [only] = at.sources;
    if (at.sources.length === 1 && only !== undefined && tables.relation(only) === null) {
      return { source: only, column: unknownColumn(name) };
    }
    if (at.sources.some((source) => (tables.relation(source)?.columns ?? null) === null)) return null;
  }
  return null;
}

/** The source that a qualified column names: by alias, or by the table's name where it has no alias. */
function sourceNamed(scope: Scope, reference: ColumnReference): Source | undefined {
  const wanted = qualifier(reference);
  if (wanted === null) return undefined;
  return scope.sources.find((source) => same(source.alias, wanted));
}

function fromSource(source: Source, name: string, tables: Tables): Resolved | null {
  const relation = tables.relation(source);
  const columns = relation?.columns ?? null;
  if (columns === null) return relation === null || relation.columns === null ? fallback(source, name) : null;
  const column = columnNamed(columns, name);
  if (column === undefined) return null;
  return { source, column: source.optional ? { ...column, nullable: true } : column };
}

/** Only a qualified name says that it belongs to a source of unknown columns. */
function fallback(source: Source, name: string): Resolved | null {
  return { source, column: unknownColumn(name) };
}

/** True when columns that a condition equates hold a whole key; null when nothing is known. */
export function coversKey(keys: readonly UniqueKey[] | null, columns: readonly string[]): UniqueKey | null {
  const fitting = (keys ?? []).filter((key) => key.columns.every((name) => includes(columns, name)));
  return fitting.find((key) => key.enforced) ?? fitting[0] ?? null;
}

/** How a table is called in messages. */
export function sourceText(source: Source): string {
  const { node } = source;
  if (node.kind === 'table') {
    return node.name.parts.map((part) => part?.name ?? '').join('.');
  }
  return node.kind === 'table-variable' ? node.name : source.alias || 'the derived table';
}

export function isUnicodeType(type: string | null, platform: Platform): boolean {
  return type !== null && isTsql(platform.name) && /^n(var)?char|^ntext|^sysname/.test(type);
}
