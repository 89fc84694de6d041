import { parseWith } from './commonTables.ts';
import { type Cursor, endOfStatement } from './cursor.ts';
import { parseName } from './names.ts';
import { none } from './none.ts';
import { parseCreateIndex, parseCreateSchema, parseDrop, parseSequence, parseTruncate } from './objects.ts';
import { parseOpaque } from './opaque.ts';
import { parseOpenAlter } from './openAlter.ts';
import { parseOpenElements } from './openColumns.ts';
import { parseFlow, parseTableLoad } from './openLoads.ts';
import { parseOpenFunction, parseOpenProcedure } from './openPrograms.ts';
import { parseOpenDeclare, parseOpenSet } from './openSettings.ts';
import { goesOn, mayBegin, namesObject, refuseDoubledKind } from './openStarts.ts';
import { parseOpenTable, parseProperties, type TableHead } from './openTables.ts';
import { parseQueryAfterWith, parseQueryWithTables } from './queries.ts';
import { expectSemicolon, parseCompound, parseScripted, recoverInScript } from './scripting.ts';
import { parseUse } from './smallStatements.ts';
import { tokenKind } from './tokens.ts';
import type { Option, Query, Statement } from './tree.ts';
import { parseDataType } from './types.ts';
import { parseWrite } from './writes.ts';

/**
 * One statement of Spark SQL or DuckDB with its closing semicolon. These dialects grow fast: what is not known is an
 * opaque statement or clause, and a mistake is reported only where a known construct is broken beyond doubt.
 */
export function parseOpenStatement(cursor: Cursor): Statement {
  const { index, start } = cursor;
  if (cursor.at(';')) {
    cursor.advance();
    return { kind: 'empty', start, end: cursor.end };
  }
  const statement = (cursor.scriptDepth > 0 ? parseScripted(cursor) : null) ?? dispatch(cursor);
  if (!cursor.recovering && !cursor.at(';') && !cursor.atEnd) {
    if (cursor.scriptDepth > 0) expectSemicolon(cursor);
    else {
      const { start, currentEnd, tokenText } = cursor;
      if (goesOn(cursor)) cursor.report(start, currentEnd, `Expected ${endOfStatement}, but found '${tokenText}'.`);
      cursor.fail(endOfStatement);
    }
  }
  if (cursor.recovering) {
    if (cursor.index === index && !cursor.atEnd) cursor.advance();
    if (cursor.scriptDepth > 0) recoverInScript(cursor);
    else while (!cursor.atEnd && !cursor.at(';')) cursor.advance();
    cursor.recovering = false;
  }
  cursor.eat(';');
  return statement;
}

function dispatch(cursor: Cursor): Statement {
  const { start } = cursor;
  switch (cursor.word) {
    case 'SELECT':
    case 'VALUES':
    case 'TABLE':
    case '(':
      return parseSelectStatement(cursor);
    case 'FROM':
      return parseFromStatement(cursor);
    case 'WITH':
      return parseWithStatement(cursor);
    case 'INSERT':
    case 'UPDATE':
    case 'DELETE':
    case 'MERGE':
      return parseWrite(cursor, null, start);
    case 'CREATE':
      return parseCreate(cursor);
    case 'REPLACE':
      return cursor.peek(1) === 'TABLE' ? parseCreate(cursor) : parseOpaque(cursor);
    case 'ALTER':
      if (!namesObject(cursor)) cursor.fail('TABLE, VIEW or another kind of object before the name');
      if (cursor.peek(1) !== 'TABLE') return parseOpaque(cursor);
      cursor.advance();
      cursor.advance();
      return parseOpenAlter(cursor, start);
    case 'DROP':
      if (!namesObject(cursor)) cursor.fail('TABLE, VIEW or another kind of object before the name');
      return parseDrop(cursor) ?? parseOpaque(cursor);
    case 'TRUNCATE':
      return parseTruncate(cursor);
    case 'USE':
      return parseUse(cursor);
    case 'SET':
      return parseOpenSet(cursor);
    case 'DECLARE':
      return parseOpenDeclare(cursor);
    case 'EXPLAIN':
      return parseExplain(cursor);
    case 'EXECUTE':
      return cursor.peek(1) === 'IMMEDIATE' ? parseExecuteImmediate(cursor) : parseOpaque(cursor);
    case 'DESCRIBE':
    case 'DESC':
      return cursor.peek(1) === 'HISTORY' && cursor.peek(2) !== '.' ? parseHistory(cursor) : parseOpaque(cursor);
    case 'BEGIN':
      if (cursor.dialect.family === 'duckdb') return parseTransaction(cursor);
      return isTransaction(cursor) ? parseOpaque(cursor) : parseCompound(cursor);
    case 'COMMIT':
    case 'ROLLBACK':
    case 'END':
      if (cursor.dialect.family === 'duckdb') return parseTransaction(cursor);
      break;
    default:
  }
  const load = parseTableLoad(cursor);
  if (load !== null) return load;
  if (!mayBegin(cursor)) {
    cursor.fail('a statement');
    return { kind: 'opaque', start, end: cursor.end, name: '' };
  }
  return parseOpaque(cursor);
}

