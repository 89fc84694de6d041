import type { Cursor } from './cursor.ts';
import { closeParenthesis } from './names.ts';
import { tokenKind } from './tokens.ts';
import type { OpaqueClause } from './tree.ts';

/** FOR SYSTEM_TIME … (T-SQL), VERSION or TIMESTAMP AS OF … (Spark), AT (…) (DuckDB). */
export function parseTimeTravel(cursor: Cursor): OpaqueClause | null {
  const { start } = cursor;
  if (cursor.dialect.family === 'tsql') {
    if (!cursor.at('FOR')) return null;
    const next = cursor.peek(1);
    if (next === 'PATH') {
      cursor.advance();
      cursor.advance();
      return { kind: 'opaque-clause', start, end: cursor.end, name: 'FOR PATH' };
    }
    if (next !== 'SYSTEM_TIME' && !(next === 'TIMESTAMP' && cursor.dialect.platform === 'fabric')) return null;
    cursor.advance();
    cursor.advance();
    parseSystemTime(cursor);
    cursor.eatSequence('FOR', 'PATH');
    return { kind: 'opaque-clause', start, end: cursor.end, name: 'FOR SYSTEM_TIME' };
  }
  if (cursor.dialect.family === 'duckdb') {
    if (!cursor.at('AT') || cursor.peek(1) !== '(') return null;
    cursor.advance();
    cursor.skipParentheses();
    return { kind: 'opaque-clause', start, end: cursor.end, name: 'AT' };
  }
  cursor.eatSequence('FOR');
  const kind = cursor.word;
  if (!['VERSION', 'TIMESTAMP', 'SYSTEM_VERSION', 'SYSTEM_TIME'].includes(kind) || cursor.peek(1) !== 'AS') return null;
  cursor.advance();
  cursor.advance();
  cursor.expect('OF');
  cursor.grammar.value(cursor);
  return { kind: 'opaque-clause', start, end: cursor.end, name: `${kind} AS OF` };
}

function parseSystemTime(cursor: Cursor): void {
  if (cursor.eat('ALL')) return;
  if (cursor.at('AS')) {
    cursor.advance();
    cursor.expect('OF');
    cursor.grammar.value(cursor);
  } else if (cursor.at('FROM') || cursor.at('BETWEEN')) {
    const middle = cursor.at('FROM') ? 'TO' : 'AND';
    cursor.advance();
    cursor.grammar.value(cursor);
    cursor.expect(middle);
    cursor.grammar.value(cursor);
  } else if (cursor.at('CONTAINED')) {
    cursor.advance();
    cursor.expect('IN');
    cursor.expect('(');
    cursor.grammar.value(cursor);
    cursor.expect(',');
    cursor.grammar.value(cursor);
    closeParenthesis(cursor);
  } else cursor.fail('AS OF, FROM, BETWEEN, CONTAINED IN or ALL');
}

/** TABLESAMPLE with its size; null where none stands. */
export function parseSample(cursor: Cursor): OpaqueClause | null {
  if (!cursor.at('TABLESAMPLE')) return null;
  const { start } = cursor;
  cursor.advance();
  if (cursor.atName) cursor.advance();
  if (cursor.at('(')) cursor.skipParentheses();
  else if (cursor.kind === tokenKind.number && cursor.dialect.family === 'duckdb') {
    cursor.advance();
    if (!cursor.eat('%')) cursor.eatAny('PERCENT', 'ROWS');
  } else cursor.fail("'('");
  if (cursor.at('REPEATABLE')) {
    cursor.advance();
    if (cursor.at('(')) cursor.skipParentheses();
  }
  return { kind: 'opaque-clause', start, end: cursor.end, name: 'TABLESAMPLE' };
}
