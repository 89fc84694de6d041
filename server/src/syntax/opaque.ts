import type { Cursor } from './cursor.ts';
import { seemsStatementStart, startsDefinition } from './recovery.ts';
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
  const open: number[] = [];
  while (!cursor.atEnd && !cursor.at(';')) {
    if (open.length > 0 ? breaksOffInside(cursor) : cursor.index > from && startsAnother(cursor, words)) break;
    if (words.length < 3 && words.length === cursor.index - from) {
      if (cursor.kind === tokenKind.word || cursor.kind === tokenKind.reserved)
        words.push(cursor.tokenText.toUpperCase());
    }
    checkForm(cursor, cursor.index === from);
    if (cursor.at('(')) open.push(cursor.start);
    // A parenthesis that was not opened here closes something around the statement.
    else if (cursor.at(')') && open.pop() === undefined) break;
    cursor.advance();
  }
  if (cursor.dialect.family === 'tsql') {
    const unclosed = open.pop();
    if (unclosed !== undefined) cursor.report(unclosed, unclosed + 1, "Expected ')' for this parenthesis.");
    else if (unfinished.has(cursor.previousWord)) cursor.fail('the rest of the statement');
  }
  return { kind: 'opaque', start, end: cursor.end, name: words.join(' ') };
}

/** DDL behind an item in a parenthesis that was left open; `(ADD CONTRACT a, DROP CONTRACT b)` are items. */
function breaksOffInside(cursor: Cursor): boolean {
  return startsDefinition(cursor) && cursor.previousWord !== ',' && cursor.previousWord !== '(';
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

/** Words that begin a line in Spark SQL and DuckDB only where a statement begins. */
const openStarts: ReadonlySet<string> = new Set(['CREATE', 'INSERT', 'MERGE']);

function startsAnother(cursor: Cursor, words: readonly string[]): boolean {
  if (cursor.at('END') || cursor.at('ELSE')) return cursor.onNewLine && cursor.dialect.family === 'tsql';
  // Statements of Spark SQL and DuckDB end with a semicolon, and unknown ones may hold queries and clauses.
  if (cursor.dialect.family !== 'tsql') return openStarts.has(cursor.word) && seemsStatementStart(cursor, 1);
  if (cursor.at('ENABLE') || cursor.at('DISABLE')) return cursor.onNewLine && cursor.peek(1) === 'TRIGGER';
  // Behind `WITH` or a comma the statement goes on: `WITH ROLLBACK IMMEDIATE`.
  if (unfinished.has(cursor.previousWord) || !(seemsStatementStart(cursor, 0) || startsWithinLine(cursor)))
    return false;
  const subject = words[1] ?? '';
  switch (cursor.word) {
    case 'IF':
      return !(words[0] === 'DROP' && cursor.peek(1) === 'EXISTS' && cursor.peek(2) !== '(');
    case 'BULK':
      return cursor.peek(1) === 'INSERT';
    case 'RECONFIGURE':
      return subject !== 'RESOURCE';
    case 'EXECUTE':
      return cursor.peek(1) !== 'AS' || cursor.onNewLine;
    case 'WITH':
      return cursor.peek(2) === 'AS' && cursor.peek(3) === '(';
    case 'SET':
      return startsSet(cursor, words[0] === 'ALTER' && subject === 'DATABASE');
    case 'CREATE':
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

/** Reserved words that begin a statement in the middle of a line, too. */
const startsAnywhere: ReadonlySet<string> = new Set([
  'ALTER',
  'BACKUP',
  'BEGIN',
  'BULK',
  'CHECKPOINT',
  'CREATE',
  'DBCC',
  'DECLARE',
  'DELETE',
  'DENY',
  'DROP',
  'EXEC',
  'EXECUTE',
  'GRANT',
  'IF',
  'INSERT',
  'KILL',
  'MERGE',
  'PRINT',
  'RAISERROR',
  'RESTORE',
  'RETURN',
  'REVERT',
  'REVOKE',
  'SELECT',
  'SET',
  'TRUNCATE',
  'UPDATE',
  'WAITFOR',
  'WHILE',
  'WITH',
]);
/** `AFTER INSERT` of a security policy, `GRANT CREATE …` of an availability group, `EXPLAIN SELECT …`. */
const goesOnWithinLine: ReadonlySet<string> = new Set([
  'AFTER',
  'BEFORE',
  'FOR',
  'GRANT',
  'DENY',
  'EXPLAIN',
  'BULK',
  'START',
]);

function startsWithinLine(cursor: Cursor): boolean {
  if (!startsAnywhere.has(cursor.word)) return false;
  if (cursor.previousWord === 'ON') return cursor.word !== 'UPDATE' && cursor.word !== 'DELETE';
  return !goesOnWithinLine.has(cursor.previousWord);
}

/** SET begins a statement where a variable or an option of the session follows. */
function startsSet(cursor: Cursor, ofDatabase: boolean): boolean {
  const option = cursor.peek(1);
  if (cursor.peekKind(1) === tokenKind.variable) return true;
  return isSessionOption(option) && !(ofDatabase && databaseOptions.has(option));
}

/** Options of a session that ALTER DATABASE sets, too. */
const databaseOptions: ReadonlySet<string> = new Set([
  'ANSI_NULLS',
  'ANSI_PADDING',
  'ANSI_WARNINGS',
  'ARITHABORT',
  'CONCAT_NULL_YIELDS_NULL',
  'CURSOR_CLOSE_ON_COMMIT',
  'NUMERIC_ROUNDABORT',
  'QUOTED_IDENTIFIER',
  'RESULT_SET_CACHING',
]);

/** `DROP EVENT` of an event session, `DROP CREDENTIAL` of a login, `ALTER COLUMN` of a full-text index. */
function isOwnPart(cursor: Cursor, subject: string): boolean {
  const part = cursor.peek(1);
  const next = cursor.peek(2);
  if (part === 'EVENT') return subject === 'EVENT' && next !== 'SESSION' && next !== 'NOTIFICATION';
  if (part === 'COLUMN') return next !== 'MASTER' && next !== 'ENCRYPTION';
  return part === 'CREDENTIAL' && (subject === 'LOGIN' || subject === 'SERVER');
}
