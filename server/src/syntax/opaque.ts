import type { Cursor } from './cursor.ts';
import { seemsStatementStart } from './recovery.ts';
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
    if (cursor.at('(')) open += 1;
    else if (cursor.at(')')) {
      // A parenthesis that was not opened here closes something around the statement.
      if (open === 0) break;
      open -= 1;
    }
    cursor.advance();
  }
  return { kind: 'opaque', start, end: cursor.end, name: words.join(' ') };
}

/** A statement that is understood as far as it was read, kept without a tree of its own. */
export function opaqueStatement(cursor: Cursor, start: number, name: string): OpaqueStatement {
  return { kind: 'opaque', start, end: cursor.end, name };
}

/** Words of these statements' own clauses that begin lines in them. */
const ownClauses: Readonly<Record<string, readonly string[]>> = {
  DATABASE: ['SET', 'WITH'],
  EVENT: ['ADD', 'WITH', 'DROP', 'ALTER'],
  SERVER: ['ADD', 'WITH', 'DROP', 'ALTER'],
  AVAILABILITY: ['ADD', 'WITH', 'GRANT', 'DENY', 'SET', 'REMOVE'],
  ENDPOINT: ['FOR', 'WITH'],
  WORKLOAD: ['WITH'],
};

function startsAnother(cursor: Cursor, words: readonly string[]): boolean {
  if (cursor.at('END') || cursor.at('ELSE')) return cursor.onNewLine && cursor.dialect.family === 'tsql';
  if (!seemsStatementStart(cursor, 0)) return false;
  if (cursor.at('WITH')) return cursor.peek(2) === 'AS' && cursor.peek(3) === '(';
  const own = ownClauses[words[1] ?? ''];
  if (own?.includes(cursor.word) === true) {
    return cursor.at('SET') &&
      (cursor.peekKind(1) === tokenKind.variable || cursor.peek(2) === 'ON' || cursor.peek(2) === 'OFF')
      ? cursor.peekKind(1) === tokenKind.variable || cursor.peek(1) === 'NOCOUNT'
      : false;
  }
  return true;
}
