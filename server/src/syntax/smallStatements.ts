import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseIdentifierList, parseName } from './names.ts';
import { opaqueStatement, parseOpaque } from './opaque.ts';
import { parseAnyOptions } from './options.ts';
import { tokenKind } from './tokens.ts';
import type { Statement } from './tree.ts';
import { parseDataType } from './types.ts';

/** Statements with a short grammar of their own and no meaning for loads; they are kept as opaque statements. */

/** USE database. */
export function parseUse(cursor: Cursor): Statement {
  const { start } = cursor;
  if (cursor.dialect.family === 'tsql' && cursor.peek(1) === 'FEDERATION' && cursor.nameAhead(2)) {
    return parseOpaque(cursor);
  }
  cursor.advance();
  if (cursor.dialect.family === 'spark') {
    if (/^namespace$/i.test(cursor.tokenText) && cursor.nameAhead(1)) cursor.advance();
    else cursor.eatAny('CATALOG', 'SCHEMA', 'DATABASE');
  }
  if (cursor.dialect.family === 'spark' && (cursor.kind === tokenKind.string || cursor.kind === tokenKind.variable)) {
    const part = cursor.takeIdentifier();
    return { kind: 'use', start, end: cursor.end, name: { ...part, kind: 'name', parts: [part] } };
  }
  const name = parseName(cursor, 'a database');
  return { kind: 'use', start, end: cursor.end, name };
}

export function parseGoto(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const name = cursor.identifier('a label');
  return { kind: 'goto', start, end: cursor.end, name };
}

export function parseLabel(cursor: Cursor): Statement {
  const { start } = cursor;
  const name = cursor.takeIdentifier();
  cursor.advance();
  return { kind: 'label', start, end: cursor.end, name };
}

export function parseLoopControl(cursor: Cursor): Statement {
  const { start } = cursor;
  const action = cursor.at('BREAK') ? 'break' : 'continue';
  cursor.advance();
  return { kind: 'loop-control', start, end: cursor.end, action };
}

/** WAITFOR DELAY | TIME value, WAITFOR ( … ) [, TIMEOUT n]. */
export function parseWaitFor(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  if (cursor.at('(')) {
    cursor.skipParentheses();
    if (cursor.eat(',')) {
      cursor.expect('TIMEOUT');
      cursor.grammar.operand(cursor);
    }
  } else if (cursor.eatAny('DELAY', 'TIME') === null) cursor.fail("DELAY, TIME or '('");
  else cursor.grammar.operand(cursor);
  return opaqueStatement(cursor, start, 'WAITFOR');
}

/** CREATE STATISTICS and UPDATE STATISTICS. */
export function parseStatistics(cursor: Cursor, start: number, create: boolean): Statement {
  if (create) {
    cursor.identifier('a name');
    cursor.expect('ON');
    parseName(cursor, 'a table');
    if (cursor.at('(')) parseIdentifierList(cursor);
    else cursor.fail("'('");
    if (cursor.eat('WHERE')) cursor.grammar.condition(cursor);
  } else {
    parseName(cursor, 'a table');
    if (cursor.at('(')) parseIdentifierList(cursor);
    else if (cursor.atName) cursor.advance();
  }
  if (cursor.eat('WITH')) {
    do parseStatisticsOption(cursor);
    while (!cursor.recovering && cursor.eat(','));
  }
  return opaqueStatement(cursor, start, create ? 'CREATE STATISTICS' : 'UPDATE STATISTICS');
}

function parseStatisticsOption(cursor: Cursor): void {
  if (cursor.kind !== tokenKind.word && cursor.kind !== tokenKind.reserved) {
    cursor.fail('FULLSCAN, SAMPLE or another option');
    return;
  }
  const { word } = cursor;
  cursor.advance();
  if (word === 'SAMPLE') {
    cursor.grammar.operand(cursor);
    if (cursor.eatAny('PERCENT', 'ROWS') === null) cursor.fail('PERCENT or ROWS');
  } else if (cursor.eat('=')) cursor.grammar.settingValue(cursor);
  else if (cursor.at('ON') || cursor.at('(')) {
    cursor.eat('ON');
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.grammar.settingValue(cursor);
    if (cursor.at('(')) cursor.skipParentheses();
  }
}

/** CREATE PARTITION FUNCTION name (type) AS RANGE [LEFT | RIGHT] FOR VALUES (…). */
export function parsePartitionFunction(cursor: Cursor, start: number): Statement {
  cursor.identifier('a name');
  if (cursor.expect('(')) {
    parseDataType(cursor);
    if (cursor.eat('COLLATE')) cursor.identifier('a collation');
    closeParenthesis(cursor);
  }
  cursor.expect('AS');
  cursor.expect('RANGE');
  cursor.eatAny('LEFT', 'RIGHT');
  cursor.expect('FOR');
  cursor.expect('VALUES');
  if (cursor.expect('(') && !cursor.eat(')')) {
    do cursor.grammar.value(cursor);
    while (!cursor.recovering && cursor.eat(','));
    closeParenthesis(cursor);
  }
  return opaqueStatement(cursor, start, 'CREATE PARTITION FUNCTION');
}

