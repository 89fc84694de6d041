import type { Cursor } from './cursor.ts';
import { seemsStatementStart } from './recovery.ts';
import { isSessionOption } from './settings.ts';
import { isSubject } from './subjects.ts';
import { tokenKind } from './tokens.ts';
import type { OpaqueStatement } from './tree.ts';

/**
 * A statement of which only the bounds are known, from its first word on: up to a semicolon, the end of the batch, or
 * a line that begins with the first word of another statement.
 */
export function parseOpaque(cursor: Cursor, start = cursor.start): OpaqueStatement {
  const words: string[] = [];
  const from = cursor.index;
  let open = 0;
  while (!cursor.atEnd && !cursor.at(';')) {
    if (cursor.index > from && open <= 0 && startsAnother(cursor, words)) break;
    if (words.length < 3 && words.length === cursor.index - from) {
      if (cursor.kind === tokenKind.word || cursor.kind === tokenKind.reserved)
        words.push(cursor.tokenText.toUpperCase());
    }
    checkForm(cursor, cursor.index === from);
    if (cursor.at('(')) open += 1;
    else if (cursor.at(')')) {
      // A parenthesis that was not opened here closes something around the statement.
      if (open === 0) break;
      open -= 1;
    }
    cursor.advance();
  }
  if (cursor.dialect.family === 'tsql') {
    if (open > 0) cursor.fail("')'");
    else if (unfinished.has(cursor.previousWord)) cursor.fail('the rest of the statement');
  }
  return { kind: 'opaque', start, end: cursor.end, name: words.join(' ') };
}

/** Words and marks that no statement ends with. */
const unfinished: ReadonlySet<string> = new Set([',', '.', '=', '::', 'WITH', 'TO', 'FROM', 'SET', 'AS', 'ADD', 'BY']);
/** Reserved words that never stand twice in a row. */
const single: ReadonlySet<string> = new Set([
  'WITH',
  'TO',
  'FROM',
  'SET',
  'AS',
  'ADD',
  'ON',
  'FOR',
  'CREATE',
  'ALTER',
  'DROP',
  'BULK',
  'KILL',
]);

/** What holds in any statement of T-SQL: an item on both sides of a comma, a value behind an equals sign. */
function checkForm(cursor: Cursor, isFirst: boolean): void {
  if (cursor.dialect.family !== 'tsql' || isFirst) return;
  const { word, previousWord } = cursor;
  const comma = word === ',' && (previousWord === ',' || previousWord === '(' || previousWord === '=');
  const closing = word === ')' && (previousWord === ',' || previousWord === '=');
  const equals = word === '=' && (previousWord === '=' || previousWord === ',' || previousWord === '(');
  if (comma || closing || equals || (single.has(word) && previousWord === word)) cursor.fail('another item');
}

/** A statement that is understood as far as it was read, kept without a tree of its own. */
export function opaqueStatement(cursor: Cursor, start: number, name: string): OpaqueStatement {
  return { kind: 'opaque', start, end: cursor.end, name };
}

function startsAnother(cursor: Cursor, words: readonly string[]): boolean {
  if (cursor.at('END') || cursor.at('ELSE')) return cursor.onNewLine && cursor.dialect.family === 'tsql';
  // Statements of Spark SQL and DuckDB end with a semicolon, and unknown ones may hold queries.
  if (!seemsStatementStart(cursor, cursor.dialect.family === 'tsql' ? 0 : 1)) return false;
  const subject = words[1] ?? '';
  switch (cursor.word) {
    case 'WITH':
      return cursor.peek(2) === 'AS' && cursor.peek(3) === '(';
    case 'SET':
      return cursor.peekKind(1) === tokenKind.variable || startsSetting(cursor, subject);
    case 'DROP':
    case 'ALTER':
      return isSubject(cursor.peek(1)) && !isOwnPart(cursor, subject);
    case 'GRANT':
    case 'DENY':
      return subject !== 'AVAILABILITY';
    default:
      return true;
  }
}

/** Options of a database are set by the words that also set a session's. */
function startsSetting(cursor: Cursor, subject: string): boolean {
  const option = cursor.peek(1);
  return subject === 'DATABASE' ? option === 'NOCOUNT' : isSessionOption(option);
}

/** `DROP EVENT` of an event session, `DROP CREDENTIAL` of a login, `ALTER COLUMN` of a full-text index. */
function isOwnPart(cursor: Cursor, subject: string): boolean {
  const part = cursor.peek(1);
  const next = cursor.peek(2);
  if (part === 'EVENT') return subject === 'EVENT' && next !== 'SESSION' && next !== 'NOTIFICATION';
  if (part === 'COLUMN') return next !== 'MASTER' && next !== 'ENCRYPTION';
  return part === 'CREDENTIAL' && (subject === 'LOGIN' || subject === 'SERVER');
}
