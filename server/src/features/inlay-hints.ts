import type { Position, Range } from '../../../protocol/position.ts';
import { bindUnit } from '../model/binding.ts';
import { findAll, unitsOf } from '../syntax/inspect.ts';
import type { Node } from '../syntax/tree.ts';
import { columnsNamed } from './entity.ts';
import { type DocumentView, offsetAt, positionAt } from './view.ts';

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
      const [only] = columnsNamed(view, mention.tables, mention.column);
      if (only === undefined || only.column.type === '' || end < from || end > to) continue;
      hints.push({ position: positionAt(view, end), label: ` ${only.column.type}` });
    }
  }
  return hints;
}
