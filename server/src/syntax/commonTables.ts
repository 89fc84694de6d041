import type { Cursor } from './cursor.ts';
import { startsQuery } from './lookahead.ts';
import { closeParenthesis, parseIdentifierList, skipToClosing } from './names.ts';
import { none } from './none.ts';
import { plainQuery } from './plainQuery.ts';
import { tokenKind } from './tokens.ts';
import type { CommonTable, Query, QueryBody, WithClause } from './tree.ts';

/** WITH and its common tables; the current token is WITH. */
export function parseWith(cursor: Cursor): WithClause {
  const { start } = cursor;
  cursor.advance();
  const recursive = cursor.dialect.family !== 'tsql' && cursor.eat('RECURSIVE');
  if (cursor.dialect.family === 'tsql' && cursor.at('XMLNAMESPACES') && cursor.peek(1) === '(') {
    cursor.advance();
    parseNamespaces(cursor);
    if (!cursor.eat(',')) return { kind: 'with', start, end: cursor.end, recursive, tables: none };
  }
  if (cursor.dialect.family === 'tsql' && cursor.at('CHANGE_TRACKING_CONTEXT') && cursor.peek(1) === '(') {
    cursor.advance();
    cursor.skipParentheses();
    if (!cursor.eat(',')) return { kind: 'with', start, end: cursor.end, recursive, tables: none };
  }
  const tables: CommonTable[] = [];
  do {
    tables.push(parseCommonTable(cursor));
  } while (!cursor.recovering && cursor.eat(','));
  return { kind: 'with', start, end: cursor.end, recursive, tables };
}

/** `( 'uri' AS prefix, DEFAULT 'uri' )`. */
function parseNamespaces(cursor: Cursor): void {
  cursor.advance();
  do {
    const isDefault = cursor.eat('DEFAULT');
    if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString) cursor.advance();
    else cursor.fail('the URI of a namespace as a string');
    if (!isDefault && cursor.expect('AS')) cursor.identifier('a prefix');
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}

function parseCommonTable(cursor: Cursor): CommonTable {
  const { start } = cursor;
  const name = cursor.identifier('the name of a common table expression');
  const columns =
    cursor.at('(') && !(cursor.dialect.family === 'spark' && cursor.peek(1) === 'SELECT')
      ? parseIdentifierList(cursor)
      : [];
  if (cursor.dialect.family !== 'tsql') {
    if (cursor.at('USING') && cursor.peek(1) === 'KEY') {
      cursor.advance();
      cursor.advance();
      if (cursor.at('(')) cursor.skipParentheses();
    }
    if (cursor.at('MAX') || cursor.at('RECURSION')) while (!cursor.at('AS') && !cursor.atEnd) cursor.advance();
    if (!cursor.eat('AS') && cursor.dialect.family !== 'spark') cursor.fail('AS');
    if (cursor.eat('NOT') || cursor.at('MATERIALIZED')) cursor.eat('MATERIALIZED');
  } else {
    cursor.expect('AS');
  }
  if (!cursor.expect('('))
    return { kind: 'common-table', start, end: cursor.end, name, columns, query: emptyQuery(cursor) };
  const query =
    cursor.at('(') || startsQuery(cursor) || cursor.dialect.family === 'tsql' || isInMiddle(cursor)
      ? cursor.grammar.query(cursor)
      : opaqueQuery(cursor);
  closeParenthesis(cursor);
  return { kind: 'common-table', start, end: cursor.end, name, columns, query };
}

/** A value, or a name that goes on, is no statement: the word that begins the query was lost. */
function isInMiddle(cursor: Cursor): boolean {
  if (cursor.kind === tokenKind.number || cursor.kind === tokenKind.string) return true;
  return cursor.nameAhead(0) && (cursor.peek(1) === '.' || cursor.peek(1) === ',');
}

/** DuckDB and Spark take further statements as queries (INSERT … RETURNING, SHOW …); only their bounds are known. */
function opaqueQuery(cursor: Cursor): Query {
  const { start } = cursor;
  skipToClosing(cursor);
  const body: QueryBody = { kind: 'from-first', start, end: cursor.end, from: none };
  return plainQuery(start, cursor.end, body);
}

function emptyQuery(cursor: Cursor): Query {
  const { end } = cursor;
  const body: QueryBody = { kind: 'from-first', start: end, end, from: none };
  return plainQuery(end, end, body);
}
