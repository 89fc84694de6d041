import type { Cursor } from './cursor.ts';
import { errorHere, startsQuery } from './lookahead.ts';
import { closeParenthesis } from './names.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Top } from './tree.ts';

/** TOP; the current token is TOP. Parentheses may be left out around a constant in SELECT only. */
export function parseTop(cursor: Cursor, inSelect = false): Top {
  const { start } = cursor;
  cursor.advance();
  let count: Expression;
  if (cursor.at('(')) {
    cursor.advance();
    const inner = startsQuery(cursor) ? null : cursor.grammar.value(cursor);
    if (inner === null) {
      const queryStart = cursor.start;
      const query = cursor.grammar.query(cursor);
      count = { kind: 'subquery', start: queryStart, end: cursor.end, query };
    } else count = inner;
    closeParenthesis(cursor);
  } else if (inSelect && (cursor.kind === tokenKind.number || cursor.tokenText.startsWith('$('))) {
    const { start: from, tokenText } = cursor;
    cursor.advance();
    count = { kind: 'literal', start: from, end: cursor.end, type: 'number', value: tokenText, typeName: null };
  } else {
    cursor.fail(inSelect ? "a number or '('" : "'('");
    count = errorHere(cursor);
  }
  const percent = cursor.eat('PERCENT');
  const withTies = cursor.at('WITH') && cursor.peek(1) === 'TIES';
  if (withTies) {
    cursor.advance();
    cursor.advance();
  }
  return { kind: 'top', start, end: cursor.end, count, percent, withTies };
}
