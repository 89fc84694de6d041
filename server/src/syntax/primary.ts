import { parseCall, parseCast, parseConvert, parseNextValue, parseParse } from './calls.ts';
import { parseInterval, parseList, parseStruct } from './collections.ts';
import { isCondition } from './conditions.ts';
import { type Cursor, deepestNesting } from './cursor.ts';
import { decodeString, parseLiteral, parseString } from './literals.ts';
import { atQueryContinuation, continueQuery, errorHere, startsQuery } from './lookahead.ts';
import { closeParenthesis, namePart } from './names.ts';
import { none } from './none.ts';
import { parseStar } from './selectItems.ts';
import { tokenKind } from './tokens.ts';
import type { CaseBranch, Expression, Identifier, Name } from './tree.ts';
import { parseDataType } from './types.ts';

/** Literals, variables, columns, calls, CASE and everything in parentheses. */
export function parsePrimary(cursor: Cursor): Expression {
  if (cursor.depth >= deepestNesting) return skipDeep(cursor);
  cursor.depth += 1;
  const expression = readPrimary(cursor);
  cursor.depth -= 1;
  return expression;
}

/** An operand nested too deeply to be read: a name, a parenthesis or a call, or a whole CASE. */
function skipDeep(cursor: Cursor): Expression {
  const { start } = cursor;
  if (cursor.at('CASE')) return skipCase(cursor);
  while (!cursor.at('(') && (cursor.atName || cursor.kind === tokenKind.reserved || cursor.at('.'))) cursor.advance();
  if (cursor.at('(')) cursor.skipParentheses();
  else if (cursor.end <= start) cursor.advance();
  return { kind: 'error', start, end: cursor.end };
}

function readPrimary(cursor: Cursor): Expression {
  switch (cursor.kind) {
    case tokenKind.string:
      return parseString(cursor, 'string');
    case tokenKind.nationalString:
      return parseString(cursor, 'national');
    case tokenKind.number:
      return parseLiteral(cursor, 'number');
    case tokenKind.money:
      return parseLiteral(cursor, 'money');
    case tokenKind.binary:
      return parseLiteral(cursor, 'binary');
    case tokenKind.variable:
      return parseVariable(cursor);
    case tokenKind.word:
    case tokenKind.bracketed:
    case tokenKind.doubleQuoted:
    case tokenKind.backticked:
      return parseNamed(cursor);
    case tokenKind.reserved:
      return parseReserved(cursor);
    case tokenKind.punctuation:
      return parsePunctuation(cursor);
    default:
      cursor.fail('an expression');
      return errorHere(cursor);
  }
}

function parseVariable(cursor: Cursor): Expression {
  const { start, currentEnd: end, tokenText: name } = cursor;
  cursor.advance();
  return { kind: 'variable', start, end, name };
}

/** A column, a call or one of the functions with a grammar of their own. */
function parseNamed(cursor: Cursor): Expression {
  const { start, word } = cursor;
  // Spark's and DuckDB's typed literals begin with a type's name, which is no word of the grammar.
  if (word !== '' || cursor.dialect.family !== 'tsql') {
    const special = parseSpecial(cursor, word);
    if (special !== null) return special;
  }
  const first = cursor.takeIdentifier();
  const called = cursor.at('(') && !atQueryBehindName(cursor);
  if (!cursor.at('.') && !called) {
    if (cursor.at('::') && cursor.dialect.family === 'tsql') return parseStaticMember(cursor, singleName(first));
    return { kind: 'column', start, end: first.end, parts: [first] };
  }
  const parts = parseParts(cursor, first);
  const { end } = cursor;
  if (!cursor.at('(') && /^\$partition$/i.test(first.name)) cursor.fail("'(' and the value of a partition function");
  if (cursor.at('(') && !atQueryBehindName(cursor)) {
    return parseCall(cursor, { kind: 'name', start, end, parts });
  }
  if (cursor.at('::') && cursor.dialect.family === 'tsql') {
    return parseStaticMember(cursor, { kind: 'name', start, end, parts });
  }
  return { kind: 'column', start, end, parts };
}

