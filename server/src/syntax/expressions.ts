import { parseCall } from './calls.ts';
import { comparisonOperators, requireCondition, requireOperand, requireValue } from './conditions.ts';
import type { Cursor } from './cursor.ts';
import { atQueryContinuation, continueQuery, errorHere, startsQuery } from './lookahead.ts';
import { closeParenthesis } from './names.ts';
import { none } from './none.ts';
import { parsePostfix } from './postfix.ts';
import { parsePrimary } from './primary.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Query } from './tree.ts';

/** An expression of any kind: what stands where both a value and a condition may stand. */
export function parseExpression(cursor: Cursor): Expression {
  return parseOr(cursor);
}

/** An expression that yields a value; on T-SQL a comparison is none. */
export function parseValue(cursor: Cursor): Expression {
  if (cursor.dialect.booleanValues) return parseOr(cursor);
  const expression = parseSum(cursor);
  requireValue(cursor, expression);
  return expression;
}

/** An expression that is true, false or unknown; on T-SQL a plain value is none. */
export function parseCondition(cursor: Cursor): Expression {
  const expression = parseOr(cursor);
  requireCondition(cursor, expression);
  return expression;
}

function parseOr(cursor: Cursor): Expression {
  let left = parseAnd(cursor);
  while (cursor.at('OR')) {
    requireCondition(cursor, left);
    cursor.advance();
    const right = parseAnd(cursor);
    requireCondition(cursor, right);
    left = { kind: 'binary', start: left.start, end: cursor.end, operator: 'OR', left, right };
  }
  return left;
}

function parseAnd(cursor: Cursor): Expression {
  let left = parseNot(cursor);
  while (cursor.at('AND')) {
    requireCondition(cursor, left);
    cursor.advance();
    const right = parseNot(cursor);
    requireCondition(cursor, right);
    left = { kind: 'binary', start: left.start, end: cursor.end, operator: 'AND', left, right };
  }
  return left;
}

function parseNot(cursor: Cursor): Expression {
  if (!cursor.at('NOT')) return parsePredicate(cursor);
  const starts: number[] = [];
  while (cursor.at('NOT')) {
    starts.push(cursor.start);
    cursor.advance();
  }
  let operand = parsePredicate(cursor);
  requireCondition(cursor, operand);
  for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
    operand = { kind: 'unary', start, end: cursor.end, operator: 'NOT', operand };
  }
  return operand;
}

/** Comparisons and the predicates that follow their operand: IS, IN, BETWEEN, LIKE. */
function parsePredicate(cursor: Cursor): Expression {
  if (cursor.at('EXISTS') && cursor.peek(1) === '(') return parseExists(cursor);
  let left = parseSum(cursor);
  for (;;) {
    const operator = comparisonOperator(cursor);
    if (operator !== '') {
      requireOperand(cursor, left);
      left = parseComparison(cursor, left, operator);
      continue;
    }
    const next = parseTrailingPredicate(cursor, left);
    if (next === null) return left;
    // DuckDB: `a IS NULL::VARCHAR` casts the answer.
    left = cursor.at('::') && cursor.dialect.family === 'duckdb' ? parsePostfix(cursor, next) : next;
  }
}

function parseExists(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  // Spark's higher-order function `exists (array, x -> condition)`.
  if (cursor.dialect.family === 'spark' && !startsQueryInside(cursor)) {
    const { end } = cursor;
    const part = { kind: 'identifier', start, end, name: cursor.slice(start, end), quote: 'none' } as const;
    return parseCall(cursor, { kind: 'name', start, end, parts: [part] });
  }
  const query = parenthesisedQuery(cursor);
  return { kind: 'exists', start, end: cursor.end, query };
}

/** A query stands in the parenthesis at the current token. */
function startsQueryInside(cursor: Cursor): boolean {
  const word = cursor.peek(1);
  return word === '(' || queryStarts.has(word);
}

const queryStarts: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'VALUES', 'FROM', 'TABLE']);

