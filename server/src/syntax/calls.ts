import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseName, skipToClosing } from './names.ts';
import { listOf, none } from './none.ts';
import { parseStar } from './selectItems.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Name, OpaqueClause, OrderItem } from './tree.ts';
import { parseDataType } from './types.ts';
import { parseOrderBy, parseOver } from './windows.ts';

/** CAST and TRY_CAST. */
export function parseCast(cursor: Cursor, name: 'CAST' | 'TRY_CAST'): Expression {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const operand = cursor.grammar.value(cursor);
  cursor.expect('AS');
  const type = parseDataType(cursor);
  let style: Expression | null = null;
  if (cursor.dialect.family === 'spark' && cursor.eat('COLLATE')) parseName(cursor, 'a collation');
  if (cursor.dialect.family === 'spark' && cursor.eat('FORMAT')) style = cursor.grammar.value(cursor);
  closeParenthesis(cursor);
  return { kind: 'cast', start, end: cursor.end, function: name, operand, type, style };
}

/** PARSE and TRY_PARSE. */
export function parseParse(cursor: Cursor, name: 'PARSE' | 'TRY_PARSE'): Expression {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const operand = cursor.grammar.value(cursor);
  cursor.expect('AS');
  const type = parseDataType(cursor);
  const style = cursor.eat('USING') ? cursor.grammar.value(cursor) : null;
  closeParenthesis(cursor);
  return { kind: 'cast', start, end: cursor.end, function: name, operand, type, style };
}

/** CONVERT and TRY_CONVERT: the type comes first. */
export function parseConvert(cursor: Cursor, name: 'CONVERT' | 'TRY_CONVERT'): Expression {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const type = parseDataType(cursor);
  cursor.expect(',');
  const operand = cursor.grammar.value(cursor);
  const style = cursor.eat(',') ? cursor.grammar.value(cursor) : null;
  closeParenthesis(cursor);
  return { kind: 'cast', start, end: cursor.end, function: name, operand, type, style };
}

/** NEXT VALUE FOR sequence [OVER (…)]. */
export function parseNextValue(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  cursor.expect('FOR');
  const sequence = parseName(cursor, 'a sequence');
  const over = cursor.at('OVER') ? parseOver(cursor) : null;
  return { kind: 'next-value', start, end: cursor.end, sequence, over };
}

/**
 * The arguments of a call and what follows them; the current token is the opening parenthesis. `odbc`: inside `{fn …}`.
 */
export function parseCall(cursor: Cursor, name: Name, odbc = false): Expression {
  const { start } = name;
  const clauses: OpaqueClause[] = [];
  const items: Expression[] = [];
  let orderBy: readonly OrderItem[] = none;
  cursor.advance();
  const { start: distinctStart } = cursor;
  const distinct = cursor.at('DISTINCT') && !isArgumentEnd(cursor.peek(1));
  if (distinct) cursor.advance();
  else if (cursor.at('ALL') && !isArgumentEnd(cursor.peek(1))) cursor.advance();
  let nulls: 'ignore' | 'respect' | null = null;
  if (!cursor.at(')')) {
    // DuckDB orders window functions that take no argument: `rank (ORDER BY a)`.
    const bare = cursor.dialect.family === 'duckdb' && cursor.at('ORDER') && cursor.peek(1) === 'BY';
    if (!bare) parseCallArguments(cursor, functionName(name), items, clauses, odbc);
    if (cursor.at('ORDER') && cursor.peek(1) === 'BY') orderBy = parseOrderBy(cursor);
    nulls = parseNulls(cursor);
    skipTail(cursor, clauses);
  }
  closeParenthesis(cursor);
  checkArgumentCount(cursor, name, items);
  const withinGroup = parseWithinGroup(cursor);
  const filter = parseFilter(cursor);
  nulls = parseNulls(cursor) ?? nulls;
  const over = cursor.at('OVER') ? parseOver(cursor) : null;
  if (distinct && cursor.dialect.family === 'tsql') checkDistinct(cursor, distinctStart, items.length, over !== null);
  const { end } = cursor;
  return {
    kind: 'call',
    start,
    end,
    name,
    arguments: listOf(items),
    distinct,
    orderBy,
    withinGroup,
    filter,
    nulls,
    over,
    clauses: listOf(clauses),
  };
}