/** Spark's functions take no query without parentheses of its own; `REPLACE ON a = b (SELECT …)` ends before it. */
function atQueryBehindName(cursor: Cursor): boolean {
  return cursor.dialect.family === 'spark' && cursor.peek(1) === 'SELECT';
}

/** The parts of a name after its first; stops before `.*`. */
function parseParts(cursor: Cursor, first: Identifier): readonly (Identifier | null)[] {
  const parts: (Identifier | null)[] = [first];
  while (cursor.at('.') && cursor.peek(1) !== '*' && !cursor.recovering) {
    cursor.advance();
    parts.push(cursor.at('.') ? null : namePart(cursor));
  }
  if (parts[parts.length - 2] === null && cursor.dialect.family === 'tsql' && !cursor.at('(')) {
    cursor.report(first.start, cursor.end, 'Expected the name of a table between the dots.');
  }
  return parts;
}

function singleName(part: Identifier): Name {
  return { kind: 'name', start: part.start, end: part.end, parts: [part] };
}

function parseStaticMember(cursor: Cursor, type: Name): Expression {
  cursor.advance();
  const member = namePart(cursor);
  const members = cursor.at('(') ? parseArguments(cursor) : null;
  return { kind: 'static-member', start: type.start, end: cursor.end, type, member, arguments: members };
}

/** Words that are names elsewhere and begin an expression of their own kind here. */
function parseSpecial(cursor: Cursor, word: string): Expression | null {
  const next = cursor.peek(1);
  if (next === '(') {
    if (word === 'CAST' || word === 'TRY_CAST') return parseCast(cursor, word);
    if ((word === 'PARSE' || word === 'TRY_PARSE') && cursor.dialect.family === 'tsql') return parseParse(cursor, word);
    if ((word !== 'ARRAY' && word !== 'INTERVAL') || cursor.dialect.family === 'tsql') return null;
  }
  if (word === 'NEXT' && next === 'VALUE' && (cursor.peek(2) === 'FOR' || cursor.dialect.family === 'tsql'))
    return parseNextValue(cursor);
  if (cursor.dialect.family === 'tsql') return null;
  return parseOtherSpecial(cursor, word);
}

/** Spark's and DuckDB's words without parentheses. */
function parseOtherSpecial(cursor: Cursor, word: string): Expression | null {
  const { start } = cursor;
  const nextKind = cursor.peekKind(1);
  const next = cursor.peek(1);
  if (word === 'TRUE' || word === 'FALSE') return parseLiteral(cursor, 'boolean');
  if (word === 'INTERVAL' && nextKind !== tokenKind.punctuation && nextKind > tokenKind.separator) {
    return parseInterval(cursor);
  }
  if (word === 'INTERVAL' && (next === '-' || next === '+') && isIntervalValue(cursor.peekKind(2)))
    return parseInterval(cursor);
  if (word === 'INTERVAL' && next === '(' && cursor.dialect.family === 'duckdb') return parseInterval(cursor);
  if (nextKind === tokenKind.string && word !== 'SELECT') {
    const typeName = cursor.tokenText.toUpperCase();
    cursor.advance();
    const literal = parseString(cursor, 'string');
    return { ...literal, start, type: 'typed', typeName };
  }
  if (word === 'CASE') return parseCase(cursor);
  if (word === 'ARRAY' && next === '[') {
    cursor.advance();
    return { ...parseList(cursor), start };
  }
  if (word === 'ARRAY' && next === '(' && cursor.peek(2) === 'SELECT') {
    cursor.advance();
    return { ...parseParenthesis(cursor), start };
  }
  if (word === 'MAP' && next === '{') {
    cursor.advance();
    return { ...parseStruct(cursor), start };
  }
  if (word === 'LAMBDA') {
    cursor.advance();
    const parameters: Identifier[] = [];
    do parameters.push(cursor.identifier('a parameter'));
    while (!cursor.recovering && cursor.eat(','));
    cursor.expect(':');
    const body = cursor.grammar.expression(cursor);
    return { kind: 'lambda', start, end: cursor.end, parameters, body };
  }
  return null;
}

function isIntervalValue(kind: number): boolean {
  return kind === tokenKind.number || kind === tokenKind.string;
}