/** DuckDB takes a comma behind the last item. */
function atListEnd(cursor: Cursor): boolean {
  return cursor.dialect.family === 'duckdb' && cursor.at(')');
}

/** `( query )`; the current token is the opening parenthesis. */
function parenthesisedQuery(cursor: Cursor): Query {
  cursor.expect('(');
  const query = cursor.grammar.query(cursor);
  closeParenthesis(cursor);
  return query;
}

const patternOperators: ReadonlySet<string> = new Set(['~', '!~', '~~', '!~~', '~~*', '!~~*', '~~~', '^@']);

/** The comparison operator at the current token, '' if there is none. T-SQL allows blanks inside `> =`. */
function comparisonOperator(cursor: Cursor): string {
  if (cursor.kind !== tokenKind.punctuation) return '';
  const { word } = cursor;
  if (cursor.dialect.family === 'duckdb' && patternOperators.has(word)) return word;
  if (!comparisonOperators.has(word)) {
    return word === '!' && cursor.dialect.family === 'tsql' && /^[=<>]$/.test(cursor.peek(1))
      ? `!${cursor.peek(1)}`
      : '';
  }
  if (cursor.dialect.family !== 'tsql') return word;
  const next = cursor.peek(1);
  if (word === '<' && (next === '>' || next === '=')) return `<${next}`;
  if (word === '>' && next === '=') return '>=';
  return word;
}

function parseComparison(cursor: Cursor, left: Expression, operator: string): Expression {
  if (cursor.word !== operator) cursor.advance();
  cursor.advance();
  // DuckDB compares with the items of a list, too: `a = ANY ([1, 2])`.
  const ofList = cursor.dialect.family === 'duckdb' && !listedQueries.has(cursor.peek(2));
  if ((cursor.at('ALL') || cursor.at('ANY') || cursor.at('SOME')) && cursor.peek(1) === '(' && !ofList) {
    const quantifier = cursor.at('ALL') ? 'ALL' : cursor.at('ANY') ? 'ANY' : 'SOME';
    cursor.advance();
    const query = parenthesisedQuery(cursor);
    return { kind: 'quantified', start: left.start, end: cursor.end, operator, quantifier, left, query };
  }
  const right = parseSum(cursor);
  requireValue(cursor, right);
  return { kind: 'binary', start: left.start, end: cursor.end, operator, left, right };
}

const listedQueries: ReadonlySet<string> = new Set(['SELECT', 'FROM', 'WITH', 'VALUES', 'TABLE', '(', 'PIVOT']);

function parseTrailingPredicate(cursor: Cursor, left: Expression): Expression | null {
  const { kind } = cursor;
  if (kind !== tokenKind.reserved && kind !== tokenKind.word) return null;
  const negated = cursor.at('NOT');
  const word = negated ? cursor.peek(1) : cursor.word;
  switch (word) {
    case 'IS':
      if (negated) return null;
      requireOperand(cursor, left);
      return parseIs(cursor, left);
    case 'IN':
      requireOperand(cursor, left);
      if (negated) cursor.advance();
      return parseIn(cursor, left, negated);
    case 'BETWEEN':
      requireOperand(cursor, left);
      if (negated) cursor.advance();
      return parseBetween(cursor, left, negated);
    case 'LIKE':
      requireOperand(cursor, left);
      if (negated) cursor.advance();
      return parseLike(cursor, left, negated, word);
    case 'ILIKE':
    case 'RLIKE':
    case 'REGEXP':
    case 'GLOB':
    case 'SIMILAR':
      if (cursor.dialect.family === 'tsql') return null;
      if (negated) cursor.advance();
      return parseLike(cursor, left, negated, word);
    case 'ISNULL':
    case 'NOTNULL':
      if (cursor.dialect.family !== 'duckdb' || negated) return null;
      cursor.advance();
      return { kind: 'is-null', start: left.start, end: cursor.end, operand: left, not: word === 'NOTNULL' };
    default:
      return null;
  }
}

