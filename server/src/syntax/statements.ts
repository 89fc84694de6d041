import { parseAlterTable } from './alterTable.ts';
import { parseBrokenGo, requireBatchStart } from './batchStarts.ts';
import { parseWith } from './commonTables.ts';
import {
  parseBegin,
  parseIf,
  parsePrint,
  parseRaiseError,
  parseReturn,
  parseThrow,
  parseTransaction,
  parseWhile,
} from './control.ts';
import type { Cursor } from './cursor.ts';
import { parseCursorStatement, parseDeclare } from './declarations.ts';
import { parseExecute, parseExecuteAs } from './execute.ts';
import { skipForUpdate } from './forClause.ts';
import { listOf } from './none.ts';
import {
  parseCreateIndex,
  parseCreateSchema,
  parseCreateType,
  parseDrop,
  parseRename,
  parseSequence,
  parseTruncate,
} from './objects.ts';
import { parseOpaque } from './opaque.ts';
import { parseOptionalHints } from './output.ts';
import { parseFunction, parseProcedure, parseTrigger, parseView } from './programs.ts';
import { parseQueryAfterWith, parseQueryWithTables } from './queries.ts';
import { recoverStatement } from './recovery.ts';
import { parsePermission } from './security.ts';
import { parseSet } from './settings.ts';
import {
  parseAlterIndex,
  parseAlterPartitionFunction,
  parseAlterSchema,
  parseBulkInsert,
  parseGoto,
  parseLabel,
  parseLoopControl,
  parsePartitionFunction,
  parsePartitionScheme,
  parseStatistics,
  parseTriggerSwitch,
  parseUse,
  parseWaitFor,
} from './smallStatements.ts';
import { createSubjects, dropSubjects } from './subjects.ts';
import { parseCreateTable } from './tables.ts';
import { tokenKind } from './tokens.ts';
import type { Query, Statement } from './tree.ts';
import { parseWrite } from './writes.ts';

/** Statements up to END, ELSE without IF, or the end of the batch. */
export function parseStatements(cursor: Cursor): readonly Statement[] {
  const statements: Statement[] = [];
  let brokenOff = false;
  while (!cursor.atEnd && (!cursor.at('END') || cursor.peek(1) === 'CONVERSATION')) {
    const before = cursor.index;
    const problemsBefore = cursor.problems.length;
    const statement = parseStatement(cursor);
    statements.push(statement);
    if (cursor.index === before) break;
    // The rest of a statement that broke off at its semicolon says nothing new: `SET NOCOUNT ; ON`.
    if (brokenOff && statement.kind === 'opaque' && statement.name === '') cursor.problems.length = problemsBefore;
    const last = cursor.problems.length > problemsBefore ? cursor.problems[cursor.problems.length - 1] : undefined;
    brokenOff = last !== undefined && cursor.slice(last.start, last.end) === ';';
  }
  return listOf(statements);
}

/**
 * One statement with its closing semicolon. After a mistake everything up to the next statement is skipped, and
 * problems are reported again from there on.
 */
export function parseStatement(cursor: Cursor, first = false): Statement {
  if (cursor.at(';')) {
    const { start } = cursor;
    cursor.advance();
    return { kind: 'empty', start, end: cursor.end };
  }
  const { index } = cursor;
  const problemsBefore = cursor.problems.length;
  const statement = dispatch(cursor, first);
  if (!cursor.recovering && !atStatementEnd(cursor)) {
    // Behind an earlier mistake this is its consequence, and so is a parenthesis of what was lost there.
    if (cursor.problems.length > problemsBefore || (cursor.at(')') && cursor.problems.length > 0))
      cursor.recovering = true;
    else cursor.fail('the end of the statement');
  }
  if (cursor.recovering) {
    if (cursor.index === index && !cursor.atEnd) cursor.advance();
    recoverStatement(cursor);
    cursor.recovering = false;
  }
  if (statement.kind === 'merge' && !cursor.at(';') && cursor.problems.length === 0) {
    cursor.report(
      Math.max(0, cursor.end - 1),
      cursor.end,
      "Expected ';': a MERGE statement must end with a semicolon.",
    );
    cursor.recovering = false;
  }
  if (statement.kind !== 'label') cursor.eat(';');
  return statement;
}