/** COALESCE and NULLIF are part of the grammar on T-SQL, with their counts of arguments. */
function checkArgumentCount(cursor: Cursor, name: Name, items: readonly Expression[]): void {
  if (cursor.dialect.family !== 'tsql') return;
  const called = functionName(name);
  if (called === 'NULLIF' && items.length !== 2)
    cursor.report(name.start, cursor.end, 'Expected two arguments of NULLIF.');
  if (called === 'COALESCE' && items.length < 2)
    cursor.report(name.start, cursor.end, 'Expected two or more arguments of COALESCE.');
}

/** T-SQL's aggregates take DISTINCT with one argument, and not over a window. */
function checkDistinct(cursor: Cursor, start: number, count: number, windowed: boolean): void {
  const end = start + 'DISTINCT'.length;
  if (windowed) cursor.report(start, end, 'Expected no DISTINCT: an aggregate with OVER takes every row.');
  else if (count > 1) cursor.report(start, end, 'Expected no DISTINCT: it is for functions of one argument.');
}

function isArgumentEnd(word: string): boolean {
  return word === ')' || word === ',' || word === '.';
}

function functionName(name: Name): string {
  return name.parts.length === 1 ? (name.parts[0]?.name ?? '').toUpperCase() : '';
}

/** Functions whose arguments are joined by words instead of commas. */
const wordSeparated: Readonly<Record<string, readonly string[]>> = {
  TRIM: ['FROM'],
  EXTRACT: ['FROM'],
  SUBSTRING: ['FROM', 'FOR'],
  SUBSTR: ['FROM', 'FOR'],
  POSITION: ['IN'],
  OVERLAY: ['PLACING', 'FROM', 'FOR'],
};

/** Functions that take `key : value` or say what they do about NULL. */
const jsonConstructors: ReadonlySet<string> = new Set(['JSON_OBJECT', 'JSON_OBJECTAGG', 'JSON_ARRAY', 'JSON_ARRAYAGG']);

function parseCallArguments(
  cursor: Cursor,
  name: string,
  items: Expression[],
  clauses: OpaqueClause[],
  odbc: boolean,
): void {
  if (name === 'CONTAINS' || name === 'FREETEXT' || name === 'MATCH') {
    if (cursor.dialect.family === 'tsql') {
      clauses.push(opaqueInside(cursor, name));
      return;
    }
  }
  if (name === 'TRIM' && cursor.eatAny('LEADING', 'TRAILING', 'BOTH') !== null) cursor.eat('FROM');
  // JSON_ARRAY (NULL ON NULL) has no element.
  if (jsonConstructors.has(name) && (cursor.at('NULL') || cursor.at('ABSENT')) && cursor.peek(1) === 'ON') return;
  // T-SQL has the words of TRIM alone, and those of the others in ODBC's escapes.
  const words = cursor.dialect.family === 'tsql' && name !== 'TRIM' && !odbc ? none : (wordSeparated[name] ?? none);
  for (;;) {
    items.push(parseArgument(cursor, name, items.length));
    if (cursor.recovering) return;
    if (cursor.eat(',')) continue;
    if (words.includes(cursor.word)) {
      cursor.advance();
      continue;
    }
    return;
  }
}

function parseArgument(cursor: Cursor, name: string, position: number): Expression {
  const { start } = cursor;
  if (cursor.at('*')) {
    const next = cursor.peek(1);
    const spread = cursor.dialect.family === 'duckdb' && cursor.nameAhead(1) && cursor.peek(2) === '(';
    if (!spread && (next === ')' || next === ',' || cursor.dialect.family !== 'tsql')) {
      return parseStar(cursor, none, start);
    }
  }
  if (cursor.dialect.family === 'tsql') {
    if (name === 'IIF' && position === 0) return cursor.grammar.condition(cursor);
    // Only functions with a schema in front have defaults.
    if (name === '' && cursor.at('DEFAULT')) {
      cursor.advance();
      return { kind: 'default', start, end: cursor.end };
    }
    const value = cursor.grammar.value(cursor);
    if (cursor.at('.') && cursor.peek(1) === '*') return qualifiedStar(cursor, value);
    // JSON_OBJECT ('key' : value)
    if (cursor.at(':') && jsonConstructors.has(name)) return namedArgument(cursor, value, start);
    return value;
  }
  if (cursor.at('TABLE') && (cursor.nameAhead(1) || cursor.peek(1) === '(')) cursor.advance();
  if (cursor.peek(1) === '=>' && cursor.kind === tokenKind.reserved)
    return namedArgument(cursor, parseKeyword(cursor), start);
  const value =
    name === 'POSITION' && position === 0 ? parsePositionOperand(cursor) : cursor.grammar.expression(cursor);
  if (cursor.at('=>') || cursor.at(':=')) return namedArgument(cursor, value, start);
  if (cursor.at('.') && cursor.peek(1) === '*') return qualifiedStar(cursor, value);
  const isField = name === 'STRUCT' && cursor.dialect.family === 'spark' && cursor.atName;
  if (isField || (cursor.at('AS') && cursor.nameAhead(1))) {
    // struct(a AS b), struct(a b): the alias is the field's name.
    if (!isField) cursor.advance();
    const alias = cursor.takeIdentifier();
    const field: Expression = { kind: 'column', start: alias.start, end: alias.end, parts: [alias] };
    return { kind: 'named-argument', start, end: cursor.end, name: field, value };
  }
  return value;
}

