import { parseClustered, parseIndexTail, parseKeyColumnsInside } from './constraints.ts';
import type { Cursor } from './cursor.ts';
import { parseName } from './names.ts';
import { none } from './none.ts';
import { refuseDoubledKind } from './openStarts.ts';
import { parseTableOptions } from './options.ts';
import { tokenKind } from './tokens.ts';
import type {
  CreateIndex,
  CreateSchema,
  CreateSequence,
  CreateType,
  DataType,
  Drop,
  KeyColumn,
  Name,
  Option,
  Rename,
  Statement,
  TableElement,
  Truncate,
} from './tree.ts';
import { parseDataType } from './types.ts';

/** The parenthesis at the current token lists columns; DuckDB's indexes may hold expressions, too. */
function holdsNames(cursor: Cursor): boolean {
  if (!cursor.at('(')) return false;
  for (let distance = 1; ; distance += 2) {
    if (!cursor.nameAhead(distance)) return false;
    const next = cursor.peek(distance + 1);
    if (next === ')') return true;
    if (next !== ',') return false;
  }
}

/** CREATE [UNIQUE] [CLUSTERED | NONCLUSTERED] [COLUMNSTORE] INDEX, from the word behind CREATE on. */
export function parseCreateIndex(cursor: Cursor, start: number): CreateIndex {
  const from = cursor.start;
  const unique = cursor.eat('UNIQUE');
  const clustered = parseClustered(cursor);
  const columnstore = cursor.eat('COLUMNSTORE');
  cursor.expect('INDEX');
  if (cursor.dialect.family === 'duckdb') cursor.eatSequence('IF', 'NOT', 'EXISTS');
  const name = cursor.identifier('the name of an index');
  cursor.expect('ON');
  const table = parseName(cursor, 'a table');
  let columns: readonly KeyColumn[] = none;
  if (columnstore) {
    if (cursor.eat('(')) columns = parseKeyColumnsInside(cursor);
    else if (clustered !== true) cursor.fail("'('");
  } else if (cursor.dialect.family === 'duckdb') {
    if (cursor.eat('USING')) cursor.identifier('the kind of the index');
    if (holdsNames(cursor)) {
      cursor.advance();
      columns = parseKeyColumnsInside(cursor);
    } else if (cursor.at('(')) cursor.skipParentheses();
  } else if (cursor.expect('(')) columns = parseKeyColumnsInside(cursor);
  const tail = parseIndexTail(cursor);
  const { end } = cursor;
  const definition = {
    kind: 'index-definition' as const,
    start: from,
    end,
    name,
    unique,
    clustered,
    columnstore,
    columns,
    ...tail,
  };
  return { kind: 'create-index', start, end, table, definition };
}

/** CREATE TYPE from the name on. */
export function parseCreateType(cursor: Cursor, start: number): CreateType {
  const name = parseName(cursor, 'the name of a type', 2);
  let elements: readonly TableElement[] = none;
  let base: DataType | null = null;
  let nullable: boolean | null = null;
  let table = false;
  const options: Option[] = [];
  if (cursor.eat('FROM')) {
    base = parseDataType(cursor);
    if (cursor.eat('NULL')) nullable = true;
    else if (cursor.at('NOT')) {
      cursor.advance();
      cursor.expect('NULL');
      nullable = false;
    }
  } else if (cursor.at('AS') && cursor.peek(1) === 'TABLE') {
    cursor.advance();
    cursor.advance();
    table = true;
    elements = cursor.grammar.tableElements(cursor);
    if (cursor.at('WITH') && cursor.peek(1) === '(') {
      cursor.advance();
      options.push(...parseTableOptions(cursor));
    }
  } else if (cursor.eat('AS')) {
    base = parseDataType(cursor);
  } else if (cursor.at('EXTERNAL')) {
    cursor.advance();
    cursor.expect('NAME');
    parseName(cursor);
  } else cursor.fail('FROM, AS TABLE or EXTERNAL NAME');
  return { kind: 'create-type', start, end: cursor.end, name, elements, base, nullable, table, options };
}

