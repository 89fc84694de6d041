import type { Cursor } from './cursor.ts';
import { atQueryContinuation, continueQuery, startsQuery } from './lookahead.ts';
import { closeParenthesis } from './names.ts';
import { none } from './none.ts';
import type { Expression } from './tree.ts';

/** `( query )`, `( expression )`, `( a, b )`. */
export function parseParenthesis(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  return parseInside(cursor, start);
}

function parseInside(cursor: Cursor, start: number): Expression {
  if (startsQuery(cursor)) {
    const query = cursor.grammar.query(cursor);
    closeParenthesis(cursor);
    return { kind: 'subquery', start, end: cursor.end, query };
  }
  if (cursor.dialect.family === 'spark' && cursor.eat(')'))
    return { kind: 'tuple', start, end: cursor.end, items: none };
  const inner = aliasedItem(cursor, cursor.grammar.expression(cursor));
  if (inner.kind === 'subquery' && atQueryContinuation(cursor)) {
    const query = continueQuery(cursor, inner.query, inner.start, inner.end);
    closeParenthesis(cursor);
    return { kind: 'subquery', start, end: cursor.end, query };
  }
  if (cursor.at(',') && cursor.dialect.family !== 'tsql') {
    const items = [inner];
    while (!cursor.recovering && cursor.eat(',')) {
      if (cursor.at(')')) break;
      items.push(aliasedItem(cursor, cursor.grammar.expression(cursor)));
    }
    closeParenthesis(cursor);
    return { kind: 'tuple', start, end: cursor.end, items };
  }
  // In T-SQL a query in two pairs of parentheses stays a query.
  closeParenthesis(cursor);
  if (inner.kind === 'subquery') return { ...inner, start, end: cursor.end };
  return { kind: 'parenthesis', start, end: cursor.end, inner };
}

/** Spark names the fields of a row: `(a AS x, b AS y)`. */
function aliasedItem(cursor: Cursor, value: Expression): Expression {
  if (cursor.dialect.family !== 'spark' || !cursor.at('AS') || !cursor.nameAhead(1)) return value;
  cursor.advance();
  const alias = cursor.takeIdentifier();
  const name: Expression = { kind: 'column', start: alias.start, end: alias.end, parts: [alias] };
  return { kind: 'named-argument', start: value.start, end: cursor.end, name, value };
}