/** A statement may be over here: a semicolon, the end, or a word that begins another one or ends a block. */
function atStatementEnd(cursor: Cursor): boolean {
  if (cursor.at(';') || cursor.atEnd || cursor.at('END') || cursor.at('ELSE')) return true;
  if (cursor.at('(')) return cursor.peek(1) === 'SELECT' || cursor.peek(1) === '(';
  if (cursor.kind === tokenKind.reserved) return starters.has(cursor.word) || opaqueStarters.has(cursor.word);
  if (cursor.kind !== tokenKind.word) return false;
  return (
    starters.has(cursor.word) ||
    opaqueStarters.has(cursor.word) ||
    cursor.peek(1) === ':' ||
    cursor.previousWord === ':'
  );
}

type Starter = (cursor: Cursor) => Statement;

const starters: ReadonlyMap<string, Starter> = new Map<string, Starter>([
  ['SELECT', parseSelectStatement],
  ['WITH', parseWithStatement],
  ['(', parseSelectStatement],
  ['INSERT', (cursor) => (cursor.peek(1) === 'BULK' ? parseOpaque(cursor) : parseWrite(cursor, null, cursor.start))],
  ['UPDATE', parseUpdateOrStatistics],
  ['DELETE', (cursor) => parseWrite(cursor, null, cursor.start)],
  ['MERGE', (cursor) => parseWrite(cursor, null, cursor.start)],
  ['CREATE', parseCreate],
  ['ALTER', parseAlter],
  ['DROP', parseDropStatement],
  ['TRUNCATE', parseTruncate],
  ['DECLARE', parseDeclare],
  ['SET', parseSet],
  ['IF', parseIf],
  ['WHILE', parseWhile],
  ['BEGIN', parseBegin],
  ['COMMIT', parseTransaction],
  ['ROLLBACK', parseTransaction],
  ['SAVE', parseTransaction],
  ['THROW', parseThrow],
  ['RAISERROR', parseRaiseError],
  ['EXEC', parseExecuteStatement],
  ['EXECUTE', parseExecuteStatement],
  ['PRINT', parsePrint],
  ['RETURN', parseReturn],
  ['GOTO', parseGoto],
  ['BREAK', parseLoopControl],
  ['CONTINUE', parseLoopControl],
  ['USE', parseUse],
  ['WAITFOR', parseWaitFor],
  ['OPEN', parseCursorStatement],
  ['CLOSE', parseCursorStatement],
  ['DEALLOCATE', parseCursorStatement],
  ['FETCH', parseCursorStatement],
  ['GRANT', parsePermission],
  ['DENY', parsePermission],
  ['REVOKE', parsePermission],
  ['BULK', parseBulkInsert],
  ['RENAME', parseRename],
  ['ENABLE', parseTriggerSwitch],
  ['DISABLE', parseTriggerSwitch],
]);

/** Words that begin a statement of which only the bounds are known. */
const opaqueStarters: ReadonlySet<string> = new Set([
  'ADD',
  'BACKUP',
  'CHECKPOINT',
  'COPY',
  'DBCC',
  'DUMP',
  'END_CONVERSATION',
  'EXPLAIN',
  'GET',
  'KILL',
  'LINENO',
  'LOAD',
  'MOVE',
  'READTEXT',
  'RECEIVE',
  'RECONFIGURE',
  'RESTORE',
  'REVERT',
  'SEND',
  'SETUSER',
  'SHUTDOWN',
  'UPDATETEXT',
  'WRITETEXT',
]);