/** ALTER PARTITION FUNCTION name () SPLIT | MERGE RANGE (value). */
export function parseAlterPartitionFunction(cursor: Cursor, start: number): Statement {
  cursor.identifier('a name');
  cursor.expect('(');
  closeParenthesis(cursor);
  if (cursor.eatAny('SPLIT', 'MERGE') === null) cursor.fail('SPLIT or MERGE');
  cursor.expect('RANGE');
  if (cursor.eat('(')) {
    cursor.grammar.value(cursor);
    closeParenthesis(cursor);
  }
  return opaqueStatement(cursor, start, 'ALTER PARTITION FUNCTION');
}

/** CREATE PARTITION SCHEME name AS PARTITION function [ALL] TO (filegroups). */
export function parsePartitionScheme(cursor: Cursor, start: number): Statement {
  cursor.identifier('a name');
  cursor.expect('AS');
  cursor.expect('PARTITION');
  cursor.identifier('a partition function');
  cursor.eat('ALL');
  cursor.expect('TO');
  if (cursor.expect('(')) {
    do
      if (cursor.kind === tokenKind.string) cursor.advance();
      else cursor.identifier('a filegroup');
    while (!cursor.recovering && cursor.eat(','));
    closeParenthesis(cursor);
  }
  return opaqueStatement(cursor, start, 'CREATE PARTITION SCHEME');
}

/** BULK INSERT table FROM 'file' [WITH (option, …)]. */
export function parseBulkInsert(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  cursor.expect('INSERT');
  parseName(cursor, 'a table');
  cursor.expect('FROM');
  if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString || cursor.kind === tokenKind.number)
    cursor.advance();
  else cursor.identifier('a file');
  if (cursor.eat('WITH')) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.fail("'('");
  }
  return opaqueStatement(cursor, start, 'BULK INSERT');
}

/** ALTER SCHEMA name TRANSFER [class ::] securable. */
export function parseAlterSchema(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const to = cursor.identifier('a schema');
  cursor.expect('TRANSFER');
  let objectType = 'OBJECT';
  if (cursor.peek(1) === '::') {
    objectType = cursor.tokenText.toUpperCase();
    if (objectType !== 'OBJECT' && objectType !== 'TYPE') cursor.fail('OBJECT, TYPE or XML SCHEMA COLLECTION');
    cursor.advance();
    cursor.advance();
  } else if (cursor.at('XML')) {
    objectType = 'XML SCHEMA COLLECTION';
    cursor.advance();
    cursor.expect('SCHEMA');
    if (/^collection$/i.test(cursor.tokenText)) cursor.advance();
    else cursor.fail('COLLECTION');
    cursor.expect('::');
  }
  const from = parseName(cursor, 'an object');
  return { kind: 'rename', start, end: cursor.end, objectType, from, column: null, to, gives: 'schema' };
}

/** ENABLE | DISABLE TRIGGER names ON table. */
export function parseTriggerSwitch(cursor: Cursor): Statement {
  const { start } = cursor;
  const verb = cursor.tokenText.toUpperCase();
  cursor.advance();
  cursor.expect('TRIGGER');
  if (!cursor.eat('ALL')) {
    do parseName(cursor, 'a trigger');
    while (!cursor.recovering && cursor.eat(','));
  }
  cursor.expect('ON');
  if (!cursor.eat('DATABASE') && !cursor.eatSequence('ALL', 'SERVER')) parseName(cursor, 'a table');
  return opaqueStatement(cursor, start, `${verb} TRIGGER`);
}

/** ALTER INDEX name | ALL ON table REBUILD | REORGANIZE | DISABLE | SET | RESUME | PAUSE | ABORT | FOR (…). */
export function parseAlterIndex(cursor: Cursor, start: number): Statement {
  if (!cursor.eat('ALL')) cursor.identifier('ALL or the name of an index');
  cursor.expect('ON');
  parseName(cursor, 'a table');
  if (cursor.at('FOR') || (cursor.at('WITH') && cursor.peek(1) === 'XMLNAMESPACES')) {
    parseSelectivePaths(cursor);
    return opaqueStatement(cursor, start, 'ALTER INDEX');
  }
  const action = cursor.eatAny('REBUILD', 'REORGANIZE', 'DISABLE', 'SET', 'RESUME', 'PAUSE', 'ABORT');
  if (action === null) cursor.fail('REBUILD, REORGANIZE, DISABLE or SET');
  if (action === 'SET') {
    if (cursor.at('(')) parseAnyOptions(cursor);
    else cursor.fail("'('");
  }
  if (cursor.eat('PARTITION')) {
    cursor.expect('=');
    if (!cursor.eat('ALL')) cursor.grammar.operand(cursor);
  }
  if (cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    parseAnyOptions(cursor);
  }
  return opaqueStatement(cursor, start, 'ALTER INDEX');
}

/** The paths of a selective XML index: [WITH XMLNAMESPACES (…)] FOR (ADD … | REMOVE …). */
function parseSelectivePaths(cursor: Cursor): void {
  if (cursor.eat('WITH')) {
    cursor.advance();
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.fail("'('");
  }
  cursor.expect('FOR');
  if (cursor.at('(')) cursor.skipParentheses();
  else cursor.fail("'('");
}