const sequenceWords: ReadonlySet<string> = new Set([
  'START',
  'RESTART',
  'INCREMENT',
  'MINVALUE',
  'MAXVALUE',
  'CYCLE',
  'CACHE',
  'NO',
  'AS',
]);

/** CREATE SEQUENCE and ALTER SEQUENCE from the name on. */
export function parseSequence(cursor: Cursor, start: number, alter: boolean): CreateSequence {
  const name = parseName(cursor, 'the name of a sequence', 3);
  let type: DataType | null = null;
  const options: Option[] = [];
  while (sequenceWords.has(cursor.word) && !cursor.recovering) {
    const from = cursor.start;
    if (cursor.at('AS') && !alter) {
      cursor.advance();
      type = parseDataType(cursor);
      continue;
    }
    const option = parseSequenceOption(cursor);
    options.push({
      kind: 'option',
      start: from,
      end: cursor.end,
      name: option,
      value: cursor.slice(from, cursor.end),
      columns: none,
    });
  }
  return { kind: 'create-sequence', start, end: cursor.end, alter, name, type, options };
}

function parseSequenceOption(cursor: Cursor): string {
  const { word } = cursor;
  cursor.advance();
  switch (word) {
    case 'NO':
      if (cursor.eatAny('MINVALUE', 'MAXVALUE', 'CYCLE', 'CACHE') === null)
        cursor.fail('MINVALUE, MAXVALUE, CYCLE or CACHE');
      return word;
    case 'START':
      if (!cursor.eat('WITH') && cursor.dialect.family === 'tsql') cursor.fail('WITH');
      takeNumber(cursor, true);
      return word;
    case 'RESTART':
      if (cursor.eat('WITH')) takeNumber(cursor, true);
      return word;
    case 'INCREMENT':
      if (!cursor.eat('BY') && cursor.dialect.family === 'tsql') cursor.fail('BY');
      takeNumber(cursor, true);
      return word;
    case 'MINVALUE':
    case 'MAXVALUE':
      takeNumber(cursor, true);
      return word;
    case 'CACHE':
      takeNumber(cursor, false);
      return word;
    default:
      return word;
  }
}

function takeNumber(cursor: Cursor, required: boolean): void {
  const signed = cursor.at('-') || cursor.at('+');
  if (signed) cursor.advance();
  if (cursor.kind === tokenKind.number || cursor.tokenText.startsWith('$(')) cursor.advance();
  else if (required || signed) cursor.fail('a number');
}

/** CREATE SCHEMA from the name on. The statements that T-SQL allows behind it follow as statements of their own. */
export function parseCreateSchema(cursor: Cursor, start: number): CreateSchema {
  const ifNotExists = cursor.dialect.family !== 'tsql' && cursor.eatSequence('IF', 'NOT', 'EXISTS');
  let name: Name;
  if (cursor.at('AUTHORIZATION')) {
    cursor.advance();
    name = parseName(cursor, 'an owner');
  } else {
    name = parseName(cursor, 'the name of a schema');
    if (cursor.eat('AUTHORIZATION')) cursor.identifier('an owner');
  }
  if (cursor.dialect.family === 'duckdb' && cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    cursor.skipParentheses();
  }
  if (cursor.dialect.family === 'spark') skipSchemaClauses(cursor);
  return { kind: 'create-schema', start, end: cursor.end, name, ifNotExists };
}

/** COMMENT, [MANAGED] LOCATION, WITH DBPROPERTIES, DEFAULT COLLATION. */
function skipSchemaClauses(cursor: Cursor): void {
  while (!cursor.atEnd && !cursor.at(';')) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
}

/** Objects whose names are a plain list of names. */
const plainDrops: ReadonlySet<string> = new Set([
  'TABLE',
  'VIEW',
  'PROCEDURE',
  'PROC',
  'FUNCTION',
  'SEQUENCE',
  'SYNONYM',
  'SCHEMA',
  'TYPE',
  'DATABASE',
  'STATISTICS',
  'DEFAULT',
  'RULE',
  'AGGREGATE',
  'MACRO',
]);

/** Objects that T-SQL drops in the current database only. */
const databaseless: ReadonlySet<string> = new Set([
  'VIEW',
  'PROCEDURE',
  'FUNCTION',
  'TRIGGER',
  'RULE',
  'DEFAULT',
  'AGGREGATE',
]);