/** Keywords that begin an expression. */
function parseReserved(cursor: Cursor): Expression {
  const { start, word } = cursor;
  const next = cursor.peek(1);
  switch (word) {
    case 'NULL':
      return parseLiteral(cursor, 'null');
    case 'DEFAULT': {
      if (cursor.dialect.family === 'tsql') break;
      cursor.advance();
      return { kind: 'default', start, end: cursor.end };
    }
    case 'CASE':
      return parseCase(cursor);
    case 'CONVERT':
    case 'TRY_CONVERT':
      if (next === '(') return parseConvert(cursor, word);
      break;
    case 'CAST':
    case 'TRY_CAST':
      if (next === '(') return parseCast(cursor, word);
      break;
    case 'COALESCE':
    case 'NULLIF':
    case 'LEFT':
    case 'RIGHT':
    case 'UPDATE':
    case 'CONTAINS':
    case 'FREETEXT':
    case 'IDENTITY':
    case 'TSEQUAL':
      if (next === '(') return parseCall(cursor, singleName(cursor.takeIdentifier()));
      break;
    case 'CURRENT_TIMESTAMP':
    case 'CURRENT_DATE':
    case 'CURRENT_TIME':
    case 'CURRENT_USER':
    case 'SESSION_USER':
    case 'SYSTEM_USER':
    case 'USER': {
      const name = singleName(cursor.takeIdentifier());
      if (cursor.at('(')) return parseCall(cursor, name);
      return emptyCall(name);
    }
    case 'IDENTITYCOL':
    case 'ROWGUIDCOL': {
      const part = cursor.takeIdentifier();
      return { kind: 'column', start, end: part.end, parts: [part] };
    }
    case 'EXISTS':
      if (next === '(') return cursor.grammar.expression(cursor);
      break;
    case 'TRUE':
    case 'FALSE':
      return parseLiteral(cursor, 'boolean');
    default:
  }
  if (cursor.dialect.family !== 'tsql' && next === '(' && callableKeywords.has(word)) {
    return parseCall(cursor, singleName(cursor.takeIdentifier()));
  }
  if (cursor.dialect.family === 'spark' && behindName.has(next)) return parseNamed(cursor);
  if (cursor.dialect.family === 'duckdb' && word === 'VALUES' && next !== '(') return parseNamed(cursor);
  cursor.fail('an expression');
  return errorHere(cursor);
}

/** What may follow a name and no keyword: Spark takes every keyword for the name of a column (`left`, `end`). */
const behindName: ReadonlySet<string> = new Set(
  ', ) . -> = < > <= >= <> != + - / % || :: IS THEN ELSE WHEN END AND OR'.split(' '),
);

const callableKeywords: ReadonlySet<string> = new Set([
  'EXTRACT',
  'IF',
  'REPLACE',
  'INSERT',
  'ANY',
  'SOME',
  'ALL',
  'SET',
  'RLIKE',
  'LIKE',
  'ILIKE',
  'REGEXP',
  'GLOB',
]);

function emptyCall(name: Name): Expression {
  return {
    kind: 'call',
    start: name.start,
    end: name.end,
    name,
    arguments: none,
    distinct: false,
    orderBy: none,
    withinGroup: none,
    filter: null,
    nulls: null,
    over: null,
    clauses: none,
  };
}

function parsePunctuation(cursor: Cursor): Expression {
  const { start, word } = cursor;
  if (word === '(') return parseParenthesis(cursor);
  if (word === '*' && cursor.dialect.family === 'duckdb' && cursor.nameAhead(1) && cursor.peek(2) === '(') {
    // `*COLUMNS (…)` spreads columns over arguments.
    cursor.advance();
    return parsePrimary(cursor);
  }
  // Spark: `(*)`, `5 IN (*)`, `(* EXCEPT (a))`.
  if (word === '*' && cursor.dialect.family === 'spark' && cursor.previousWord === '(') {
    return parseStar(cursor, none, start);
  }
  if (word === '*') {
    cursor.fail('an expression');
    return errorHere(cursor);
  }
  if (cursor.dialect.family === 'tsql') {
    if (word === '{') return parseEscape(cursor);
    if (word === '.' && cursor.nameAhead(1)) return parseLeadingDot(cursor);
  } else {
    if (word === '[') return parseList(cursor);
    if (word === '{') return parseStruct(cursor);
    if (word === '#' && cursor.peekKind(1) === tokenKind.number) {
      cursor.advance();
      cursor.advance();
      return { kind: 'variable', start, end: cursor.end, name: cursor.slice(start, cursor.end) };
    }
  }
  cursor.fail('an expression');
  return errorHere(cursor);
}