/** EXPLAIN with its words and options, and the statement that is explained and not run. */
function parseExplain(cursor: Cursor): Statement {
  const { start } = cursor;
  do {
    cursor.advance();
    if (cursor.at('(') && cursor.dialect.family === 'duckdb' && !startsParenthesisedQuery(cursor)) {
      cursor.skipParentheses();
    }
  } while (cursor.kind === tokenKind.word && !explained.has(cursor.word));
  if (!cursor.atEnd && !cursor.at(';')) {
    if (mayBegin(cursor)) dispatch(cursor);
    else parseOpaque(cursor);
  }
  return { kind: 'opaque', start, end: cursor.end, name: 'EXPLAIN' };
}

/** First words of statements that are no reserved words. */
const explained: ReadonlySet<string> = new Set(['INSERT', 'REPLACE', 'TABLE', 'TRUNCATE', 'CACHE', 'DESCRIBE', 'COPY']);

function startsParenthesisedQuery(cursor: Cursor): boolean {
  return cursor.peek(1) === 'SELECT' || cursor.peek(1) === 'WITH' || cursor.peek(1) === '(';
}

function parseSelectStatement(cursor: Cursor): Statement {
  const { start } = cursor;
  const query = parseQueryWithTables(cursor);
  return { kind: 'select-statement', start, end: cursor.end, query, hints: none };
}

/** A query that begins with FROM, or Spark's FROM … INSERT … INSERT …, of which only the bounds are known. */
function parseFromStatement(cursor: Cursor): Statement {
  const { start } = cursor;
  const query = parseQueryWithTables(cursor);
  if (!cursor.at('INSERT')) return { kind: 'select-statement', start, end: cursor.end, query, hints: none };
  return parseInserts(cursor, start);
}

function parseInserts(cursor: Cursor, start: number): Statement {
  while (cursor.at('INSERT') && !cursor.recovering) cursor.grammar.write(cursor, null, cursor.start);
  return { kind: 'opaque', start, end: cursor.end, name: 'FROM … INSERT' };
}

function parseWithStatement(cursor: Cursor): Statement {
  const { start } = cursor;
  const withClause = parseWith(cursor);
  if (cursor.at('INSERT') || cursor.at('UPDATE') || cursor.at('DELETE') || cursor.at('MERGE'))
    return parseWrite(cursor, withClause, start);
  const query: Query = parseQueryAfterWith(cursor, withClause, start);
  if (cursor.at('INSERT')) return parseInserts(cursor, start);
  return { kind: 'select-statement', start, end: cursor.end, query, hints: none };
}

const modifierWords: ReadonlySet<string> = new Set([
  'STREAMING',
  'LIVE',
  'PRIVATE',
  'REFRESH',
  'GLOBAL',
  'LOCAL',
  'MATERIALIZED',
  'UNLOGGED',
  'RECURSIVE',
  'PERSISTENT',
  'SECRET',
  'EXTERNAL',
  'TEMP',
  'TEMPORARY',
  'AGGREGATE',
  'FOREIGN',
]);

function parseCreate(cursor: Cursor): Statement {
  const { start, index } = cursor;
  let orReplace = cursor.at('REPLACE');
  cursor.advance();
  const modifiers: string[] = [];
  for (;;) {
    if (cursor.at('OR') && (cursor.peek(1) === 'REPLACE' || cursor.peek(1) === 'REFRESH')) {
      cursor.advance();
      if (cursor.at('REPLACE')) orReplace = true;
      else modifiers.push('REFRESH');
      cursor.advance();
    } else if (modifierWords.has(cursor.word)) {
      if (modifiers.includes(cursor.word) && !cursor.at('SECRET')) cursor.fail('TABLE, VIEW or another kind of object');
      modifiers.push(cursor.word);
      cursor.advance();
    } else break;
  }
  const temporary = modifiers.includes('TEMP') || modifiers.includes('TEMPORARY');
  const external = modifiers.includes('EXTERNAL');
  const subject = cursor.word;
  switch (subject) {
    case 'TABLE': {
      cursor.advance();
      const head: TableHead = {
        orReplace,
        external,
        temporary,
        modifiers,
        ifNotExists: cursor.eatSequence('IF', 'NOT', 'EXISTS'),
      };
      return parseOpenTable(cursor, start, head);
    }
    case 'VIEW':
      cursor.advance();
      return parseView(cursor, start, { orReplace, temporary, materialized: modifiers.includes('MATERIALIZED') });
    case 'INDEX':
    case 'UNIQUE':
      if (cursor.dialect.family !== 'duckdb') break;
      return parseCreateIndex(cursor, start);
    case 'SCHEMA':
    case 'DATABASE':
      cursor.advance();
      return parseCreateSchema(cursor, start);
    case 'SEQUENCE':
      cursor.advance();
      cursor.eatSequence('IF', 'NOT', 'EXISTS');
      return parseSequence(cursor, start, false);
    case 'TYPE':
      return parseType(cursor, start);
    case 'FUNCTION':
    case 'MACRO':
      return parseOpenFunction(cursor, start);
    case 'PROCEDURE':
      return parseOpenProcedure(cursor, start);
    default:
      if (/^flow$/i.test(cursor.tokenText) && cursor.dialect.family === 'spark') return parseFlow(cursor, start);
  }
  // DuckDB's secrets may be without a name.
  const isKind =
    modifiers.includes('SECRET') ||
    (cursor.kind === tokenKind.word &&
      !noKinds.has(cursor.word) &&
      !(cursor.word === '' && behindObject.has(cursor.peek(1))));
  if (!isKind || cursor.index === index) cursor.fail('TABLE, VIEW or another kind of object');
  return parseOpaque(cursor, start);
}