function dispatch(cursor: Cursor, first: boolean): Statement {
  const { word, start } = cursor;
  if (cursor.kind === tokenKind.word && cursor.peek(1) === ':') return parseLabel(cursor);
  const starter = starters.get(word);
  if (starter !== undefined && isStarterHere(cursor)) return starter(cursor);
  if (word === 'COPY' && cursor.peek(1) !== 'INTO') {
    cursor.advance();
    cursor.fail('INTO');
    return { kind: 'opaque', start, end: cursor.end, name: 'COPY' };
  }
  if (opaqueStarters.has(word)) return parseOpaque(cursor);
  if (word === 'END' && cursor.peek(1) === 'CONVERSATION') return parseOpaque(cursor);
  if (/^go$/i.test(cursor.tokenText)) return parseBrokenGo(cursor);
  // A procedure's name alone at the start of a batch is an EXECUTE.
  if (first && (cursor.atName || cursor.kind === tokenKind.variable)) return parseExecute(cursor);
  if (cursor.problems[cursor.problems.length - 1]?.end === cursor.end) {
    // It belongs to the mistake just before it.
    cursor.recovering = true;
  } else if (cursor.problems.length > 0 && closers.has(word)) {
    // What it closes was lost in the mistake before it.
    cursor.recovering = true;
  } else cursor.fail('a statement');
  return { kind: 'opaque', start, end: cursor.currentEnd, name: '' };
}

const closers: ReadonlySet<string> = new Set(['END', 'ELSE', 'CATCH']);

/** Words that are no keywords may also be names of procedures. */
function isStarterHere(cursor: Cursor): boolean {
  switch (cursor.word) {
    case 'RENAME':
      return cursor.peek(1) === 'OBJECT' || cursor.peek(1) === 'DATABASE';
    default:
      return true;
  }
}

function parseSelectStatement(cursor: Cursor): Statement {
  const { start } = cursor;
  return finishSelect(cursor, start, parseQueryWithTables(cursor));
}

function parseWithStatement(cursor: Cursor): Statement {
  const { start } = cursor;
  const withClause = parseWith(cursor);
  if (cursor.at('INSERT') || cursor.at('UPDATE') || cursor.at('DELETE') || cursor.at('MERGE')) {
    return parseWrite(cursor, withClause, start);
  }
  return finishSelect(cursor, start, parseQueryAfterWith(cursor, withClause, start));
}

/** Microsoft's grammar takes FOR UPDATE behind the query of any statement, and the server refuses it outside of cursors. */
function finishSelect(cursor: Cursor, start: number, query: Query): Statement {
  if (query.forClause === null && cursor.at('FOR') && (cursor.peek(1) === 'UPDATE' || cursor.peek(1) === 'READ'))
    skipForUpdate(cursor);
  const hints = parseOptionalHints(cursor);
  return { kind: 'select-statement', start, end: cursor.end, query, hints };
}

function parseUpdateOrStatistics(cursor: Cursor): Statement {
  const { start } = cursor;
  if (cursor.peek(1) !== 'STATISTICS') return parseWrite(cursor, null, start);
  cursor.advance();
  cursor.advance();
  return parseStatistics(cursor, start, false);
}

function parseExecuteStatement(cursor: Cursor): Statement {
  return cursor.peek(1) === 'AS' ? parseExecuteAs(cursor) : parseExecute(cursor);
}

/** CREATE and CREATE OR ALTER. */
function parseCreate(cursor: Cursor): Statement {
  const { start } = cursor;
  const orAlter = cursor.peek(1) === 'OR' && cursor.peek(2) === 'ALTER';
  const distance = orAlter ? 3 : 1;
  const subject = cursor.peek(distance);
  requireBatchStart(cursor, subject);
  const pass = (count: number): void => {
    for (let passed = 0; passed < count; passed += 1) cursor.advance();
  };
  switch (subject) {
    case 'PROCEDURE':
    case 'PROC':
      pass(distance + 1);
      return parseProcedure(cursor, start, orAlter);
    case 'FUNCTION':
      pass(distance + 1);
      return parseFunction(cursor, start, orAlter);
    case 'TRIGGER':
      pass(distance + 1);
      return parseTrigger(cursor, start, orAlter);
    case 'VIEW':
      pass(distance + 1);
      return parseView(cursor, start, orAlter, false);
    default:
  }
  if (orAlter) {
    pass(distance);
    cursor.fail('PROCEDURE, FUNCTION, TRIGGER or VIEW');
    return { kind: 'opaque', start, end: cursor.end, name: 'CREATE OR ALTER' };
  }
  return parseCreateObject(cursor, start, subject, pass);
}