/** `.table.column`, whose schema was left out. */
function parseLeadingDot(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  const first = cursor.takeIdentifier();
  const parts = [null, ...parseParts(cursor, first)];
  const { end } = cursor;
  if (cursor.at('(')) return parseCall(cursor, { kind: 'name', start, end, parts });
  if (parts.length === 2) cursor.report(start, end, 'Expected the name of a table before the dot.');
  return { kind: 'column', start, end, parts };
}

/** `( query )`, `( expression )`, `( a, b )`. */
function parseParenthesis(cursor: Cursor): Expression {
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
  if (cursor.dialect.family !== 'tsql' && cursor.eat(')'))
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

/** ODBC's `{ts '…'}`, `{d '…'}`, `{fn name(…)}`. */
function parseEscape(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  if (cursor.peekKind(1) === tokenKind.string || cursor.peekKind(1) === tokenKind.nationalString) {
    const typeName = cursor.tokenText.toUpperCase();
    cursor.advance();
    const value = decodeString(cursor.tokenText);
    cursor.advance();
    cursor.expect('}');
    return { kind: 'literal', start, end: cursor.end, type: 'typed', value, typeName };
  }
  if (cursor.atName) cursor.advance();
  const inner = cursor.peek(1) === '(' ? parseOdbcCall(cursor) : cursor.grammar.expression(cursor);
  cursor.expect('}');
  return { ...inner, start, end: cursor.end };
}

/** A function of ODBC: its names may be reserved words, and CONVERT has its value first. */
function parseOdbcCall(cursor: Cursor): Expression {
  const part = cursor.takeIdentifier();
  return parseCall(cursor, { kind: 'name', start: part.start, end: part.end, parts: [part] });
}

function parseCase(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  const operand = cursor.at('WHEN') ? null : cursor.grammar.value(cursor);
  const branches: CaseBranch[] = [];
  while (cursor.at('WHEN') && !cursor.recovering) {
    const branchStart = cursor.start;
    cursor.advance();
    const when = operand === null ? cursor.grammar.condition(cursor) : cursor.grammar.value(cursor);
    cursor.expect('THEN');
    const then = cursor.grammar.value(cursor);
    branches.push({ kind: 'case-branch', start: branchStart, end: cursor.end, when, then });
  }
  if (branches.length === 0) cursor.fail('WHEN');
  const otherwise = cursor.eat('ELSE') ? cursor.grammar.value(cursor) : null;
  if (!cursor.eat('END')) cursor.fail(otherwise === null ? 'WHEN, ELSE or END' : 'END');
  return { kind: 'case', start, end: cursor.end, operand, branches, otherwise };
}

/** A CASE nested too deeply to be read: everything up to its END. */
function skipCase(cursor: Cursor): Expression {
  const { start } = cursor;
  let open = 1;
  cursor.advance();
  while (!cursor.atEnd && open > 0) {
    if (cursor.at('CASE')) open += 1;
    else if (cursor.at('END')) open -= 1;
    cursor.advance();
  }
  return { kind: 'error', start, end: cursor.end };
}

/** Arguments in parentheses without any grammar of their own. */
function parseArguments(cursor: Cursor): readonly Expression[] {
  const found: Expression[] = [];
  cursor.expect('(');
  if (cursor.eat(')')) return found;
  do found.push(cursor.grammar.expression(cursor));
  while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return found;
}

/** What may follow a complete operand: COLLATE, AT TIME ZONE, `.member`, `::type`, `[index]`. */
export function parsePostfix(cursor: Cursor, first: Expression): Expression {
  let operand = first;
  if (operand.kind === 'error') return operand;
  for (;;) {
    const start: number = operand.start;
    switch (cursor.word) {
      case 'COLLATE': {
        if (isCondition(operand) && cursor.dialect.family === 'tsql') return operand;
        cursor.advance();
        const collation = cursor.identifier('a collation');
        operand = { kind: 'collate', start, end: cursor.end, operand, collation };
        continue;
      }
      case 'AT': {
        if (cursor.peek(1) !== 'TIME' || cursor.peek(2) !== 'ZONE') return operand;
        cursor.advance();
        cursor.advance();
        cursor.advance();
        const zone = parsePrimary(cursor);
        operand = { kind: 'at-time-zone', start, end: cursor.end, operand, zone };
        continue;
      }
      case '.': {
        // T-SQL's grammar lets a member of a constant through; that it has none is found later.
        if (cursor.peek(1) === '*' || operand.kind === 'error') return operand;
        if (operand.kind === 'literal' && cursor.dialect.family !== 'tsql') return operand;
        cursor.advance();
        const member = namePart(cursor);
        const args = cursor.at('(') ? parseArguments(cursor) : null;
        operand = { kind: 'member', start, end: cursor.end, object: operand, member, arguments: args };
        continue;
      }
      default:
        if (cursor.dialect.family === 'tsql') return operand;
    }
    if (cursor.depth >= deepestNesting) return operand;
    cursor.depth += 1;
    const next = parseOtherPostfix(cursor, operand);
    cursor.depth -= 1;
    if (next === null) return operand;
    operand = next;
  }
}

function parseOtherPostfix(cursor: Cursor, operand: Expression): Expression | null {
  const { start } = operand;
  // Databricks: `a ?:: INT` is NULL where the cast fails.
  if (cursor.kind === tokenKind.variable && cursor.tokenText === '?' && cursor.peek(1) === '::') cursor.advance();
  switch (cursor.word) {
    case '::': {
      cursor.advance();
      const type = parseDataType(cursor);
      return { kind: 'cast', start, end: cursor.end, function: '::', operand, type, style: null };
    }
    case '[': {
      cursor.advance();
      const index = cursor.at(':') || cursor.eat('*') ? null : cursor.grammar.expression(cursor);
      let to: Expression | null = null;
      while (cursor.eat(':')) {
        // A minus alone stands for the end: `[2:-:2]`.
        if (cursor.at('-') && cursor.peek(1) === ':') cursor.advance();
        if (!cursor.at(']') && !cursor.at(':')) to = cursor.grammar.expression(cursor);
      }
      cursor.expect(']');
      return { kind: 'index-access', start, end: cursor.end, operand, index, to };
    }
    case ':': {
      // Databricks: `column:path.to.value`.
      if (cursor.dialect.family !== 'spark') return null;
      cursor.advance();
      const member = cursor.at('[') ? cursor.missingIdentifier() : namePart(cursor);
      return { kind: 'member', start, end: cursor.end, object: operand, member, arguments: null };
    }
    case '->': {
      if (cursor.dialect.family !== 'spark' && operand.kind !== 'tuple') return null;
      const parameters = lambdaParameters(operand);
      if (parameters === null) return null;
      cursor.advance();
      const body = cursor.grammar.expression(cursor);
      return { kind: 'lambda', start, end: cursor.end, parameters, body };
    }
    case '!': {
      if (cursor.dialect.family !== 'duckdb') return null;
      cursor.advance();
      return { kind: 'unary', start, end: cursor.end, operator: '!', operand };
    }
    default:
      return null;
  }
}

function lambdaParameters(operand: Expression): readonly Identifier[] | null {
  if (operand.kind === 'column') {
    const [only] = operand.parts;
    return operand.parts.length === 1 && only ? [only] : null;
  }
  if (operand.kind === 'parenthesis') return lambdaParameters(operand.inner);
  if (operand.kind !== 'tuple') return null;
  const found: Identifier[] = [];
  for (const item of operand.items) {
    const inner = lambdaParameters(item);
    if (inner === null) return null;
    found.push(...inner);
  }
  return found;
}
