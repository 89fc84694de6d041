import { parseCall, parseCast, parseConvert, parseNextValue, parseParse } from './calls.ts';
import { parseCase, skipCase } from './caseExpression.ts';
import { parseInterval, parseList, parseStruct } from './collections.ts';
import { type Cursor, deepestNesting } from './cursor.ts';
import { decodeString, parseLiteral, parseString } from './literals.ts';
import { errorHere } from './lookahead.ts';
import { namePart } from './names.ts';
import { listOf, none } from './none.ts';
import { parseParenthesis } from './parentheses.ts';
import { parseArguments } from './postfix.ts';
import { parseStar } from './selectItems.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Identifier, Name } from './tree.ts';
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
      return parseNamed(cursor);
    case tokenKind.backticked:
      if (cursor.dialect.family !== 'tsql') return parseNamed(cursor);
      cursor.fail('an expression');
      return errorHere(cursor);
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
    parts.push(cursor.at('.') && cursor.dialect.family === 'tsql' ? null : namePart(cursor));
  }
  if (parts[parts.length - 2] === null && cursor.dialect.family === 'tsql' && !cursor.at('(')) {
    cursor.report(first.start, cursor.end, 'Expected the name of a table between the dots.');
  }
  return parts.length === 1 ? parts : listOf(parts);
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
  const isInterval = nextKind !== tokenKind.punctuation && nextKind > tokenKind.separator && next !== 'FROM';
  if (word === 'INTERVAL' && isInterval) {
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
  if (cursor.dialect.family === 'duckdb' && isZonedLiteral(cursor)) return parseZonedLiteral(cursor);
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

/** `TIMESTAMP WITH TIME ZONE '…'` */
function isZonedLiteral(cursor: Cursor): boolean {
  return (
    (cursor.at('TIMESTAMP') || cursor.at('TIME')) &&
    (cursor.peek(1) === 'WITH' || cursor.peek(1) === 'WITHOUT') &&
    cursor.peekKind(4) === tokenKind.string
  );
}

function parseZonedLiteral(cursor: Cursor): Expression {
  const { start } = cursor;
  const { text: typeName } = parseDataType(cursor);
  const literal = parseString(cursor, 'string');
  return { ...literal, start, type: 'typed', typeName: typeName.toUpperCase() };
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
      // A word that T-SQL keeps free and gives no meaning.
      if (word === 'CURRENT_TIME' && cursor.dialect.family === 'tsql') break;
      const name = singleName(cursor.takeIdentifier());
      if (cursor.at('(') && cursor.dialect.family === 'tsql') {
        cursor.report(cursor.start, cursor.currentEnd, `Expected no parentheses: ${word} takes no arguments.`);
      }
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
  if (cursor.dialect.family === 'spark' && (behindName.has(next) || isColumn(cursor))) return parseNamed(cursor);
  if (cursor.dialect.family === 'duckdb' && word === 'VALUES' && next !== '(') return parseNamed(cursor);
  cursor.fail('an expression');
  return errorHere(cursor);
}

/** What may follow a name and no keyword: Spark takes every keyword for the name of a column (`left`, `end`). */
const behindName: ReadonlySet<string> = new Set(
  ', ) . -> = < > <= >= <> != + - / % || :: IS THEN ELSE WHEN END AND OR'.split(' '),
);

/** `SELECT left, right FROM t`, `GROUP BY group ORDER BY order`: the keyword does not begin its own clause here. */
function isColumn(cursor: Cursor): boolean {
  const { word } = cursor;
  const next = cursor.peek(1);
  if ((word === 'GROUP' || word === 'ORDER') && next !== 'BY') return true;
  return columnWords.has(word) && (next === 'FROM' || next === 'AS');
}

const columnWords: ReadonlySet<string> = new Set('END FULL LEFT LIKE LIMIT OVER QUALIFY RIGHT SET VALUES'.split(' '));

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
  // Spark and DuckDB: `(*)`; Spark: `5 IN (*)`, `(* EXCEPT (a))`.
  if (word === '*' && cursor.dialect.family !== 'tsql' && cursor.previousWord === '(') {
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
  return parseCall(cursor, { kind: 'name', start: part.start, end: part.end, parts: [part] }, true);
}