/** DROP with a list of names; null (and nothing read) for other objects. */
export function parseDrop(cursor: Cursor): Statement | null {
  const { start } = cursor;
  const first = cursor.peek(1);
  const external = first === 'EXTERNAL' && cursor.peek(2) === 'TABLE';
  const isIndex = first === 'INDEX';
  const isTrigger = first === 'TRIGGER' && cursor.dialect.family === 'tsql';
  if (!external && !isIndex && !isTrigger && !plainDrops.has(first)) return null;
  // DATABASE is followed by other words for its parts: DATABASE SCOPED CREDENTIAL, DATABASE AUDIT SPECIFICATION.
  if (first === 'DATABASE' && cursor.peekKind(2) === tokenKind.word) {
    if (cursor.nameAhead(3) || (cursor.peek(2) === 'ENCRYPTION' && cursor.peek(3) === 'KEY')) return null;
  }
  cursor.advance();
  if (external) cursor.advance();
  const objectType = external ? 'EXTERNAL TABLE' : first === 'PROC' ? 'PROCEDURE' : first;
  cursor.advance();
  refuseDoubledKind(cursor, 'a name');
  // DuckDB: DROP MACRO TABLE f.
  if (first === 'MACRO') cursor.eat('TABLE');
  const ifExists = cursor.eatSequence('IF', 'EXISTS');
  const names: Name[] = [];
  do {
    names.push(parseName(cursor, 'a name', databaseless.has(objectType) && cursor.dialect.family === 'tsql' ? 2 : 4));
    if (isIndex && cursor.eat('ON')) parseDroppedIndex(cursor);
    else if (isIndex && cursor.dialect.family === 'tsql' && (names[names.length - 1]?.parts.length ?? 0) < 2)
      cursor.fail('ON');
  } while (!cursor.recovering && cursor.eat(','));
  if (isTrigger && cursor.eat('ON')) {
    if (!cursor.eat('DATABASE') && !cursor.eatSequence('ALL', 'SERVER')) cursor.fail('DATABASE or ALL SERVER');
  }
  if (cursor.dialect.family !== 'tsql') {
    cursor.eatAny('CASCADE', 'RESTRICT');
    cursor.eat('PURGE');
    if (cursor.at('(')) cursor.skipParentheses();
  } else if (objectType === 'SCHEMA') cursor.eatAny('CASCADE', 'RESTRICT');
  const drop: Drop = { kind: 'drop', start, end: cursor.end, objectType, ifExists, names };
  return drop;
}

function parseDroppedIndex(cursor: Cursor): void {
  parseName(cursor, 'a table');
  if (cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    cursor.skipParentheses();
  }
}

/** TRUNCATE TABLE name [WITH (PARTITIONS (…))]. */
export function parseTruncate(cursor: Cursor): Truncate {
  const { start } = cursor;
  cursor.advance();
  if (cursor.dialect.family === 'duckdb') cursor.eat('TABLE');
  else cursor.expect('TABLE');
  const table = parseName(cursor, 'a table');
  if (cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    cursor.skipParentheses();
  }
  if (cursor.dialect.family === 'spark' && cursor.at('PARTITION')) {
    cursor.advance();
    if (cursor.at('(')) cursor.skipParentheses();
  }
  return { kind: 'truncate', start, end: cursor.end, table };
}

/** Synapse's RENAME OBJECT [::] a [COLUMN b] TO c. */
export function parseRename(cursor: Cursor): Rename {
  const { start } = cursor;
  cursor.advance();
  const objectType = cursor.tokenText.toUpperCase();
  cursor.advance();
  cursor.eat('::');
  const from = parseName(cursor, 'a table');
  const ofColumn = cursor.dialect.family === 'tsql' && cursor.eat('COLUMN');
  const column = ofColumn ? cursor.identifier('a column name') : null;
  cursor.expect('TO');
  const to = cursor.identifier('the new name');
  return { kind: 'rename', start, end: cursor.end, objectType, from, column, to, gives: 'name' };
}
