import type { Cursor } from './cursor.ts';
import { closeParenthesis } from './names.ts';
import { listOf, none } from './none.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, FrameBound, OrderItem, Window, WindowFrame } from './tree.ts';

/** ORDER BY with its items; the current token is ORDER. */
export function parseOrderBy(cursor: Cursor): readonly OrderItem[] {
  const items: OrderItem[] = [];
  cursor.expect('ORDER');
  cursor.expect('BY');
  if (cursor.dialect.family !== 'tsql' && cursor.at('ALL')) {
    const { start } = cursor;
    const name = cursor.takeIdentifier();
    const expression: Expression = { kind: 'column', start, end: cursor.end, parts: [name] };
    const descending = cursor.eatAny('ASC', 'DESC') === 'DESC';
    return [{ kind: 'order-item', start, end: cursor.end, expression, descending, nulls: parseNullsOrder(cursor) }];
  }
  do {
    const { start } = cursor;
    const expression = cursor.grammar.value(cursor);
    const descending = cursor.eatAny('ASC', 'DESC') === 'DESC';
    const nulls = parseNullsOrder(cursor);
    items.push({ kind: 'order-item', start, end: cursor.end, expression, descending, nulls });
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(items);
}

function parseNullsOrder(cursor: Cursor): 'first' | 'last' | null {
  if (cursor.dialect.family === 'tsql' || !cursor.at('NULLS')) return null;
  cursor.advance();
  if (cursor.eat('FIRST')) return 'first';
  cursor.expect('LAST');
  return 'last';
}

/** OVER with a window in parentheses or a window's name. */
export function parseOver(cursor: Cursor): Window {
  const { start } = cursor;
  cursor.advance();
  if (!cursor.at('(')) {
    const name = cursor.identifier("'(' or the name of a window");
    return { kind: 'window', start, end: cursor.end, name, partitionBy: none, orderBy: none, frame: null };
  }
  return parseWindow(cursor, start);
}

/** A window's specification in parentheses. */
export function parseWindow(cursor: Cursor, start: number): Window {
  // Spark's WINDOW clause may name another window: `w2 AS w1`.
  if (cursor.dialect.family === 'spark' && cursor.atName) {
    const name = cursor.takeIdentifier();
    return { kind: 'window', start, end: cursor.end, name, partitionBy: none, orderBy: none, frame: null };
  }
  cursor.expect('(');
  const name =
    cursor.atName && !isWindowClause(cursor.word) && (cursor.peek(1) === ')' || isWindowClause(cursor.peek(1)))
      ? cursor.takeIdentifier()
      : null;
  const partitionBy: Expression[] = [];
  const byWord = cursor.dialect.family === 'spark' ? cursor.at('DISTRIBUTE') || cursor.at('CLUSTER') : false;
  if (cursor.at('PARTITION') || byWord) {
    cursor.advance();
    cursor.expect('BY');
    do partitionBy.push(cursor.grammar.value(cursor));
    while (!cursor.recovering && cursor.eat(','));
  }
  const orderBy =
    cursor.at('ORDER') || (cursor.dialect.family === 'spark' && cursor.at('SORT')) ? windowOrder(cursor) : none;
  const frame = cursor.at('ROWS') || cursor.at('RANGE') || cursor.at('GROUPS') ? parseFrame(cursor) : null;
  closeParenthesis(cursor);
  return { kind: 'window', start, end: cursor.end, name, partitionBy, orderBy, frame };
}

function windowOrder(cursor: Cursor): readonly OrderItem[] {
  if (cursor.at('ORDER')) return parseOrderBy(cursor);
  cursor.advance();
  const items: OrderItem[] = [];
  cursor.expect('BY');
  do {
    const { start } = cursor;
    const expression = cursor.grammar.value(cursor);
    const descending = cursor.eatAny('ASC', 'DESC') === 'DESC';
    items.push({ kind: 'order-item', start, end: cursor.end, expression, descending, nulls: parseNullsOrder(cursor) });
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(items);
}

function isWindowClause(word: string): boolean {
  return word === 'PARTITION' || word === 'ORDER' || word === 'ROWS' || word === 'RANGE' || word === 'GROUPS';
}

function parseFrame(cursor: Cursor): WindowFrame {
  const { start } = cursor;
  const unit = cursor.at('ROWS') ? 'rows' : cursor.at('RANGE') ? 'range' : 'groups';
  cursor.advance();
  if (cursor.eat('BETWEEN')) {
    const from = parseBound(cursor);
    cursor.expect('AND');
    const to = parseBound(cursor);
    checkRange(cursor, unit, from);
    checkRange(cursor, unit, to);
    skipExclude(cursor);
    return { kind: 'window-frame', start, end: cursor.end, unit, from, to };
  }
  const from = parseBound(cursor);
  checkRange(cursor, unit, from);
  if (cursor.dialect.family === 'tsql' && (from.type === 'following' || from.type === 'unbounded-following')) {
    cursor.report(
      from.start,
      from.end,
      'Expected PRECEDING or CURRENT ROW: a frame that ends FOLLOWING needs BETWEEN.',
    );
  }
  skipExclude(cursor);
  return { kind: 'window-frame', start, end: cursor.end, unit, from, to: null };
}

/** On T-SQL a RANGE frame counts no rows. */
function checkRange(cursor: Cursor, unit: WindowFrame['unit'], bound: FrameBound): void {
  if (unit !== 'range' || bound.offset === null || cursor.dialect.family !== 'tsql') return;
  cursor.report(bound.start, bound.end, 'Expected UNBOUNDED or CURRENT ROW: RANGE takes no number of rows.');
}

function skipExclude(cursor: Cursor): void {
  if (cursor.dialect.family !== 'duckdb' || !cursor.eat('EXCLUDE')) return;
  while (!cursor.at(')') && !cursor.atEnd) cursor.advance();
}

function parseBound(cursor: Cursor): FrameBound {
  const { start } = cursor;
  if (cursor.eat('CURRENT')) {
    cursor.expect('ROW');
    return { kind: 'frame-bound', start, end: cursor.end, type: 'current-row', offset: null };
  }
  const unbounded = cursor.eat('UNBOUNDED');
  if (!unbounded && cursor.dialect.family === 'tsql' && cursor.kind !== tokenKind.number) {
    cursor.fail('UNBOUNDED, CURRENT ROW or a number of rows');
  }
  const offset = unbounded ? null : cursor.grammar.value(cursor);
  const preceding = cursor.eat('PRECEDING');
  if (!preceding && !cursor.eat('FOLLOWING')) cursor.fail('PRECEDING or FOLLOWING');
  const side = preceding ? 'preceding' : 'following';
  const type = unbounded ? (preceding ? 'unbounded-preceding' : 'unbounded-following') : side;
  return { kind: 'frame-bound', start, end: cursor.end, type, offset };
}