function parseCreateObject(cursor: Cursor, start: number, subject: string, pass: (count: number) => void): Statement {
  const next = cursor.peek(2);
  switch (subject) {
    case 'TABLE':
      pass(2);
      return parseCreateTable(cursor, start, false);
    case 'EXTERNAL':
      if (next !== 'TABLE') return parseOpaque(cursor);
      pass(3);
      return parseCreateTable(cursor, start, true);
    case 'UNIQUE':
    case 'CLUSTERED':
    case 'NONCLUSTERED':
    case 'COLUMNSTORE':
    case 'INDEX':
      pass(1);
      return parseCreateIndex(cursor, start);
    case 'MATERIALIZED':
      if (next !== 'VIEW') break;
      pass(3);
      return parseView(cursor, start, false, true);
    case 'TYPE':
      pass(2);
      return parseCreateType(cursor, start);
    case 'SEQUENCE':
      pass(2);
      return parseSequence(cursor, start, false);
    case 'SCHEMA':
      pass(2);
      return parseCreateSchema(cursor, start);
    case 'STATISTICS':
      pass(2);
      return parseStatistics(cursor, start, true);
    case 'PARTITION':
      if (next === 'FUNCTION') {
        pass(3);
        return parsePartitionFunction(cursor, start);
      }
      if (next === 'SCHEME') {
        pass(3);
        return parsePartitionScheme(cursor, start);
      }
      break;
    default:
      if (createSubjects.has(subject)) return parseOpaque(cursor);
  }
  pass(1);
  cursor.fail('TABLE, VIEW, PROCEDURE, FUNCTION, INDEX or another kind of object');
  return { kind: 'opaque', start, end: cursor.end, name: 'CREATE' };
}

/** DROP of objects that CREATE makes, and of a few that only DROP names. */
function parseDropStatement(cursor: Cursor): Statement {
  const { start } = cursor;
  const drop = parseDrop(cursor);
  if (drop !== null) return drop;
  const subject = cursor.peek(1);
  if (createSubjects.has(subject) || dropSubjects.has(subject)) return parseOpaque(cursor);
  cursor.advance();
  cursor.fail('TABLE, VIEW, PROCEDURE, FUNCTION, INDEX or another kind of object');
  return { kind: 'opaque', start, end: cursor.end, name: 'DROP' };
}

function parseAlter(cursor: Cursor): Statement {
  const { start } = cursor;
  const subject = cursor.peek(1);
  requireBatchStart(cursor, subject);
  const pass = (count: number): void => {
    for (let passed = 0; passed < count; passed += 1) cursor.advance();
  };
  switch (subject) {
    case 'TABLE':
      pass(2);
      return parseAlterTable(cursor, start);
    case 'PROCEDURE':
    case 'PROC':
      pass(2);
      return parseProcedure(cursor, start, true);
    case 'FUNCTION':
      pass(2);
      return parseFunction(cursor, start, true);
    case 'TRIGGER':
      pass(2);
      return parseTrigger(cursor, start, true);
    case 'VIEW':
      pass(2);
      return parseView(cursor, start, true, false);
    case 'INDEX':
      pass(2);
      return parseAlterIndex(cursor, start);
    case 'SEQUENCE':
      pass(2);
      return parseSequence(cursor, start, true);
    case 'PARTITION':
      if (cursor.peek(2) === 'SCHEME') return parseOpaque(cursor);
      if (cursor.peek(2) !== 'FUNCTION') break;
      pass(3);
      return parseAlterPartitionFunction(cursor, start);
    case 'SCHEMA':
      return parseAlterSchema(cursor);
    case 'EXTERNAL':
    case 'MATERIALIZED':
      return parseOpaque(cursor);
    default:
      if (createSubjects.has(subject)) return parseOpaque(cursor);
  }
  pass(1);
  cursor.fail('TABLE, VIEW, PROCEDURE, FUNCTION, INDEX or another kind of object');
  return { kind: 'opaque', start, end: cursor.end, name: 'ALTER' };
}
