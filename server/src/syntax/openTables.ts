import type { Cursor } from './cursor.ts';
import { decodeString } from './literals.ts';
import { closeParenthesis, namePart, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parseColumn, parseOpenElements } from './openColumns.ts';
import { refuseDoubledKind } from './openStarts.ts';
import { parseQueryWithTables } from './queries.ts';
import { tokenKind } from './tokens.ts';
import type { ColumnDefinition, CreateTable, Identifier, Name, Option, Query, TableElement } from './tree.ts';

/** What was written between CREATE and the name of the table. */
export interface TableHead {
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly external: boolean;
  readonly temporary: boolean;
  readonly modifiers: readonly string[];
}

/** CREATE TABLE of Spark SQL and DuckDB from the name on; `start` is the start of CREATE. */
export function parseOpenTable(cursor: Cursor, start: number, head: TableHead): CreateTable {
  refuseDoubledKind(cursor, 'the name of a table');
  const name = parseName(cursor, 'the name of a table');
  let elements: readonly TableElement[] = none;
  const options: Option[] = [];
  /** Hive's form gives the partition columns with their types here, and they are columns of the table. */
  const partitions: ColumnDefinition[] = [];
  let query: Query | null = null;
  let cloneOf: Name | null = null;
  if (cursor.at('(') && cursor.peek(1) !== 'SELECT') elements = parseOpenElements(cursor);
  else if (cursor.dialect.family === 'duckdb' && !headClauses.has(cursor.word)) cursor.fail("'(' or AS");
  while (!cursor.recovering && !cursor.atEnd && !cursor.at(';')) {
    if (cursor.at('AS') || cursor.at('SELECT') || cursor.at('WITH') || cursor.at('(')) {
      if (cursor.at('WITH') && cursor.peek(1) === 'ROW') {
        options.push(parseRowFilter(cursor));
        continue;
      }
      if (cursor.at('WITH') && cursor.peek(1) === '(') {
        options.push(skipClause(cursor));
        continue;
      }
      if (!cursor.eat('AS') && cursor.dialect.family === 'duckdb') cursor.fail('AS');
      query = parseQueryWithTables(cursor);
      skipDataClause(cursor);
      break;
    }
    if (cursor.at('LIKE')) {
      cursor.advance();
      cloneOf = parseName(cursor, 'a table');
      continue;
    }
    if (cursor.at('CLONE') || ((cursor.at('SHALLOW') || cursor.at('DEEP')) && cursor.peek(1) === 'CLONE')) {
      if (!cursor.at('CLONE')) cursor.advance();
      cursor.advance();
      const source = cursor.grammar.singleSource(cursor);
      if (source.kind === 'table') cloneOf = source.name;
      continue;
    }
    if (cursor.at(')')) cursor.fail('the end of the statement');
    else options.push(parseTableClause(cursor, partitions));
  }
  if (query === null) requireTypes(cursor, elements, head.modifiers);
  const { end } = cursor;
  return {
    kind: 'create-table',
    start,
    end,
    name,
    ...head,
    elements: partitions.length === 0 ? elements : [...elements, ...partitions],
    query,
    cloneOf,
    graph: null,
    fileTable: false,
    options,
  };
}

/** What stands between the name of DuckDB's tables and AS, where they have no columns of their own. */
const headClauses: ReadonlySet<string> = new Set(['AS', 'SELECT', 'WITH', '(', 'PARTITIONED', 'SORTED', 'ON']);

/** Columns of a table that no query fills have types; pipelines may take them from what flows into the table. */
function requireTypes(cursor: Cursor, elements: readonly TableElement[], modifiers: readonly string[]): void {
  if (cursor.recovering || modifiers.some((word) => word === 'STREAMING' || word === 'LIVE')) return;
  for (const element of elements) {
    if (element.kind !== 'column-definition' || element.name.name === '') continue;
    if (element.type !== null || element.computed !== null) continue;
    cursor.report(element.name.start, element.name.end, `Expected the type of the column ${element.name.name}.`);
    cursor.recovering = false;
    return;
  }
}

/** DuckDB's WITH [NO] DATA behind a query. */
function skipDataClause(cursor: Cursor): void {
  if (cursor.dialect.family !== 'duckdb' || !cursor.eat('WITH')) return;
  cursor.eat('NO');
  cursor.expect('DATA');
}

function parseRowFilter(cursor: Cursor): Option {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  cursor.expect('FILTER');
  parseName(cursor, 'a function');
  if (cursor.eat('ON') && cursor.at('(')) cursor.skipParentheses();
  return { kind: 'option', start, end: cursor.end, name: 'ROW FILTER', value: null, columns: none };
}

/** Words that begin the next clause of CREATE TABLE. */
const clauseStarts: ReadonlySet<string> = new Set([
  'AS',
  'CLUSTER',
  'CLUSTERED',
  'COMMENT',
  'DEFAULT',
  'LOCATION',
  'MANAGED',
  'OPTIONS',
  'PARTITIONED',
  'ROW',
  'SELECT',
  'SKEWED',
  'STORED',
  'TBLPROPERTIES',
  'USING',
  'WITH',
]);

