import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseIdentifierList } from './names.ts';
import { listOf } from './none.ts';
import { tokenKind } from './tokens.ts';
import type { TableHint } from './tree.ts';

/** Table hints that need no value. */
const plainHints: ReadonlySet<string> = new Set([
  'NOLOCK',
  'HOLDLOCK',
  'UPDLOCK',
  'XLOCK',
  'TABLOCK',
  'TABLOCKX',
  'PAGLOCK',
  'ROWLOCK',
  'READPAST',
  'READUNCOMMITTED',
  'READCOMMITTED',
  'READCOMMITTEDLOCK',
  'REPEATABLEREAD',
  'SERIALIZABLE',
  'SNAPSHOT',
  'NOWAIT',
  'NOEXPAND',
  'FORCESEEK',
  'FORCESCAN',
  'FASTFIRSTROW',
  'IGNORE_CONSTRAINTS',
  'IGNORE_TRIGGERS',
  'KEEPDEFAULTS',
  'KEEPIDENTITY',
  'REMOTE',
]);

/** A table hint stands `distance` tokens ahead: `(NOLOCK)` is no column list and no argument list. */
export function isTableHint(cursor: Cursor, distance: number): boolean {
  if (cursor.dialect.family !== 'tsql') return false;
  const word = cursor.peek(distance);
  if (word === 'INDEX' || word === 'SPATIAL_WINDOW_MAX_CELLS') return true;
  if (!plainHints.has(word)) return false;
  const after = cursor.peek(distance + 1);
  return after === ')' || after === ',' || after === '(' || plainHints.has(after) || after === 'INDEX';
}

/** `WITH ( hint, … )`, or the old form without WITH. */
export function parseTableHints(cursor: Cursor): readonly TableHint[] {
  if (cursor.dialect.family !== 'tsql') return [];
  if (cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    return parseHintList(cursor);
  }
  if (cursor.at('(')) return parseOldHint(cursor);
  // `FROM t HOLDLOCK`, the oldest form.
  if (cursor.at('HOLDLOCK')) {
    const { start } = cursor;
    cursor.advance();
    return [{ kind: 'table-hint', start, end: cursor.end, name: 'HOLDLOCK', value: null }];
  }
  return [];
}

/** One hint in parentheses without WITH; INDEX may be one of several, and a number alone is an index. */
function parseOldHint(cursor: Cursor): readonly TableHint[] {
  cursor.advance();
  const hints = [cursor.kind === tokenKind.number ? parseIndexNumber(cursor) : parseHint(cursor)];
  const several = hints[0]?.name === 'INDEX';
  while (several && !cursor.recovering && cursor.eat(',')) hints.push(parseHint(cursor));
  closeParenthesis(cursor);
  return listOf(hints);
}

function parseIndexNumber(cursor: Cursor): TableHint {
  const { start, tokenText: value } = cursor;
  cursor.advance();
  return { kind: 'table-hint', start, end: cursor.end, name: 'INDEX', value };
}

/** The hints in parentheses, with or without commas between them. */
function parseHintList(cursor: Cursor): readonly TableHint[] {
  const hints: TableHint[] = [];
  cursor.expect('(');
  do {
    do hints.push(parseHint(cursor));
    while (!cursor.recovering && !cursor.at(',') && !cursor.at(')') && !cursor.atEnd);
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(hints);
}

function parseHint(cursor: Cursor): TableHint {
  const { start, word } = cursor;
  const hint = (name: string, value: string | null): TableHint => ({
    kind: 'table-hint',
    start,
    end: cursor.end,
    name,
    value,
  });
  if (word === 'INDEX' || word === 'SPATIAL_WINDOW_MAX_CELLS' || word === 'FORCESEEK') {
    cursor.advance();
    const from = cursor.end;
    if (cursor.at('(')) parseHintArguments(cursor);
    else if (cursor.eat('=')) {
      if (cursor.atName || cursor.kind === tokenKind.number) cursor.advance();
      else cursor.fail('an index');
    } else if (word === 'FORCESEEK') return hint(word, null);
    else cursor.fail("'(' or '='");
    return hint(word, cursor.slice(from, cursor.end).trim());
  }
  if (plainHints.has(word)) {
    cursor.advance();
    return hint(word, null);
  }
  cursor.fail('a table hint');
  return hint('', null);
}

/** `(ix_a, 2)`, `(ix (a, b))`. */
function parseHintArguments(cursor: Cursor): void {
  cursor.advance();
  do {
    if (cursor.atName || cursor.kind === tokenKind.number) cursor.advance();
    else cursor.fail('an index');
    if (cursor.at('(')) parseIdentifierList(cursor);
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}
