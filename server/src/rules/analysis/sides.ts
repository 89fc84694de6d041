import { bare, childrenOf, tableNameOf } from '../../syntax/inspect.ts';
import type { ColumnReference, Expression, Node, Query, TableSource } from '../../syntax/tree.ts';
import { columnName, qualifier, same } from './names.ts';
import { conjuncts, type Scope, type Source } from './steps.ts';
import type { Tables } from './tables.ts';

/** Every column reference under a node; those of subqueries only when asked for. */
export function columnsIn(node: Node, subqueries = true): readonly ColumnReference[] {
  const found: ColumnReference[] = [];
  const pending: Node[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'column') found.push(next);
    else if (next.kind !== 'query' || subqueries) pending.push(...childrenOf(next).toReversed());
  }
  return found;
}

/** Which of two sides an expression reads. */
export interface Sides {
  readonly target: boolean;
  readonly source: boolean;
  /** A column whose side nothing tells. */
  readonly unknown: boolean;
}

/** Sides by the names' qualifiers, or by the tables' columns where a name stands alone. */
export function sidesOf(expression: Node, scope: Scope | null, target: Source, tables: Tables): Sides {
  let hasTarget = false;
  let hasSource = false;
  let unknown = false;
  for (const column of columnsIn(expression)) {
    const source = sourceOfColumn(column, scope, tables);
    if (source === null) unknown = true;
    else if (source === target) hasTarget = true;
    else hasSource = true;
  }
  return { target: hasTarget, source: hasSource, unknown };
}

/** The source that a column comes from; null when nothing tells. Subqueries' own sources count as themselves. */
export function sourceOfColumn(column: ColumnReference, scope: Scope | null, tables: Tables): Source | null {
  const resolved = tables.column(column, scope);
  if (resolved !== null) return resolved.source;
  const wanted = qualifier(column);
  if (wanted === null) return null;
  for (let at = scope; at !== null; at = at.parent) {
    const found = at.sources.find((source) => same(source.alias, wanted));
    if (found !== undefined) return found;
  }
  return null;
}

/** A plain value: literal, variable, or a call of those; no column in it. */
export function isConstant(expression: Expression): boolean {
  const pending: Node[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'column' || next.kind === 'query' || next.kind === 'star') return false;
    pending.push(...childrenOf(next));
  }
  return true;
}

/** True for two sources that read the same table by name. */
export function sameTable(left: Source, right: Source): boolean {
  if (left.node.kind === 'table-variable' && right.node.kind === 'table-variable') {
    return same(left.node.name, right.node.name);
  }
  if (left.node.kind !== 'table' || right.node.kind !== 'table') return false;
  const first = tableNameOf(left.node.name);
  const second = tableNameOf(right.node.name);
  return (
    same(first.table, second.table) &&
    (first.schema === null || second.schema === null || same(first.schema, second.schema))
  );
}

/** Tables by `schema.table` in lower case, or the table alone where no schema is written. */
export type TableNames = ReadonlySet<string>;

/** All table names that a node reads. */
export function tablesIn(node: Node): TableNames {
  const found = new Set<string>();
  const pending: Node[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'table') {
      const { schema, table } = tableNameOf(next.name);
      found.add((schema === null ? table : `${schema}.${table}`).toLowerCase());
    } else if (next.kind === 'table-variable') found.add(next.name.toLowerCase());
    pending.push(...childrenOf(next));
  }
  return found;
}

/** True when two sets name a common table; a schema that one of them leaves out fits all. */
export function meet(left: TableNames, right: TableNames): boolean {
  for (const name of left) {
    if (right.has(name)) return true;
    const table = lastName(name);
    for (const other of right) {
      if ((table === name || lastName(other) === other) && lastName(other) === table) return true;
    }
  }
  return false;
}

/** A table's name of `TableNames` without its schema. */
export function lastName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Like `tableNamesOf`, with temporary tables and views of the script followed to what fills them. */
export function originsOf(source: Source, tables: Tables): TableNames {
  const found = new Set(tableNamesOf(source));
  for (const name of found) {
    const query = tables.madeBy(lastName(name));
    if (query !== null) for (const inner of tablesIn(query)) found.add(inner);
  }
  return found;
}

/** Tables behind a source: its own name, or those that its query reads, common tables followed to their tables. */
export function tableNamesOf(source: Source): TableNames {
  const found = new Set(source.common === null ? tablesIn(source.node) : tablesIn(source.common.query));
  for (const name of found) {
    const common = commonNamed(name, source.outer);
    // A set takes no name twice, so common tables that read each other come to an end.
    if (common !== null) for (const inner of tablesIn(common.query)) found.add(inner);
  }
  return found;
}

function commonNamed(name: string, scope: Scope | null) {
  for (let at = scope; at !== null; at = at.parent) {
    const found = at.commons.find((common) => same(common.name.name, name));
    if (found !== undefined) return found;
  }
  return null;
}

/** `EXISTS (SELECT a, b EXCEPT SELECT c, d)` and the like: the lists on both sides. */
export function setComparison(
  query: Query,
): { readonly operator: string; readonly left: readonly Expression[]; readonly right: readonly Expression[] } | null {
  const { body } = query;
  if (body.kind !== 'set-operation' || body.left.kind !== 'select' || body.right.kind !== 'select') return null;
  return {
    operator: body.operator,
    left: body.left.items.map((item) => item.expression),
    right: body.right.items.map((item) => item.expression),
  };
}

/** The column under ISNULL, COALESCE, casts and text functions; null when there is none or more than one. */
export function innerColumn(expression: Expression): ColumnReference | null {
  const inner = bare(expression);
  if (inner.kind === 'column') return inner;
  const columns = columnsIn(inner, false);
  const [first] = columns;
  return first !== undefined && columns.every((column) => same(columnName(column), columnName(first))) ? first : null;
}

/** Conditions of all joins in a FROM clause. */
export function joinConditions(source: TableSource): readonly Expression[] {
  const found: Expression[] = [];
  const pending: Node[] = [source];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'join') {
      found.push(...conjuncts(next.on));
      pending.push(...childrenOf(next));
    } else if (next.kind === 'source-group') pending.push(next.source);
  }
  return found;
}
