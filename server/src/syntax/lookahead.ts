import type { Cursor } from './cursor.ts';
import type { ErrorExpression, Query } from './tree.ts';

/** The current token begins a query. */
export function startsQuery(cursor: Cursor): boolean {
  if (cursor.at('SELECT')) return true;
  if (cursor.dialect.family === 'tsql') return false;
  return (
    cursor.at('WITH') ||
    (cursor.at('VALUES') && cursor.peek(1) === '(') ||
    (cursor.at('FROM') && (cursor.dialect.family === 'duckdb' || cursor.nameAhead(1))) ||
    (cursor.at('TABLE') && cursor.nameAhead(1)) ||
    cursor.at('PIVOT') ||
    cursor.at('DESCRIBE') ||
    cursor.at('SHOW') ||
    cursor.at('SUMMARIZE')
  );
}

/** A query in parentheses: where one may follow a FROM clause without a semicolon, it is the next statement. */
export function atQueryInParentheses(cursor: Cursor): boolean {
  let distance = 1;
  while (cursor.peek(distance) === '(') distance += 1;
  return cursor.peek(distance) === 'SELECT';
}

/** A set operator or ORDER BY after a query in parentheses. */
export function atQueryContinuation(cursor: Cursor): boolean {
  return (
    cursor.at('UNION') ||
    cursor.at('EXCEPT') ||
    cursor.at('INTERSECT') ||
    cursor.at('ORDER') ||
    (cursor.dialect.family !== 'tsql' && (cursor.at('MINUS') || cursor.at('LIMIT')))
  );
}

export function continueQuery(cursor: Cursor, first: Query, start: number, end: number): Query {
  return cursor.grammar.queryFrom(cursor, { kind: 'query-group', start, end, query: first });
}

/** Stands for an expression that could not be read; the problem was reported. */
export function errorHere(cursor: Cursor): ErrorExpression {
  return { kind: 'error', start: cursor.end, end: cursor.end };
}
