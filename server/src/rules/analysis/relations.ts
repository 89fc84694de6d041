/** What sources give to the queries that read them: their columns, and what is unique in their rows. */
import type { CatalogColumn, CatalogKey, CatalogTable } from '../../../../protocol/catalog.ts';
import { bare } from '../../syntax/inspect.ts';
import type { CommonTable, Expression, Query, Select } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { callOf, columnName, includes, plainColumn, same } from './names.ts';
import { conjuncts, type Scope, scopeOfQuery, selectsOf } from './steps.ts';
import type { Tables } from './tables.ts';

/** A column of a table, common table or derived table, as far as it is known. */
export interface RelationColumn {
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

/** What a table of the catalog gives. */
export function tableRelation(table: CatalogTable): Relation {
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

/** What a common table expression gives. */
export function commonRelation(common: CommonTable, outer: Scope | null, tables: Tables): Relation {
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

/** A column of which only the name is known. */
export function unknownColumn(name: string): RelationColumn {
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

/** The key that columns which a condition equates hold as a whole, an enforced one first; null when there is none. */
export function coversKey(keys: readonly UniqueKey[] | null, columns: readonly string[]): UniqueKey | null {
  const fitting = (keys ?? []).filter((key) => key.columns.every((name) => includes(columns, name)));
  return fitting.find((key) => key.enforced) ?? fitting[0] ?? null;
}