/** What follows the name of an object and not its kind. */
const behindObject: ReadonlySet<string> = new Set(
  '. ( AS LIKE USING TABLE VIEW SEQUENCE MACRO FUNCTION SCHEMA'.split(' '),
);
/** Words that stand in front of the kind of an object, or in front of all. */
const noKinds: ReadonlySet<string> = new Set(['CREATE', 'REPLACE', 'IF']);

function parseView(
  cursor: Cursor,
  start: number,
  head: { readonly orReplace: boolean; readonly temporary: boolean; readonly materialized: boolean },
): Statement {
  cursor.eatSequence('IF', 'NOT', 'EXISTS');
  refuseDoubledKind(cursor, 'the name of a view');
  const name = parseName(cursor, 'the name of a view');
  const elements = cursor.at('(') ? parseOpenElements(cursor) : none;
  const columns = elements.flatMap((element) => (element.kind === 'column-definition' ? [element.name] : []));
  const options: Option[] = [];
  if (cursor.dialect.family === 'duckdb' && !cursor.at('AS')) cursor.fail('AS');
  while (!cursor.at('AS') && !cursor.at(';') && !cursor.atEnd && !cursor.recovering) {
    const from = cursor.start;
    const option = cursor.tokenText.toUpperCase();
    cursor.advance();
    if (cursor.at('(')) {
      if (option === 'TBLPROPERTIES' || option === 'OPTIONS') parseProperties(cursor);
      else cursor.skipParentheses();
    }
    options.push({ kind: 'option', start: from, end: cursor.end, name: option, value: null, columns: none });
  }
  // A view over a file (USING … OPTIONS …) has no query of its own.
  const opaque = !cursor.at('AS') && options.some((option) => option.name === 'USING');
  if (opaque) return { kind: 'opaque', start, end: cursor.end, name: 'CREATE VIEW' };
  cursor.expect('AS');
  // A metric view is defined by a text in YAML.
  if (cursor.kind === tokenKind.string) return parseOpaque(cursor, start);
  const query = parseQueryWithTables(cursor);
  return {
    kind: 'create-view',
    start,
    end: cursor.end,
    alter: false,
    ...head,
    name,
    columns,
    elements,
    options,
    query,
  };
}

/** CREATE TYPE name AS type. */
function parseType(cursor: Cursor, start: number): Statement {
  cursor.advance();
  cursor.eatSequence('IF', 'NOT', 'EXISTS');
  const name = parseName(cursor, 'the name of a type');
  cursor.expect('AS');
  const base = cursor.at('ENUM') && cursor.peek(2) === 'SELECT' ? null : parseDataType(cursor);
  if (base === null) return parseOpaque(cursor, start);
  const { end } = cursor;
  return { kind: 'create-type', start, end, name, elements: none, base, nullable: null, table: false, options: none };
}

function parseExecuteImmediate(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const sql = cursor.grammar.expression(cursor);
  while (!cursor.at(';') && !cursor.atEnd) cursor.advance();
  return {
    kind: 'execute',
    start,
    end: cursor.end,
    procedure: null,
    result: null,
    arguments: none,
    sql,
    clauses: none,
  };
}

function parseHistory(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.variable) return parseOpaque(cursor, start);
  const table = parseName(cursor, 'a table');
  if (cursor.eat('LIMIT')) cursor.grammar.expression(cursor);
  return { kind: 'describe-history', start, end: cursor.end, table };
}

function isTransaction(cursor: Cursor): boolean {
  const next = cursor.peek(1);
  return next === 'TRANSACTION' || next === ';' || next === 'WORK';
}

/** DuckDB's BEGIN, COMMIT and ROLLBACK, which say little more. */
function parseTransaction(cursor: Cursor): Statement {
  const { start, word } = cursor;
  cursor.advance();
  cursor.eatAny('TRANSACTION', 'WORK');
  if (word === 'BEGIN' && cursor.eat('READ')) {
    if (!/^(?:only|write)$/i.test(cursor.tokenText)) cursor.fail('ONLY or WRITE');
    else cursor.advance();
  }
  if (!cursor.at(';') && !cursor.atEnd) cursor.fail("';'");
  return { kind: 'opaque', start, end: cursor.end, name: word };
}
