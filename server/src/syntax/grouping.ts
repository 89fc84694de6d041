import type { Cursor } from './cursor.ts';
import { closeParenthesis } from './names.ts';
import { listOf, none } from './none.ts';
import type { Expression, GroupBy, Identifier, OpaqueClause, SelectItem } from './tree.ts';

/** GROUP BY with its items; the current token is GROUP. */
export function parseGroupBy(cursor: Cursor): GroupBy {
  return readGroupBy(cursor, null);
}

/**
 * The GROUP BY of the pipe operator AGGREGATE: its items may have aliases and are columns of the result, so they stand
 * among the items of the SELECT, and the clause itself is empty.
 */
export function parseGroupedItems(cursor: Cursor): {
  readonly groupBy: GroupBy;
  readonly items: readonly SelectItem[];
} {
  const items: SelectItem[] = [];
  const groupBy = readGroupBy(cursor, items);
  return { groupBy: { ...groupBy, items: none }, items };
}

function readGroupBy(cursor: Cursor, aliased: SelectItem[] | null): GroupBy {
  const { start } = cursor;
  const clauses: OpaqueClause[] = [];
  cursor.advance();
  cursor.expect('BY');
  const items: Expression[] = [];
  // Spark: in GROUP BY all, b the word is a column's name.
  const all = cursor.at('ALL') && !(cursor.dialect.family === 'spark' && cursor.peek(1) === ',');
  if (all) cursor.advance();
  const { family } = cursor.dialect;
  if (!all || family === 'tsql') {
    do {
      // DuckDB takes a comma behind the last item.
      if (items.length > 0 && family === 'duckdb' && endsGroupBy(cursor)) break;
      const item = parseGroupItem(cursor);
      items.push(item);
      if (aliased !== null) aliased.push(aliasedItem(cursor, item));
    } while (!cursor.recovering && cursor.eat(','));
  }
  // WITH ROLLUP, WITH CUBE; Synapse and PDW put WITH (DISTRIBUTED_AGG) behind an item.
  if (cursor.at('WITH') && (cursor.peek(1) === 'ROLLUP' || cursor.peek(1) === 'CUBE')) {
    const from = cursor.start;
    cursor.advance();
    const name = `WITH ${cursor.word}`;
    cursor.advance();
    clauses.push({ kind: 'opaque-clause', start: from, end: cursor.end, name });
  }
  if (family === 'spark' && cursor.at('GROUPING') && cursor.peek(1) === 'SETS') {
    const from = cursor.start;
    cursor.advance();
    cursor.advance();
    if (cursor.at('(')) cursor.skipParentheses();
    clauses.push({ kind: 'opaque-clause', start: from, end: cursor.end, name: 'GROUPING SETS' });
  }
  return { kind: 'group-by', start, end: cursor.end, all, items, clauses };
}

function endsGroupBy(cursor: Cursor): boolean {
  return cursor.atEnd || [';', ')', 'HAVING', 'ORDER', 'QUALIFY', 'LIMIT', 'WINDOW'].includes(cursor.word);
}

function aliasedItem(cursor: Cursor, expression: Expression): SelectItem {
  const { start } = expression;
  const as = cursor.eat('AS');
  const alias: Identifier | null = as ? cursor.identifier('an alias') : cursor.atName ? cursor.takeIdentifier() : null;
  const aliasStyle = alias === null ? null : as ? 'as' : 'bare';
  return { kind: 'select-item', start, end: cursor.end, expression, alias, aliasStyle, assigns: null };
}

function parseGroupItem(cursor: Cursor): Expression {
  const { start } = cursor;
  if (cursor.at('GROUPING') && cursor.peek(1) === 'SETS') return parseGroupCall(cursor, 2);
  if ((cursor.at('ROLLUP') || cursor.at('CUBE')) && cursor.peek(1) === '(') return parseGroupCall(cursor, 1);
  if (cursor.at('(')) {
    const tuple = tryTuple(cursor);
    if (tuple !== null) return tuple;
  }
  const value = cursor.grammar.value(cursor);
  if (
    cursor.dialect.family === 'tsql' &&
    cursor.at('WITH') &&
    cursor.peek(1) === '(' &&
    cursor.peek(2) === 'DISTRIBUTED_AGG'
  ) {
    cursor.advance();
    cursor.skipParentheses();
  }
  return { ...value, start };
}

/** `()` and `(a, b)`; a single expression in parentheses is left to the expression grammar. */
function tryTuple(cursor: Cursor): Expression | null {
  const { start } = cursor;
  if (cursor.peek(1) === ')') {
    cursor.advance();
    cursor.advance();
    return { kind: 'tuple', start, end: cursor.end, items: none };
  }
  return null;
}

function parseGroupCall(cursor: Cursor, words: number): Expression {
  const { start } = cursor;
  const text: string[] = [];
  for (let count = 0; count < words; count += 1) {
    text.push(cursor.word);
    cursor.advance();
  }
  const name = text.join(' ');
  const { end } = cursor;
  const items = parseGroupTuple(cursor);
  return {
    kind: 'call',
    start,
    end: cursor.end,
    name: { kind: 'name', start, end, parts: [{ kind: 'identifier', start, end, name, quote: 'none' }] },
    arguments: items,
    distinct: false,
    orderBy: none,
    withinGroup: none,
    filter: null,
    nulls: null,
    over: null,
    clauses: none,
  };
}

/** The items of ROLLUP, CUBE and GROUPING SETS, which may be tuples and further calls of that kind. */
function parseGroupTuple(cursor: Cursor): readonly Expression[] {
  const items: Expression[] = [];
  if (!cursor.expect('(')) return listOf(items);
  do {
    const { start } = cursor;
    if (cursor.at('(')) {
      if (cursor.peek(1) === ')') {
        cursor.advance();
        cursor.advance();
        items.push({ kind: 'tuple', start, end: cursor.end, items: none });
      } else {
        const inner = parsePlainTuple(cursor);
        items.push({ kind: 'tuple', start, end: cursor.end, items: inner });
      }
    } else items.push(parseGroupItem(cursor));
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(items);
}

function parsePlainTuple(cursor: Cursor): readonly Expression[] {
  const items: Expression[] = [];
  cursor.advance();
  do items.push(parseGroupItem(cursor));
  while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(items);
}
