import type { Cursor } from './cursor.ts';
import { isSubject } from './subjects.ts';
import { tokenKind } from './tokens.ts';
import type { Word } from './vocabulary.ts';

/** Words that begin a statement and stand nowhere else at the start of a line. */
export const firmStarts: ReadonlySet<string> = new Set([
  'CREATE',
  'ALTER',
  'DROP',
  'DECLARE',
  'INSERT',
  'MERGE',
  'EXEC',
  'EXECUTE',
  'TRUNCATE',
  'PRINT',
  'BEGIN',
  'WHILE',
  'RAISERROR',
  'GRANT',
  'REVOKE',
  'DENY',
  'COMMIT',
  'ROLLBACK',
  'USE',
]);
/** Words that begin a statement but also go on with one. */
const looseStarts: ReadonlySet<string> = new Set([
  'SELECT',
  'UPDATE',
  'DELETE',
  'SET',
  'IF',
  'RETURN',
  'WITH',
  'THROW',
  'OPEN',
  'FETCH',
  'CLOSE',
  'DEALLOCATE',
  'WAITFOR',
  'GOTO',
  'BREAK',
  'CONTINUE',
  'SAVE',
  'RESTORE',
  'BACKUP',
  'DBCC',
  'KILL',
  'CHECKPOINT',
  'RECONFIGURE',
  'REVERT',
  'SHUTDOWN',
]);

/** The current token seems to begin a statement: one of the words above at the start of a line. */
export function seemsStatementStart(cursor: Cursor, open: number): boolean {
  const { word } = cursor;
  const firm = firmStarts.has(word);
  if (!firm && (open > 0 || !looseStarts.has(word))) return false;
  if (!cursor.onNewLine || continuesAlter(cursor)) return false;
  if (startsDefinition(cursor)) return true;
  // `ON DELETE` and `ON UPDATE` go on; `SET … ON` is over.
  if (cursor.previousWord === 'ON') return word !== 'DELETE' && word !== 'UPDATE';
  return !goesOn.has(cursor.previousWord);
}

/** What begins a line like a statement and is part of one: `DROP CONSTRAINT c`, `ALTER COLUMN a`, `SET (…)`, `WITH (…)`. */
function continuesAlter(cursor: Cursor): boolean {
  const next = cursor.peek(1);
  switch (cursor.word) {
    case 'ALTER':
    case 'DROP': {
      // COLUMN MASTER KEY and COLUMN ENCRYPTION KEY are objects.
      const key = cursor.peek(3) === 'KEY';
      return next === 'CONSTRAINT' || (next === 'COLUMN' && !key);
    }
    case 'SET':
    case 'WITH':
      return next === '(';
    default:
      return false;
  }
}

/**
 * The line begins with DDL, which is part of nothing: the statement before it breaks off, whatever its last word.
 * `CREATE TABLE, CREATE VIEW TO u` are permissions.
 */
export function startsDefinition(cursor: Cursor): boolean {
  if (!definitionStarts.has(cursor.word) || !cursor.onNewLine || !isSubject(cursor.peek(1))) return false;
  return ![',', 'TO', 'ON', 'FROM'].includes(cursor.peek(2));
}

const definitionStarts: ReadonlySet<string> = new Set(['CREATE', 'ALTER', 'DROP']);

/** Words after which a statement's word belongs to the statement before it. */
const goesOn: ReadonlySet<string> = new Set([
  'THEN',
  'AS',
  'FOR',
  'AFTER',
  'OF',
  ',',
  '(',
  'UNION',
  'ALL',
  'EXCEPT',
  'INTERSECT',
]);

/**
 * Skips to one of the words on the current level of parentheses. Stops before a semicolon, the end of the batch or the
 * likely start of a statement. Returns whether a word was found.
 */
export function skipUntil(cursor: Cursor, ...words: readonly Word[]): boolean {
  let open = 0;
  while (!cursor.atEnd) {
    const { word } = cursor;
    if (open === 0 && words.some((wanted) => wanted === word)) return true;
    if (word === ';' || seemsStatementStart(cursor, open)) return false;
    if (word === '(') open += 1;
    else if (word === ')') open = Math.max(0, open - 1);
    cursor.advance();
  }
  return false;
}

/**
 * After a mistake in an element of a list in parentheses: skips to the comma or closing parenthesis behind the element
 * and lets problems be reported again. Returns false where the list has no end.
 */
export function recoverElement(cursor: Cursor): boolean {
  const found = skipUntil(cursor, ',', ')');
  if (found) cursor.recovering = false;
  return found;
}

/** A missing item is told by then: what goes on with one of these words right behind it is read as ever. */
export function resumeAt(cursor: Cursor, ...words: readonly Word[]): void {
  if (cursor.recovering && words.some((word) => cursor.at(word))) cursor.recovering = false;
}

/** After a mistake in a statement: skips to where the next one seems to begin. */
export function recoverStatement(cursor: Cursor): void {
  let open = 0;
  while (!cursor.atEnd) {
    const { word } = cursor;
    if (word === ';' || seemsStatementStart(cursor, open)) return;
    if (open <= 0 && (word === 'END' || word === 'ELSE') && cursor.kind === tokenKind.reserved && cursor.onNewLine)
      return;
    if (word === '(') open += 1;
    else if (word === ')') open = Math.max(0, open - 1);
    cursor.advance();
  }
}
