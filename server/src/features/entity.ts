import type { CatalogColumn, CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Position } from '../../../protocol/position.ts';
import { bindUnit, type ColumnMention, type Mention, type TableMention } from '../model/binding.ts';
import type { LocalTable } from '../model/locals.ts';
import { sameIdentifier } from '../model/names.ts';
import { absoluteRange, lastPart, type Span, unitAt } from '../syntax/inspect.ts';
import { type DocumentView, localNamed, offsetAt, tableNamed } from './view.ts';

/** What the text at a position names. */
export type Entity =
  | { readonly kind: 'table'; readonly table: CatalogTable; readonly mention: TableMention; readonly span: Span }
  | { readonly kind: 'local-table'; readonly table: LocalTable; readonly span: Span }
  | {
      readonly kind: 'column';
      readonly table: CatalogTable;
      readonly column: CatalogColumn;
      readonly mention: ColumnMention;
      readonly span: Span;
    }
  | {
      readonly kind: 'local-column';
      readonly table: LocalTable;
      readonly column: LocalTable['columns'][number];
      readonly span: Span;
    };

/** The table or column named at a position; undefined when it is none, or nobody can tell which. */
export function entityAt(view: DocumentView, position: Position): Entity | undefined {
  const offset = offsetAt(view, position);
  const unit = unitAt(view.script, offset);
  if (unit === undefined) return undefined;
  const at = offset - unit.offset;
  const inside = ({ node }: Mention) => node.start <= at && at <= node.end;
  const mention = bindUnit(unit).mentions.findLast(inside);
  if (mention === undefined) return undefined;
  if (mention.kind === 'table') {
    const span = absoluteRange(unit, lastPart(mention.node));
    const local = localNamed(view, mention.name);
    if (local !== undefined) return { kind: 'local-table', table: local, span };
    const table = tableNamed(view, mention.name);
    return table === undefined ? undefined : { kind: 'table', table, mention, span };
  }
  return columnEntity(view, mention, absoluteRange(unit, mention.node));
}

function columnEntity(view: DocumentView, mention: ColumnMention, span: Span): Entity | undefined {
  const found = columnsNamed(view, mention.tables, mention.column);
  const [only, ...more] = found;
  if (only !== undefined && more.length === 0) return { kind: 'column', ...only, mention, span };
  for (const name of mention.tables) {
    const table = localNamed(view, name);
    const column = table?.columns.find((candidate) => sameIdentifier(candidate.name, mention.column));
    if (table !== undefined && column !== undefined) return { kind: 'local-column', table, column, span };
  }
  return undefined;
}

/** The columns of a name in the tables that a mention may belong to. */
export function columnsNamed(
  view: DocumentView,
  tables: readonly TableName[],
  name: string,
): readonly { readonly table: CatalogTable; readonly column: CatalogColumn }[] {
  const seen = new Set<CatalogTable>();
  return tables.flatMap((tableName) => {
    const table = tableNamed(view, tableName);
    if (table === undefined || seen.has(table)) return [];
    seen.add(table);
    const column = table.columns.find((candidate) => sameIdentifier(candidate.name, name));
    return column === undefined ? [] : [{ table, column }];
  });
}
