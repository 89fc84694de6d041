import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import { bare, lastPart, tableNameOf } from '../syntax/inspect.ts';
import type {
  Expression,
  Identifier,
  NodeBase,
  Query,
  QueryBody,
  Select,
  SelectItem,
  TableSource,
} from '../syntax/tree.ts';
import { sameIdentifier } from './names.ts';

/** One output column of a query, or a star to be filled from a table. */
export type QueryColumn =
  | { readonly kind: 'all'; readonly table: TableName; readonly except: readonly string[] }
  | {
      readonly kind: 'column';
      readonly name: string;
      readonly origin: ColumnOrigin | null;
      readonly range: Range | null;
    };

/** Where an output column's type comes from. */
type ColumnOrigin =
  | { readonly kind: 'type'; readonly type: string; readonly nullable: boolean }
  /** A column of one of these tables: the only one that has it. */
  | { readonly kind: 'column'; readonly tables: readonly TableName[]; readonly column: string };

/** Columns that a query is known to give; `items` is empty where they can't be known. */
export interface QueryColumns {
  readonly items: readonly QueryColumn[];
}

const unknownColumns: QueryColumns = { items: [] };

/** The output columns of a query, as far as its text tells; types are looked up later (`resolveColumns`). */
export function readQueryColumns(query: Query, rangeOf: (node: NodeBase) => Range): QueryColumns {
  const scope = new Map<string, QueryColumns>();
  for (const common of query.with?.tables ?? []) {
    const columns = renamed(readBody(common.query.body, scope, rangeOf), common.columns);
    scope.set(common.name.name.toLowerCase(), columns);
  }
  return readBody(query.body, scope, rangeOf);
}

type Scope = ReadonlyMap<string, QueryColumns>;

function readBody(body: QueryBody, scope: Scope, rangeOf: (node: NodeBase) => Range): QueryColumns {
  switch (body.kind) {
    case 'select':
      return readSelect(body, scope, rangeOf);
    case 'set-operation':
      return readBody(body.left, scope, rangeOf);
    case 'query-group':
      return readBody(body.query.body, scope, rangeOf);
    case 'from-first': {
      const sources = sourcesOf(body.from, scope, rangeOf);
      return sources === null ? unknownColumns : { items: sources.flatMap((source) => starOf(source, [])) };
    }
    case 'values':
      return unknownColumns;
  }
}

interface Source {
  readonly alias: string;
  readonly table: TableName | null;
  /** Of a common table or derived table. */
  readonly columns: QueryColumns | null;
}

function readSelect(select: Select, scope: Scope, rangeOf: (node: NodeBase) => Range): QueryColumns {
  const sources = sourcesOf(select.from, scope, rangeOf);
  const items: QueryColumn[] = [];
  for (const item of select.items) {
    const { expression } = item;
    if (expression.kind === 'star') {
      if (sources === null || expression.replace.length > 0) return unknownColumns;
      const qualifier = expression.qualifier.at(-1)?.name;
      const meant = sources.filter((source) => qualifier === undefined || sameIdentifier(source.alias, qualifier));
      const except = expression.except.map((column) => column.name);
      items.push(...meant.flatMap((source) => starOf(source, except)));
      continue;
    }
    const name = outputName(item);
    if (name === null) return unknownColumns;
    items.push({ kind: 'column', name, origin: originOf(expression, sources ?? []), range: rangeOf(item) });
  }
  return { items };
}

function outputName(item: SelectItem): string | null {
  if (item.alias !== null) return item.alias.name;
  const expression = bare(item.expression);
  return expression.kind === 'column' ? lastPart(expression).name : null;
}

function starOf(source: Source, except: readonly string[]): readonly QueryColumn[] {
  if (source.columns !== null) {
    return source.columns.items.filter(
      (column) => column.kind === 'all' || !except.some((name) => sameIdentifier(name, column.name)),
    );
  }
  return source.table === null ? [] : [{ kind: 'all', table: source.table, except }];
}

function originOf(expression: Expression, sources: readonly Source[]): ColumnOrigin | null {
  const inner = bare(expression);
  if (inner.kind === 'cast') return { kind: 'type', type: inner.type.text, nullable: true };
  if (inner.kind === 'collate') return originOf(inner.operand, sources);
  if (inner.kind !== 'column') return null;
  const qualifier = inner.parts.at(-2)?.name;
  const column = lastPart(inner).name;
  const meant = sources.filter((source) => qualifier === undefined || sameIdentifier(source.alias, qualifier));
  for (const source of meant) {
    const found = source.columns?.items.find((item) => item.kind === 'column' && sameIdentifier(item.name, column));
    if (found?.kind === 'column') return found.origin;
  }
  const tables = meant.flatMap((source) => [
    ...(source.table === null ? [] : [source.table]),
    ...(source.columns?.items.flatMap((item) => (item.kind === 'all' ? [item.table] : [])) ?? []),
  ]);
  return tables.length === 0 ? null : { kind: 'column', tables, column };
}

/** The sources of a FROM; null when one of them has columns that can't be known. */
function sourcesOf(
  from: readonly TableSource[],
  scope: Scope,
  rangeOf: (node: NodeBase) => Range,
): readonly Source[] | null {
  const found: Source[] = [];
  const pending = [...from].reverse();
  for (let source = pending.pop(); source !== undefined; source = pending.pop()) {
    switch (source.kind) {
      case 'table': {
        const name = tableNameOf(source.name);
        const common = name.schema === null ? scope.get(name.table.toLowerCase()) : undefined;
        found.push({
          alias: source.alias?.name ?? name.table,
          table: common === undefined ? name : null,
          columns: common ?? null,
        });
        break;
      }
      case 'derived-table':
        found.push({
          alias: source.alias?.name ?? '',
          table: null,
          columns: renamed(readBody(source.query.body, scope, rangeOf), source.columns),
        });
        break;
      case 'join':
        pending.push(source.right, source.left);
        break;
      case 'source-group':
        pending.push(source.source);
        break;
      default:
        return null;
    }
  }
  return found;
}

function renamed(columns: QueryColumns, names: readonly Identifier[]): QueryColumns {
  if (names.length === 0) return columns;
  const items = names.map((name, index): QueryColumn => {
    const item = columns.items[index];
    const origin = item?.kind === 'column' && columns.items.length === names.length ? item.origin : null;
    return { kind: 'column', name: name.name, origin, range: null };
  });
  return { items };
}
