import type { Cursor } from './cursor.ts';
import { parseGroupBy } from './grouping.ts';
import { atQueryContinuation } from './lookahead.ts';
import { parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parseSelectItems } from './selectItems.ts';
import { parseTop } from './top.ts';
import type { NamedWindow, OpaqueClause, Select } from './tree.ts';
import { parseWindow } from './windows.ts';

/** SELECT … up to HAVING and QUALIFY. */
export function parseSelect(cursor: Cursor): Select {
  const { start } = cursor;
  cursor.advance();
  let distinct = false;
  if (cursor.eat('DISTINCT')) {
    distinct = true;
    if (cursor.dialect.family === 'duckdb' && cursor.at('ON') && cursor.peek(1) === '(') {
      cursor.advance();
      cursor.skipParentheses();
    }
  } else if (!isColumnNamedAll(cursor)) cursor.eat('ALL');
  const top = cursor.dialect.family === 'tsql' && cursor.at('TOP') ? parseTop(cursor, true) : null;
  const items = parseSelectItems(cursor);
  const into =
    cursor.dialect.family === 'tsql' && cursor.eat('INTO') ? parseName(cursor, 'the name of a new table') : null;
  if (into !== null && cursor.at('ON')) {
    cursor.advance();
    cursor.identifier('a filegroup');
  }
  return completeSelect(cursor, newSelect(start, top, distinct, items, into));
}

/** Spark: in `SELECT all, b` the word is a column's name. */
function isColumnNamedAll(cursor: Cursor): boolean {
  return cursor.dialect.family === 'spark' && cursor.at('ALL') && (cursor.peek(1) === ',' || cursor.peek(1) === 'FROM');
}

/** A SELECT while its clauses are gathered. */
type Draft = { -readonly [Key in keyof Select]: Select[Key] };

export function newSelect(
  start: number,
  top: Select['top'],
  distinct: boolean,
  items: Select['items'],
  into: Select['into'],
): Draft {
  return {
    kind: 'select',
    start,
    end: start,
    top,
    distinct,
    items,
    into,
    from: none,
    where: null,
    groupBy: null,
    having: null,
    windows: none,
    qualify: null,
    clauses: none,
  };
}

/** What follows the items of a SELECT: FROM up to QUALIFY, with the clauses of the dialect. */
export function completeSelect(cursor: Cursor, select: Draft): Select {
  const clauses: OpaqueClause[] = [];
  if (cursor.dialect.family === 'spark' && (cursor.at('USING') || (cursor.at('ROW') && cursor.peek(1) === 'FORMAT'))) {
    clauses.push(skipTransform(cursor));
  }
  if (cursor.eat('FROM')) select.from = cursor.grammar.sources(cursor);
  while (atLateralView(cursor)) clauses.push(skipLateralView(cursor));
  if (cursor.eat('WHERE')) select.where = cursor.grammar.condition(cursor);
  if (cursor.at('GROUP')) select.groupBy = parseGroupBy(cursor);
  if (cursor.eat('HAVING')) select.having = cursor.grammar.condition(cursor);
  for (let again = true; again && !cursor.recovering; ) {
    again = false;
    const windowsFollow = cursor.at('WINDOW') && (cursor.peek(2) === 'AS' || cursor.peek(1) === 'IDENTIFIER');
    if (windowsFollow && select.windows.length === 0) {
      select.windows = parseWindows(cursor);
      again = true;
    }
    if (cursor.dialect.family !== 'tsql' && select.qualify === null && cursor.eat('QUALIFY')) {
      select.qualify = cursor.grammar.condition(cursor);
      again = true;
    }
  }
  if (cursor.dialect.family === 'duckdb' && cursor.at('USING') && cursor.peek(1) === 'SAMPLE') {
    clauses.push(skipSample(cursor));
  }
  while (cursor.dialect.family === 'spark' && (cursor.at('CLUSTER') || cursor.at('DISTRIBUTE') || cursor.at('SORT'))) {
    if (cursor.peek(1) !== 'BY') break;
    clauses.push(parseSparkOrder(cursor));
  }
  select.clauses = listOf(clauses);
  select.end = cursor.end;
  return select;
}

function parseSparkOrder(cursor: Cursor): OpaqueClause {
  const { start, word } = cursor;
  cursor.advance();
  cursor.advance();
  do {
    cursor.grammar.value(cursor);
    cursor.eatAny('ASC', 'DESC');
  } while (!cursor.recovering && cursor.eat(','));
  return { kind: 'opaque-clause', start, end: cursor.end, name: `${word} BY` };
}

/** `ROW FORMAT … USING 'script' AS (…)` behind TRANSFORM (…). */
function skipTransform(cursor: Cursor): OpaqueClause {
  const { start } = cursor;
  while (!cursor.atEnd && !cursor.at(';') && !cursor.at('FROM') && !cursor.at(')')) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  return { kind: 'opaque-clause', start, end: cursor.end, name: 'USING' };
}

/** Spark's `LATERAL VIEW`. */
export function atLateralView(cursor: Cursor): boolean {
  return cursor.dialect.family === 'spark' && cursor.at('LATERAL') && cursor.peek(1) === 'VIEW';
}

/** `LATERAL VIEW [OUTER] f (x) t AS a, b`; the current token is LATERAL. */
export function skipLateralView(cursor: Cursor): OpaqueClause {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  cursor.eat('OUTER');
  cursor.grammar.value(cursor);
  if (cursor.atName) cursor.takeIdentifier();
  // The columns may stand without AS.
  const goesOn = (cursor.at('CLUSTER') || cursor.at('DISTRIBUTE') || cursor.at('SORT')) && cursor.peek(1) === 'BY';
  if (cursor.eat('AS') || (cursor.atName && !goesOn && !cursor.at('WINDOW'))) {
    do cursor.identifier('a column name');
    while (!cursor.recovering && cursor.eat(','));
  }
  return { kind: 'opaque-clause', start, end: cursor.end, name: 'LATERAL VIEW' };
}

function skipSample(cursor: Cursor): OpaqueClause {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  while (!cursor.atEnd && !cursor.at(';') && !cursor.at(')') && !atQueryContinuation(cursor)) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  return { kind: 'opaque-clause', start, end: cursor.end, name: 'USING SAMPLE' };
}

function parseWindows(cursor: Cursor): readonly NamedWindow[] {
  const windows: NamedWindow[] = [];
  cursor.advance();
  do {
    const { start } = cursor;
    const name = cursor.identifier('the name of a window');
    cursor.expect('AS');
    const window = parseWindow(cursor, cursor.start);
    windows.push({ kind: 'named-window', start, end: cursor.end, name, window });
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(windows);
}
