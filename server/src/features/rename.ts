import type { Position, Range } from '../../../protocol/position.ts';
import type { TextEdit } from '../../../protocol/problem.ts';
import { sameIdentifier } from '../model/names.ts';
import { offsetOf } from '../syntax/inspect.ts';
import { type Entity, entityAt } from './entity.ts';
import { referencesIn } from './navigation.ts';
import { type DocumentView, rangeAt } from './view.ts';

/** The column at a position, which can be renamed; undefined anywhere else. */
export function renameRange(
  view: DocumentView,
  position: Position,
): { readonly range: Range; readonly name: string } | undefined {
  const entity = entityAt(view, position);
  if (entity === undefined || (entity.kind !== 'column' && entity.kind !== 'local-column')) return undefined;
  // What a query gives is named inside the query.
  if (entity.kind === 'local-column' && entity.table.derived) return undefined;
  const range = rangeAt(view, entity.span);
  return { range, name: entity.column.name };
}

/** Why a column can't take a name; null when it can. */
export function renameRefusal(entity: Entity, newName: string): string | null {
  if (newName.trim() === '') return 'A column needs a name.';
  if (newName.length > 128) return 'A column name has at most 128 characters.';
  const taken = entity.table.columns.some((column) => sameIdentifier(column.name, newName));
  return taken ? `${entity.table.name.table} already has a column ${newName}.` : null;
}

/** The edits of one document that rename a column: its definition, lists, expressions; quotes stay as they are. */
export function renameEdits(view: DocumentView, entity: Entity, newName: string): readonly TextEdit[] {
  return referencesIn(view, entity).map(({ range }) => {
    const start = offsetOf(view.lineStarts, view.script.text, range.start);
    const end = offsetOf(view.lineStarts, view.script.text, range.end);
    return { file: view.file, range, newText: quotedLike(view.script.text.slice(start, end), newName) };
  });
}

/** A new name in the quotes of the old one; a name that needs quotes gets brackets or double quotes. */
function quotedLike(old: string, name: string): string {
  const closing: Readonly<Record<string, string>> = { '[': ']', '"': '"', '`': '`' };
  const opening = old[0] ?? '';
  const end = closing[opening];
  if (end !== undefined) return `${opening}${name.replaceAll(end, end + end)}${end}`;
  return /^[\p{L}_#@][\p{L}\p{N}_@$#]*$/u.test(name) ? name : `[${name.replaceAll(']', ']]')}]`;
}
