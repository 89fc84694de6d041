/** Answers what the names in a script mean: from the tables that it makes itself, and from the folder's DDL. */
import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import { isTsql, type Platform } from '../../../../protocol/platform.ts';
import type { ColumnRole } from '../../../../protocol/roles.ts';
import { nameFits } from '../../model/names.ts';
import { tableNameOf } from '../../syntax/inspect.ts';
import type { ColumnReference, Expression, Query } from '../../syntax/tree.ts';
import { typeOf } from './expression-types.ts';
import { memo } from './memo.ts';
import { columnName, qualifier, roleByName, same } from './names.ts';
import { nullability } from './nullability.ts';
import {
  columnNamed,
  commonRelation,
  queryRelation,
  type Relation,
  type RelationColumn,
  tableRelation,
  unknownColumn,
} from './relations.ts';
import type { SchemaObjects } from './schema-objects.ts';
import type { Scope, Source } from './steps.ts';

/** Tables that a script makes for itself: `#t`, `@t`, `SELECT INTO`, views and CREATE TABLE. */
export interface LocalTables {
  readonly tables: readonly CatalogTable[];
  /** Tables whose columns come from a query. */
  readonly queries: readonly { readonly name: TableName; readonly query: Query }[];
  /** Names, in lower case, of tables that are only made where they are missing: an existing one may look different. */
  readonly guarded: ReadonlySet<string>;
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

/** What the names in one script mean. A script's own tables go before the folder's of the same name. */
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
    const others = ofCatalog.get(key) ?? [];
    return own === undefined
      ? others
      : [...own.filter((table) => local.guarded.has(key) || !others.some((known) => isSame(table, known))), ...others];
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

/**
 * Whether a table of the script is one of the folder's. The folder reads the script, too, so mostly its catalog holds the
 * table once more, with the roles that the folder gives it. Where the columns differ, neither counts for sure.
 */
function isSame(own: CatalogTable, known: CatalogTable): boolean {
  return (
    nameFits(own.name, known.name) &&
    own.columns.length === known.columns.length &&
    own.columns.every((column, index) => same(column.name, known.columns[index]?.name ?? ''))
  );
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
