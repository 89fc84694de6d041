import type { TableName } from '../../../protocol/catalog.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import { bindUnit } from '../model/binding.ts';
import { sameIdentifier } from '../model/names.ts';
import { findAll, unitsOf } from '../syntax/inspect.ts';
import type { Node } from '../syntax/tree.ts';
import { columnsNamed } from './entity.ts';
import { type DocumentView, localNamed, offsetAt, positionAt } from './view.ts';

export interface InlayHint {
  readonly position: Position;
  readonly label: string;
}

/** Types behind the columns of INSERT lists, inside a range of the document. */
export function inlayHints(view: DocumentView, range: Range): readonly InlayHint[] {
  const from = offsetAt(view, range.start);
  const to = offsetAt(view, range.end);
  const hints: InlayHint[] = [];
  for (const unit of unitsOf(view.script)) {
    if (unit.offset > to || unit.offset + unit.length < from) continue;
    const lists: readonly Node[] = [
      ...findAll(unit.statement, 'insert'),
      ...findAll(unit.statement, 'merge-insert'),
    ].flatMap((insert) => insert.columns);
    const listed = new Set(lists);
    for (const mention of bindUnit(unit).mentions) {
      if (mention.kind !== 'column' || !listed.has(mention.node)) continue;
      const end = unit.offset + mention.node.end;
      if (end < from || end > to) continue;
      const [only] = columnsNamed(view, mention.tables, mention.column);
      const type = only?.column.type ?? localType(view, mention.tables, mention.column, end);
      if (type !== '') hints.push({ position: positionAt(view, end), label: ` ${type}` });
    }
  }
  return hints;
}

/** The type of a column of a temporary table or table variable; '' where it is unknown. */
function localType(view: DocumentView, tables: readonly TableName[], name: string, at: number): string {
  const columns = tables.flatMap((table) => localNamed(view, table, at)?.columns ?? []);
  return columns.find((column) => sameIdentifier(column.name, name))?.type ?? '';
}