function parseIs(cursor: Cursor, operand: Expression): Expression {
  cursor.advance();
  const not = cursor.eat('NOT');
  if (cursor.eat('NULL')) return { kind: 'is-null', start: operand.start, end: cursor.end, operand, not };
  if (cursor.at('DISTINCT') && cursor.peek(1) === 'FROM') {
    cursor.advance();
    cursor.advance();
    const right = parseSum(cursor);
    requireValue(cursor, right);
    return { kind: 'is-distinct', start: operand.start, end: cursor.end, left: operand, right, not };
  }
  if (cursor.dialect.family !== 'tsql') {
    for (const value of ['TRUE', 'FALSE', 'UNKNOWN'] as const) {
      if (!cursor.eat(value)) continue;
      const truth = value === 'TRUE' ? 'true' : value === 'FALSE' ? 'false' : 'unknown';
      return { kind: 'is-truth', start: operand.start, end: cursor.end, operand, value: truth, not };
    }
    // Databricks: IS JSON and its like are read as far as their first word.
    if (cursor.atName && cursor.dialect.family === 'spark') cursor.advance();
    else cursor.fail(not ? 'NULL, TRUE, FALSE or DISTINCT FROM' : 'NULL, NOT NULL, TRUE, FALSE or DISTINCT FROM');
    return { kind: 'is-null', start: operand.start, end: cursor.end, operand, not };
  }
  // SQL Server 2025 knows IS JSON [VALUE | ARRAY | OBJECT | SCALAR].
  cursor.fail(not ? 'NULL or DISTINCT FROM' : 'NULL, NOT NULL or DISTINCT FROM');
  return { kind: 'is-null', start: operand.start, end: cursor.end, operand, not };
}

function parseIn(cursor: Cursor, operand: Expression, not: boolean): Expression {
  cursor.advance();
  const { start } = operand;
  if (!cursor.at('(') && cursor.dialect.family === 'duckdb') {
    const list = parseSum(cursor);
    return { kind: 'in-list', start, end: cursor.end, operand, not, items: [list] };
  }
  if (!cursor.expect('(')) return { kind: 'in-list', start, end: cursor.end, operand, not, items: none };
  if (startsQuery(cursor)) {
    const query = cursor.grammar.query(cursor);
    closeParenthesis(cursor);
    return { kind: 'in-query', start, end: cursor.end, operand, not, query };
  }
  const items: Expression[] = [];
  do {
    if (items.length > 0 && atListEnd(cursor)) break;
    items.push(parseValue(cursor));
  } while (!cursor.recovering && cursor.eat(','));
  // `IN ((SELECT …) UNION …)`: the first operand was read as a subquery in parentheses.
  if (items.length === 1 && items[0]?.kind === 'subquery' && atQueryContinuation(cursor)) {
    const query = continueQuery(cursor, items[0].query, items[0].start, items[0].end);
    closeParenthesis(cursor);
    return { kind: 'in-query', start, end: cursor.end, operand, not, query };
  }
  closeParenthesis(cursor);
  return { kind: 'in-list', start, end: cursor.end, operand, not, items };
}

function parseBetween(cursor: Cursor, operand: Expression, not: boolean): Expression {
  cursor.advance();
  if (cursor.dialect.family !== 'tsql') cursor.eat('SYMMETRIC');
  const low = parseSum(cursor);
  requireValue(cursor, low);
  if (!cursor.expect('AND')) {
    return { kind: 'between', start: operand.start, end: cursor.end, operand, not, low, high: errorHere(cursor) };
  }
  const high = parseSum(cursor);
  requireValue(cursor, high);
  return { kind: 'between', start: operand.start, end: cursor.end, operand, not, low, high };
}

