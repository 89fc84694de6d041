import { parseAliasAndColumns } from './aliases.ts';
import { parseWith } from './commonTables.ts';
import { type Cursor, deepestNesting } from './cursor.ts';
import { parseForClause } from './forClause.ts';
import { closeParenthesis } from './names.ts';
import { listOf, none } from './none.ts';
import { parsePipe } from './pipes.ts';
import { plainQuery } from './plainQuery.ts';
import { atLateralView, completeSelect, newSelect, parseSelect, skipLateralView } from './selects.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, OpaqueClause, OrderItem, Query, QueryBody, ValuesRow, WithClause } from './tree.ts';
import { parseOrderBy } from './windows.ts';

/** A query from its WITH, SELECT, VALUES or opening parenthesis to the end of its ORDER BY or FOR clause. */
export function parseQuery(cursor: Cursor): Query {
  // Of the T-SQL platforms only Fabric nests WITH.
  if (cursor.at('WITH') && cursor.dialect.family === 'tsql' && cursor.dialect.platform !== 'fabric')
    cursor.fail('SELECT');
  const query = parseQueryWithTables(cursor);
  refuseOrder(cursor, query);
  return query;
}

/** Views and queries inside of others have no order of their own on T-SQL, unless TOP, OFFSET or FOR XML need it. */
export function refuseOrder(cursor: Cursor, query: Query): void {
  const [first] = query.orderBy;
  if (first === undefined || cursor.dialect.family !== 'tsql') return;
  const limited = query.offset !== null || query.forClause !== null || hasTop(query.body);
  if (!limited)
    cursor.report(
      first.start,
      cursor.end,
      'ORDER BY needs TOP, OFFSET or FOR XML here: a query inside of another has no order.',
    );
}

/** One TOP among the operands of UNION is enough for Microsoft's parser. */
function hasTop(body: QueryBody): boolean {
  if (body.kind === 'set-operation') return hasTop(body.left) || hasTop(body.right);
  return body.kind === 'select' && body.top !== null;
}

/** A query where a statement may define common tables for it. */
export function parseQueryWithTables(cursor: Cursor): Query {
  const { start } = cursor;
  const withClause = cursor.at('WITH') ? parseWith(cursor) : null;
  return parseQueryAfterWith(cursor, withClause, start);
}

export function parseQueryAfterWith(cursor: Cursor, withClause: WithClause | null, start: number): Query {
  if (cursor.depth >= deepestNesting) return skipQuery(cursor, withClause, start);
  cursor.depth += 1;
  const body = parseSetOperations(cursor, parseOperand(cursor));
  const query = finishQuery(cursor, withClause, body, start);
  cursor.depth -= 1;
  return query;
}

/** The rest of a query whose first operand was read already. */
export function parseQueryFrom(cursor: Cursor, first: QueryBody): Query {
  return finishQuery(cursor, null, parseSetOperations(cursor, first), first.start);
}

/** A query nested too deeply to be read: everything up to the parenthesis that closes it. */
function skipQuery(cursor: Cursor, withClause: WithClause | null, start: number): Query {
  skipToEnd(cursor);
  const body: QueryBody = { kind: 'from-first', start, end: cursor.end, from: none };
  return { ...plainQuery(start, cursor.end, body), with: withClause };
}

function parseSetOperations(cursor: Cursor, first: QueryBody): QueryBody {
  let left = first;
  while (!cursor.recovering) {
    if (cursor.at('|>') && cursor.dialect.family === 'spark') {
      left = parsePipe(cursor, left, parseSelect, parseSetOperation);
      continue;
    }
    const next = parseSetOperation(cursor, left);
    if (next === left) return left;
    left = next;
  }
  return left;
}

/** UNION and its like with the operand behind it; `left` itself where none stands there. */
function parseSetOperation(cursor: Cursor, left: QueryBody): QueryBody {
  const operator = setOperator(cursor);
  if (operator === null) return left;
  cursor.advance();
  const all = cursor.eat('ALL');
  if (cursor.dialect.family !== 'tsql') {
    cursor.eat('DISTINCT');
    if (cursor.at('BY') && cursor.peek(1) === 'NAME') {
      cursor.advance();
      cursor.advance();
    }
  }
  const right = parseOperand(cursor);
  return { kind: 'set-operation', start: left.start, end: cursor.end, operator, all, left, right };
}