/** A parameter whose name is a keyword: `group => 'a'`. */
function parseKeyword(cursor: Cursor): Expression {
  const part = cursor.takeIdentifier();
  return { kind: 'column', start: part.start, end: part.end, parts: [part] };
}

function parsePositionOperand(cursor: Cursor): Expression {
  const { start } = cursor;
  if (cursor.kind === tokenKind.string) {
    const value = cursor.tokenText.slice(1, -1);
    cursor.advance();
    return { kind: 'literal', start, end: cursor.end, type: 'string', value, typeName: null };
  }
  return cursor.grammar.expression(cursor);
}

function namedArgument(cursor: Cursor, name: Expression, start: number): Expression {
  cursor.advance();
  if (cursor.dialect.family === 'spark' && cursor.at('TABLE') && cursor.peek(1) === '(') cursor.advance();
  const value = cursor.grammar.expression(cursor);
  return { kind: 'named-argument', start, end: cursor.end, name, value };
}

function qualifiedStar(cursor: Cursor, value: Expression): Expression {
  cursor.advance();
  cursor.advance();
  const qualifier = value.kind === 'column' ? value.parts : [];
  return { kind: 'star', start: value.start, end: cursor.end, qualifier, except: none, replace: none };
}

function parseNulls(cursor: Cursor): 'ignore' | 'respect' | null {
  if (cursor.peek(1) !== 'NULLS') return null;
  if (cursor.eat('IGNORE')) {
    cursor.advance();
    return 'ignore';
  }
  if (cursor.eat('RESPECT')) {
    cursor.advance();
    return 'respect';
  }
  return null;
}

/** Words inside the parentheses after the arguments: NULL ON NULL, RETURNING json, USING utf8, USE MODEL m … */
function skipTail(cursor: Cursor, clauses: OpaqueClause[]): void {
  if (cursor.recovering) return;
  const tail = ['NULL', 'ABSENT', 'RETURNING', 'USE', 'ERROR', 'EMPTY', 'WITH', 'WITHOUT', 'LIMIT'];
  if (cursor.dialect.family !== 'tsql') tail.push('USING', 'HAVING', 'FORMAT', 'ON', 'AS', 'SEPARATOR', 'PARTITION');
  if (!tail.includes(cursor.word)) return;
  if (cursor.dialect.family === 'duckdb' && cursor.at('AS')) return;
  // Only what these functions know may stand there; after other arguments NULL is a mistake.
  if (cursor.at('NULL') && cursor.peek(1) !== 'ON') return;
  clauses.push(opaqueInside(cursor, cursor.word));
}

/** Everything up to the closing parenthesis of the current level. */
function opaqueInside(cursor: Cursor, name: string): OpaqueClause {
  const { start } = cursor;
  if (cursor.at(',') || cursor.at(')')) cursor.fail('an argument');
  if (!skipToClosing(cursor)) cursor.fail("')'");
  return { kind: 'opaque-clause', start, end: cursor.end, name };
}

function parseWithinGroup(cursor: Cursor): readonly OrderItem[] {
  if (!cursor.at('WITHIN') || cursor.peek(1) !== 'GROUP') return [];
  cursor.advance();
  cursor.advance();
  cursor.expect('(');
  // In a MATCH over paths of a graph, the order of the path.
  const items = cursor.dialect.family === 'tsql' && cursor.eatSequence('GRAPH', 'PATH') ? none : parseOrderBy(cursor);
  closeParenthesis(cursor);
  return listOf(items);
}

function parseFilter(cursor: Cursor): Expression | null {
  if (cursor.dialect.family === 'tsql' || !cursor.at('FILTER') || cursor.peek(1) !== '(') return null;
  cursor.advance();
  cursor.advance();
  if (!cursor.eat('WHERE') && cursor.dialect.family === 'spark') cursor.fail('WHERE');
  const condition = cursor.grammar.condition(cursor);
  closeParenthesis(cursor);
  return condition;
}
