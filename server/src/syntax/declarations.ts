import type { Cursor } from './cursor.ts';
import { skipForUpdate } from './forClause.ts';
import { none } from './none.ts';
import { parseQueryWithTables } from './queries.ts';
import { tokenKind } from './tokens.ts';
import type { DeclaredVariable, Identifier, Query, Statement, Variable } from './tree.ts';
import { parseDataType } from './types.ts';

/** DECLARE of variables, a table variable or a cursor. */
export function parseDeclare(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  if (cursor.kind !== tokenKind.variable) {
    if (cursor.atName) return parseDeclareCursor(cursor, start);
    cursor.fail('a variable');
    return { kind: 'declare', start, end: cursor.end, variables: none };
  }
  const distance = cursor.peek(1) === 'AS' ? 2 : 1;
  if (cursor.peek(distance) === 'TABLE') return parseDeclareTable(cursor, start);
  const variables: DeclaredVariable[] = [];
  do variables.push(parseVariable(cursor));
  while (!cursor.recovering && cursor.eat(','));
  return { kind: 'declare', start, end: cursor.end, variables };
}

function parseDeclareTable(cursor: Cursor, start: number): Statement {
  const name = cursor.tokenText;
  const variable: Variable = { kind: 'variable', start: cursor.start, end: cursor.currentEnd, name };
  cursor.advance();
  cursor.eat('AS');
  cursor.advance();
  const elements = cursor.grammar.tableElements(cursor);
  return { kind: 'declare-table', start, end: cursor.end, name, variable, elements };
}

function parseVariable(cursor: Cursor): DeclaredVariable {
  const { start } = cursor;
  const name = cursor.tokenText;
  if (cursor.kind === tokenKind.variable) cursor.advance();
  else {
    cursor.fail('a variable');
    return { kind: 'declared-variable', start: cursor.end, end: cursor.end, name: '', type: null, value: null };
  }
  cursor.eat('AS');
  if (cursor.eat('CURSOR')) return { kind: 'declared-variable', start, end: cursor.end, name, type: null, value: null };
  const type = parseDataType(cursor);
  if (cursor.at('NOT') && cursor.peek(1) === 'NULL') {
    cursor.advance();
    cursor.advance();
  } else cursor.eat('NULL');
  const value = cursor.eat('=') ? cursor.grammar.value(cursor) : null;
  return { kind: 'declared-variable', start, end: cursor.end, name, type, value };
}

const cursorOptions: ReadonlySet<string> = new Set([
  'LOCAL',
  'GLOBAL',
  'FORWARD_ONLY',
  'SCROLL',
  'STATIC',
  'KEYSET',
  'DYNAMIC',
  'FAST_FORWARD',
  'READ_ONLY',
  'SCROLL_LOCKS',
  'OPTIMISTIC',
  'TYPE_WARNING',
  'INSENSITIVE',
]);

function parseDeclareCursor(cursor: Cursor, start: number): Statement {
  const name = cursor.takeIdentifier();
  while (cursor.at('INSENSITIVE') || cursor.at('SCROLL')) cursor.advance();
  const query = cursor.expect('CURSOR') ? parseCursorQuery(cursor) : null;
  return { kind: 'declare-cursor', start, end: cursor.end, name, query };
}

/** What follows CURSOR: options, FOR query, FOR UPDATE. */
export function parseCursorQuery(cursor: Cursor): Query | null {
  while (cursorOptions.has(cursor.word)) cursor.advance();
  if (!cursor.expect('FOR')) return null;
  const query = parseQueryWithTables(cursor);
  skipHints(cursor);
  if (cursor.at('FOR')) {
    skipForUpdate(cursor);
    skipHints(cursor);
  }
  return query;
}

function skipHints(cursor: Cursor): void {
  if (!cursor.eat('OPTION')) return;
  if (cursor.at('(')) cursor.skipParentheses();
  else cursor.fail("'('");
}

/** OPEN, CLOSE and DEALLOCATE of a cursor; FETCH … INTO. */
export function parseCursorStatement(cursor: Cursor): Statement {
  const { start, word } = cursor;
  cursor.advance();
  if (word === 'FETCH') parseFetch(cursor);
  else {
    const isKey = cursor.peek(1) === 'KEY' && (cursor.at('SYMMETRIC') || cursor.at('MASTER'));
    if (isKey || (cursor.at('ALL') && cursor.peek(1) === 'SYMMETRIC')) parseKeyStatement(cursor);
    else parseCursorName(cursor);
  }
  return { kind: 'opaque', start, end: cursor.end, name: word };
}

/** OPEN and CLOSE of encryption keys: `SYMMETRIC KEY k DECRYPTION BY …`, `MASTER KEY …`, `ALL SYMMETRIC KEYS`. */
function parseKeyStatement(cursor: Cursor): void {
  const { word } = cursor;
  cursor.advance();
  cursor.advance();
  if (word === 'ALL') {
    if (cursor.atName) cursor.advance();
    else cursor.fail('KEYS');
    return;
  }
  if (word === 'SYMMETRIC') cursor.identifier('a key');
  if (!/^decryption$/i.test(cursor.tokenText)) return;
  cursor.advance();
  cursor.expect('BY');
  while (cursor.at('CERTIFICATE') || cursor.at('SYMMETRIC') || cursor.at('ASYMMETRIC')) {
    const isCertificate = cursor.at('CERTIFICATE');
    cursor.advance();
    if (!isCertificate) cursor.expect('KEY');
    cursor.identifier('a key or certificate');
    if (!cursor.eat('WITH')) return;
  }
  if (/^password$/i.test(cursor.tokenText)) cursor.advance();
  else cursor.fail('PASSWORD, CERTIFICATE, SYMMETRIC KEY or ASYMMETRIC KEY');
  cursor.expect('=');
  cursor.grammar.settingValue(cursor);
}

function parseCursorName(cursor: Cursor): Identifier | null {
  if (cursor.at('GLOBAL') && cursor.nameAhead(1)) cursor.advance();
  if (cursor.kind === tokenKind.variable) {
    cursor.advance();
    return null;
  }
  return cursor.identifier('a cursor');
}

function parseFetch(cursor: Cursor): void {
  const position = cursor.eatAny('NEXT', 'PRIOR', 'FIRST', 'LAST', 'ABSOLUTE', 'RELATIVE');
  if (position === 'ABSOLUTE' || position === 'RELATIVE') cursor.grammar.operand(cursor);
  if (position !== null) cursor.expect('FROM');
  else cursor.eat('FROM');
  parseCursorName(cursor);
  if (!cursor.eat('INTO')) return;
  do {
    if (cursor.kind === tokenKind.variable) cursor.advance();
    else cursor.fail('a variable');
  } while (!cursor.recovering && cursor.eat(','));
}