function parseLike(cursor: Cursor, operand: Expression, not: boolean, operator: string): Expression {
  cursor.advance();
  if (operator === 'SIMILAR') cursor.expect('TO');
  if (cursor.dialect.family === 'spark') cursor.eatAny('ANY', 'ALL', 'SOME');
  const pattern = parseSum(cursor);
  requireValue(cursor, pattern);
  const mark = parseEscapeMark(cursor);
  return { kind: 'like', start: operand.start, end: cursor.end, operator, operand, not, pattern, escape: mark };
}

/** `ESCAPE '!'`, or ODBC's `{ESCAPE '!'}`. */
function parseEscapeMark(cursor: Cursor): Expression | null {
  const braced = cursor.at('{') && cursor.peek(1) === 'ESCAPE';
  if (braced) cursor.advance();
  if (!cursor.eat('ESCAPE')) return null;
  const mark = parseSum(cursor);
  if (braced) cursor.expect('}');
  return mark;
}

const sumOperators: ReadonlySet<string> = new Set(['+', '-', '&', '|', '^', '||', '<<', '>>']);
const otherOperators: ReadonlySet<string> = new Set([...sumOperators, '->', '->>', '@>', '<@', '&&']);
const productOperators: ReadonlySet<string> = new Set(['*', '/', '%']);
const otherProducts: ReadonlySet<string> = new Set(['*', '/', '%', '//', '**', 'DIV']);

/** Addition, concatenation and bit operators, which have one precedence on T-SQL. */
export function parseSum(cursor: Cursor): Expression {
  let left = parseProduct(cursor);
  const operators = cursor.dialect.family === 'tsql' ? sumOperators : otherOperators;
  while (cursor.kind === tokenKind.punctuation && operators.has(cursor.word)) {
    const operator = sumOperator(cursor);
    requireValue(cursor, left);
    cursor.advance();
    const right = parseProduct(cursor);
    requireValue(cursor, right);
    left = { kind: 'binary', start: left.start, end: cursor.end, operator, left, right };
  }
  return left;
}

/** The operator at the current token. Spark's `>>>` is two tokens, of which the first is left behind. */
function sumOperator(cursor: Cursor): string {
  const { word } = cursor;
  if (word !== '>>' || cursor.dialect.family !== 'spark' || cursor.peek(1) !== '>') return word;
  if (cursor.blankAhead(1)) return word;
  cursor.advance();
  return '>>>';
}

function parseProduct(cursor: Cursor): Expression {
  let left = parseUnary(cursor);
  const operators = cursor.dialect.family === 'tsql' ? productOperators : otherProducts;
  while (operators.has(cursor.word)) {
    const operator = cursor.word;
    requireValue(cursor, left);
    cursor.advance();
    const right = parseUnary(cursor);
    requireValue(cursor, right);
    left = { kind: 'binary', start: left.start, end: cursor.end, operator, left, right };
  }
  return left;
}

function parseUnary(cursor: Cursor): Expression {
  if (cursor.kind !== tokenKind.punctuation) return parsePostfix(cursor, parsePrimary(cursor));
  const { word } = cursor;
  const signs = cursor.dialect.family === 'tsql' ? tsqlSigns : otherSigns;
  if (!signs.has(word)) return parsePostfix(cursor, parsePrimary(cursor));
  // Iteration instead of recursion: a run of signs may be long.
  const starts: { readonly start: number; readonly operator: string }[] = [];
  while (cursor.kind === tokenKind.punctuation && signs.has(cursor.word)) {
    starts.push({ start: cursor.start, operator: cursor.word });
    cursor.advance();
  }
  let operand = parsePostfix(cursor, parsePrimary(cursor));
  requireValue(cursor, operand);
  for (let sign = starts.pop(); sign !== undefined; sign = starts.pop()) {
    operand = { kind: 'unary', start: sign.start, end: cursor.end, operator: sign.operator, operand };
  }
  return operand;
}

const tsqlSigns: ReadonlySet<string> = new Set(['+', '-', '~']);
const otherSigns: ReadonlySet<string> = new Set(['+', '-', '~', '!', '@']);