function setOperator(cursor: Cursor): 'UNION' | 'EXCEPT' | 'INTERSECT' | 'MINUS' | null {
  if (cursor.at('UNION')) return 'UNION';
  if (cursor.at('EXCEPT')) return 'EXCEPT';
  if (cursor.at('INTERSECT')) return 'INTERSECT';
  if (cursor.dialect.family === 'spark' && (cursor.at('MINUS') || cursor.at('SETMINUS'))) return 'MINUS';
  return null;
}

/** One operand of a set operation. */
function parseOperand(cursor: Cursor): QueryBody {
  const { start } = cursor;
  if (cursor.at('SELECT')) return parseSelect(cursor);
  if (cursor.at('(')) {
    if (cursor.depth >= deepestNesting) {
      cursor.skipParentheses();
      return { kind: 'from-first', start, end: cursor.end, from: none };
    }
    cursor.depth += 1;
    cursor.advance();
    const query = cursor.grammar.query(cursor);
    if (query.orderBy.length > 0 && cursor.dialect.family === 'tsql') {
      const [first] = query.orderBy;
      cursor.report(first?.start ?? start, cursor.end, 'An operand of UNION, EXCEPT or INTERSECT has no ORDER BY.');
    }
    closeParenthesis(cursor);
    cursor.depth -= 1;
    return { kind: 'query-group', start, end: cursor.end, query };
  }
  if (cursor.dialect.family !== 'tsql') {
    if (cursor.at('VALUES')) return parseInlineTable(cursor);
    if (cursor.at('FROM')) return parseFromFirst(cursor);
    if (cursor.at('TABLE') && cursor.nameAhead(1)) {
      cursor.advance();
      const table = cursor.grammar.tableSource(cursor);
      return { kind: 'from-first', start, end: cursor.end, from: [table] };
    }
    if (cursor.at('WITH')) {
      const query = cursor.grammar.query(cursor);
      return { kind: 'query-group', start, end: cursor.end, query };
    }
    if (
      cursor.at('PIVOT') ||
      cursor.at('UNPIVOT') ||
      cursor.at('DESCRIBE') ||
      cursor.at('SHOW') ||
      cursor.at('SUMMARIZE')
    ) {
      return skipOther(cursor);
    }
  }
  cursor.fail('SELECT');
  return { kind: 'from-first', start: cursor.end, end: cursor.end, from: none };
}

/** PIVOT statements and the like: bounded by the statement or the parenthesis around them. */
function skipOther(cursor: Cursor): QueryBody {
  const { start } = cursor;
  skipToEnd(cursor);
  return { kind: 'from-first', start, end: cursor.end, from: none };
}

/** Everything up to a semicolon or the parenthesis that closes the current level. */
function skipToEnd(cursor: Cursor): void {
  let open = 0;
  while (!cursor.atEnd && !cursor.at(';')) {
    if (cursor.at('(')) open += 1;
    else if (cursor.at(')')) {
      if (open === 0) break;
      open -= 1;
    }
    cursor.advance();
  }
}

function parseFromFirst(cursor: Cursor): QueryBody {
  const { start } = cursor;
  cursor.advance();
  const from = cursor.grammar.sources(cursor);
  const views: OpaqueClause[] = [];
  while (atLateralView(cursor)) views.push(skipLateralView(cursor));
  if (cursor.at('SELECT')) {
    const select = parseSelect(cursor);
    const clauses = views.length > 0 ? [...views, ...select.clauses] : select.clauses;
    return { ...select, start, from: select.from.length > 0 ? select.from : from, clauses };
  }
  if (cursor.at('WHERE') || cursor.at('GROUP') || cursor.at('HAVING') || cursor.at('QUALIFY')) {
    const select = newSelect(start, null, false, none, null);
    select.from = from;
    return completeSelect(cursor, select);
  }
  return { kind: 'from-first', start, end: cursor.end, from };
}

/** `VALUES (…), (…)`; the current token is VALUES. */
function parseValues(cursor: Cursor): QueryBody {
  const { start } = cursor;
  cursor.advance();
  const rows: ValuesRow[] = [];
  do {
    rows.push(parseRow(cursor));
  } while (
    !cursor.recovering &&
    !atNextSource(cursor) &&
    cursor.eat(',') &&
    !(cursor.dialect.family === 'duckdb' && !cursor.at('('))
  );
  return { kind: 'values', start, end: cursor.end, rows: listOf(rows) };
}

/** Spark: `FROM VALUES 1, VALUES 2` are two sources. */
function atNextSource(cursor: Cursor): boolean {
  return cursor.at(',') && cursor.peek(1) === 'VALUES';
}