/** One clause behind the columns; a clause that is not known is bounded by the next known one. */
function parseTableClause(cursor: Cursor, partitions: ColumnDefinition[]): Option {
  const { start } = cursor;
  const option = (name: string, value: string | null, columns: readonly Identifier[] = []): Option => ({
    kind: 'option',
    start,
    end: cursor.end,
    name,
    value,
    columns,
  });
  // No clause is named like the word before it.
  if (cursor.repeatsWord && cursor.atName) cursor.fail('the next clause of the table');
  switch (cursor.word) {
    case 'USING': {
      cursor.advance();
      const format = parseName(cursor, 'a format');
      return option('USING', cursor.slice(format.start, format.end));
    }
    case 'LOCATION':
    case 'COMMENT': {
      const name = cursor.word;
      cursor.advance();
      return option(name, takeText(cursor));
    }
    case 'TBLPROPERTIES':
    case 'OPTIONS': {
      const name = cursor.word;
      cursor.advance();
      const from = cursor.start;
      if (cursor.at('(')) parseProperties(cursor);
      else cursor.fail("'('");
      return option(name, cursor.slice(from, cursor.end));
    }
    case 'PARTITIONED': {
      cursor.advance();
      cursor.expect('BY');
      if (!cursor.at('(')) cursor.fail("'('");
      return option('PARTITIONED BY', null, cursor.recovering ? [] : parsePartitions(cursor, partitions));
    }
    case 'ROW': {
      // ROW FORMAT DELIMITED … NULL DEFINED AS 'x', ROW FORMAT SERDE 'x' WITH SERDEPROPERTIES (…).
      while (!cursor.atEnd && !cursor.at(';') && !cursor.at(')')) {
        if (cursor.at('(')) cursor.skipParentheses();
        else cursor.advance();
        const defines = cursor.at('AS') && cursor.peekKind(1) === tokenKind.string;
        if (clauseStarts.has(cursor.word) && !defines && !(cursor.at('WITH') && cursor.peek(2) === '(')) break;
      }
      return option('ROW', cursor.slice(start, cursor.end));
    }
    case 'STORED': {
      // STORED AS format, STORED BY handler, STORED AS INPUTFORMAT … OUTPUTFORMAT …, STORED AS SCD TYPE 2.
      cursor.advance();
      cursor.eatAny('AS', 'BY');
      if (cursor.at('AS') || cursor.at('BY')) cursor.fail('a format');
      return { ...skipClause(cursor), start, name: 'STORED' };
    }
    case 'CLUSTER': {
      cursor.advance();
      cursor.expect('BY');
      if (cursor.at('AUTO') || cursor.at('NONE')) {
        const value = cursor.word;
        cursor.advance();
        return option('CLUSTER BY', value);
      }
      return option('CLUSTER BY', null, cursor.at('(') ? parseDottedColumns(cursor) : []);
    }
    default:
      return skipClause(cursor);
  }
}

function skipClause(cursor: Cursor): Option {
  const { start } = cursor;
  const name = cursor.tokenText.toUpperCase();
  do {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  } while (!cursor.atEnd && !cursor.at(';') && !cursor.at(')') && !clauseStarts.has(cursor.word) && !cursor.recovering);
  if (cursor.at(')')) cursor.fail('the end of the statement');
  return { kind: 'option', start, end: cursor.end, name, value: cursor.slice(start, cursor.end), columns: none };
}

function takeText(cursor: Cursor): string | null {
  const { kind, tokenText } = cursor;
  if (kind === tokenKind.string) {
    cursor.advance();
    return decodeString(tokenText);
  }
  if (kind === tokenKind.variable) {
    cursor.advance();
    return tokenText;
  }
  cursor.fail('a string');
  return null;
}

/** `( 'key' = 'value', key.part = 5, … )`, the equals sign being optional. */
export function parseProperties(cursor: Cursor): void {
  cursor.advance();
  if (cursor.eat(')')) return;
  do {
    if (cursor.kind === tokenKind.string) cursor.advance();
    else parsePropertyName(cursor);
    if (cursor.eat('=') || (!cursor.at(',') && !cursor.at(')'))) cursor.grammar.expression(cursor);
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}

/** A key with dots, whose parts may be any words. */
function parsePropertyName(cursor: Cursor): void {
  if (cursor.kind === tokenKind.reserved) cursor.advance();
  else cursor.identifier('a property');
  while (!cursor.recovering && cursor.eat('.')) namePart(cursor);
}

/** Columns, columns with types, and transforms such as `years(d)` and `bucket(4, id)`. */
function parsePartitions(cursor: Cursor, partitions: ColumnDefinition[]): readonly Identifier[] {
  const columns: Identifier[] = [];
  cursor.advance();
  do {
    if (cursor.peek(1) === '(') {
      cursor.advance();
      cursor.skipParentheses();
    } else if (cursor.peek(1) === ',' || cursor.peek(1) === ')') columns.push(cursor.identifier('a column name'));
    else if (cursor.peek(1) === '.') {
      const name = parseName(cursor);
      const last = name.parts[name.parts.length - 1];
      if (last) columns.push(last);
    } else {
      const column = parseColumn(cursor);
      columns.push(column.name);
      partitions.push(column);
    }
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(columns);
}

function parseDottedColumns(cursor: Cursor): readonly Identifier[] {
  if (cursor.peek(1) === ')') {
    cursor.advance();
    cursor.advance();
    return [];
  }
  const columns: Identifier[] = [];
  cursor.advance();
  do {
    const name = parseName(cursor, 'a column name');
    const last = name.parts[name.parts.length - 1];
    if (last) columns.push(last);
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(columns);
}