/** VALUES as a query of its own. */
export function parseValuesQuery(cursor: Cursor): Query {
  const { start } = cursor;
  const body = parseValues(cursor);
  return plainQuery(start, cursor.end, body);
}

/** Spark's inline table, which may have an alias with columns. */
function parseInlineTable(cursor: Cursor): QueryBody {
  const values = parseValues(cursor);
  if (cursor.dialect.family === 'spark') parseAliasAndColumns(cursor);
  return values;
}

function parseRow(cursor: Cursor): ValuesRow {
  const { start } = cursor;
  const items: Expression[] = [];
  if (!cursor.at('(') && cursor.dialect.family === 'spark') {
    items.push(cursor.grammar.expression(cursor));
    return { kind: 'values-row', start, end: cursor.end, items };
  }
  if (!cursor.expect('(')) return { kind: 'values-row', start, end: cursor.end, items };
  do {
    items.push(parseInsertValue(cursor));
    if (cursor.dialect.family === 'spark' && cursor.eat('AS')) cursor.identifier('an alias');
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return { kind: 'values-row', start, end: cursor.end, items: listOf(items) };
}

/** A value or the word DEFAULT. */
export function parseInsertValue(cursor: Cursor): Expression {
  if (!cursor.at('DEFAULT')) return cursor.grammar.value(cursor);
  const { start } = cursor;
  cursor.advance();
  return { kind: 'default', start, end: cursor.end };
}

/** ORDER BY, OFFSET, FETCH, LIMIT and FOR around a finished body. */
function finishQuery(cursor: Cursor, withClause: WithClause | null, body: QueryBody, start: number): Query {
  const orderBy: readonly OrderItem[] = cursor.at('ORDER') ? parseOrderBy(cursor) : none;
  let offset: Expression | null = null;
  let limit: Expression | null = null;
  if (cursor.dialect.family === 'tsql') {
    if (cursor.at('OFFSET') && orderBy.length > 0) {
      cursor.advance();
      offset = cursor.grammar.value(cursor);
      if (cursor.eatAny('ROW', 'ROWS') === null) cursor.fail('ROWS');
      if (cursor.at('FETCH') && (cursor.peek(1) === 'NEXT' || cursor.peek(1) === 'FIRST')) limit = parseFetch(cursor);
    }
  } else {
    for (let again = true; again && !cursor.recovering; ) {
      again = false;
      if (cursor.eat('LIMIT')) {
        limit = cursor.at('ALL') ? null : parseLimit(cursor);
        if (cursor.at('ALL')) cursor.advance();
        cursor.eat('%');
        cursor.eat('PERCENT');
        again = true;
      }
      if (cursor.at('OFFSET')) {
        cursor.advance();
        offset = cursor.grammar.expression(cursor);
        cursor.eatAny('ROW', 'ROWS');
        again = true;
      }
      if (cursor.at('FETCH')) {
        limit = parseFetch(cursor);
        again = true;
      }
    }
  }
  const forClause = cursor.dialect.family === 'tsql' && cursor.at('FOR') ? parseForClause(cursor) : null;
  return { kind: 'query', start, end: cursor.end, with: withClause, body, orderBy, offset, limit, forClause };
}

/** The number of `LIMIT 10%` ends before its percent sign, which is no operator there. */
function parseLimit(cursor: Cursor): Expression {
  if (cursor.kind !== tokenKind.number || cursor.peek(1) !== '%') return cursor.grammar.expression(cursor);
  const kind = cursor.peekKind(2);
  const operand = kind === tokenKind.number || cursor.peek(2) === '(';
  return operand ? cursor.grammar.expression(cursor) : cursor.grammar.primary(cursor);
}

function parseFetch(cursor: Cursor): Expression {
  cursor.advance();
  if (cursor.eatAny('NEXT', 'FIRST') === null) cursor.fail('NEXT or FIRST');
  const isOne = cursor.dialect.family === 'duckdb' && (cursor.at('ROW') || cursor.at('ROWS'));
  const count = isOne ? oneRow(cursor) : cursor.grammar.value(cursor);
  if (cursor.eatAny('ROW', 'ROWS') === null) cursor.fail('ROWS');
  cursor.expect('ONLY');
  return count;
}

/** The count that DuckDB takes where none is written. */
function oneRow(cursor: Cursor): Expression {
  const { end } = cursor;
  return { kind: 'literal', start: end, end, type: 'number', value: '1', typeName: null };
}
