import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseIdentifierList } from './names.ts';
import { listOf, none } from './none.ts';
import { tokenKind } from './tokens.ts';
import type { Identifier, Option } from './tree.ts';

/**
 * What an option's value looks like: ON or OFF, the same with further options in parentheses, a number, a kind of
 * compression, or anything up to the next comma.
 */
type ValueKind = 'switch' | 'switch-with-options' | 'number' | 'compression' | 'any';

/** Options of indexes and keys, in CREATE INDEX and in constraints. */
const indexOptions: Readonly<Record<string, ValueKind>> = {
  PAD_INDEX: 'switch',
  FILLFACTOR: 'number',
  IGNORE_DUP_KEY: 'switch-with-options',
  STATISTICS_NORECOMPUTE: 'switch',
  STATISTICS_INCREMENTAL: 'switch',
  ALLOW_ROW_LOCKS: 'switch',
  ALLOW_PAGE_LOCKS: 'switch',
  OPTIMIZE_FOR_SEQUENTIAL_KEY: 'switch',
  DATA_COMPRESSION: 'compression',
  XML_COMPRESSION: 'any',
  SORT_IN_TEMPDB: 'switch',
  DROP_EXISTING: 'switch',
  ONLINE: 'switch-with-options',
  RESUMABLE: 'switch',
  MAX_DURATION: 'any',
  FILESTREAM_ON: 'any',
  MAXDOP: 'number',
  COMPRESSION_DELAY: 'any',
  COMPRESS_ALL_ROW_GROUPS: 'switch',
  LOB_COMPACTION: 'switch',
  BUCKET_COUNT: 'number',
  WAIT_AT_LOW_PRIORITY: 'any',
  ABORT_AFTER_WAIT: 'any',
  MOVE: 'any',
  // Spatial and vector indexes.
  BOUNDING_BOX: 'any',
  GRIDS: 'any',
  CELLS_PER_OBJECT: 'number',
  METRIC: 'any',
  TYPE: 'any',
};

/** Options of CREATE TABLE … WITH (…) on any platform of the family. */
const tableOptions: Readonly<Record<string, ValueKind>> = {
  MEMORY_OPTIMIZED: 'switch',
  DURABILITY: 'any',
  DATA_COMPRESSION: 'compression',
  XML_COMPRESSION: 'any',
  SYSTEM_VERSIONING: 'switch-with-options',
  LEDGER: 'switch-with-options',
  REMOTE_DATA_ARCHIVE: 'any',
  DATA_DELETION: 'switch-with-options',
  FILETABLE_DIRECTORY: 'any',
  FILETABLE_COLLATE_FILENAME: 'any',
  FILETABLE_PRIMARY_KEY_CONSTRAINT_NAME: 'any',
  FILETABLE_STREAMID_UNIQUE_CONSTRAINT_NAME: 'any',
  FILETABLE_FULLPATH_UNIQUE_CONSTRAINT_NAME: 'any',
  DISTRIBUTION: 'any',
  HEAP: 'any',
  CLUSTERED: 'any',
  NONCLUSTERED: 'any',
  PARTITION: 'any',
  CLUSTER: 'any',
  LOCATION: 'any',
  DATA_SOURCE: 'any',
  FILE_FORMAT: 'any',
  TABLE_OPTIONS: 'any',
  REJECT_TYPE: 'any',
  REJECT_VALUE: 'any',
  REJECT_SAMPLE_VALUE: 'any',
  REJECTED_ROW_LOCATION: 'any',
  SCHEMA_NAME: 'any',
  OBJECT_NAME: 'any',
  SHARDED: 'any',
  SHARD_MAP_NAME: 'any',
  USER_DB: 'any',
  TRACK_COLUMNS_UPDATED: 'switch',
  LOCK_ESCALATION: 'any',
};

/** `( option, … )` of an index or key; the current token is the opening parenthesis. */
export function parseIndexOptions(cursor: Cursor): readonly Option[] {
  return parseOptionList(cursor, indexOptions, 'an index option');
}

/** `( option, … )` of a table; the current token is the opening parenthesis. */
export function parseTableOptions(cursor: Cursor): readonly Option[] {
  return parseOptionList(cursor, tableOptions, 'a table option');
}

/** `( option, … )` of which no more is known than its form. */
export function parseAnyOptions(cursor: Cursor): readonly Option[] {
  return parseOptionList(cursor, null, 'an option');
}

function parseOptionList(
  cursor: Cursor,
  known: Readonly<Record<string, ValueKind>> | null,
  expected: string,
): readonly Option[] {
  const options: Option[] = [];
  cursor.advance();
  do options.push(parseOption(cursor, known, expected));
  while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(options);
}

function parseOption(cursor: Cursor, known: Readonly<Record<string, ValueKind>> | null, expected: string): Option {
  const { start } = cursor;
  const isWord = cursor.kind === tokenKind.word || cursor.kind === tokenKind.reserved;
  const word = cursor.tokenText.toUpperCase();
  const valueKind = known === null ? 'any' : known[word];
  if (!isWord || (valueKind === undefined && !word.includes('$('))) {
    cursor.fail(expected);
    return { kind: 'option', start, end: cursor.end, name: '', value: null, columns: none };
  }
  if (known === tableOptions) {
    const special = parseTableOption(cursor, start, word);
    if (special !== null) {
      reportForeign(cursor, special);
      return special;
    }
  }
  cursor.advance();
  if (!cursor.eat('=')) {
    if (valueKind !== undefined && valueKind !== 'any') cursor.fail("'='");
    if (word === 'MAX_DURATION' || known === null) skipValue(cursor);
    else if (cursor.at('(')) cursor.skipParentheses();
    return { kind: 'option', start, end: cursor.end, name: word, value: null, columns: none };
  }
  const valueStart = cursor.start;
  readValue(cursor, valueKind ?? 'any');
  const value = cursor.slice(valueStart, cursor.end);
  return { kind: 'option', start, end: cursor.end, name: word, value, columns: none };
}

function readValue(cursor: Cursor, kind: ValueKind): void {
  if (kind === 'switch' || kind === 'switch-with-options') {
    if (cursor.eatAny('ON', 'OFF') === null && !takeVariable(cursor)) cursor.fail('ON or OFF');
    if (kind === 'switch-with-options' && cursor.at('(')) parseAnyOptions(cursor);
    return;
  }
  if (kind === 'compression') {
    if (!compressions.has(cursor.tokenText.toUpperCase()) && !takeVariable(cursor)) {
      cursor.fail('NONE, ROW, PAGE, COLUMNSTORE or COLUMNSTORE_ARCHIVE');
      return;
    }
    if (cursor.atName) cursor.advance();
    if (cursor.at('ON')) skipValue(cursor);
    return;
  }
  if (kind === 'number') {
    if (cursor.kind === tokenKind.number) cursor.advance();
    else if (!takeVariable(cursor)) cursor.fail('a number');
    return;
  }
  if (cursor.at(',') || cursor.at(')') || cursor.atEnd) cursor.fail('a value');
  else skipValue(cursor);
}

const compressions: ReadonlySet<string> = new Set(['NONE', 'ROW', 'PAGE', 'COLUMNSTORE', 'COLUMNSTORE_ARCHIVE']);

/** A variable of the SQLCMD processor, which may stand for any value. */
function takeVariable(cursor: Cursor): boolean {
  if (!cursor.tokenText.startsWith('$(')) return false;
  cursor.advance();
  return true;
}

/** Everything up to the comma or parenthesis that ends the option. */
function skipValue(cursor: Cursor): void {
  while (!cursor.atEnd && !cursor.at(',') && !cursor.at(')') && !cursor.at(';') && !cursor.recovering) {
    if (cursor.at('(')) cursor.skipParentheses();
    else if (cursor.at('=')) {
      cursor.fail("',' or ')'");
      return;
    } else cursor.advance();
  }
}

/** SQL Server and Azure SQL have none of the options of `parseTableOption`; one problem a statement tells so. */
function reportForeign(cursor: Cursor, option: Option): void {
  const { platform } = cursor.dialect;
  if ((platform !== 'sqlserver' && platform !== 'azuresql') || cursor.recovering || cursor.problems.length > 0) return;
  const owner = option.name === 'CLUSTER BY' ? 'Fabric' : 'Synapse';
  cursor.report(option.start, option.end, `${option.name} is ${owner} syntax, which SQL Server does not have.`);
  cursor.recovering = false;
}

/** Options of Synapse and Fabric that name columns, and those of several words. */
function parseTableOption(cursor: Cursor, start: number, word: string): Option | null {
  const option = (name: string, value: string | null, columns: readonly Identifier[] = []): Option => ({
    kind: 'option',
    start,
    end: cursor.end,
    name,
    value,
    columns,
  });
  switch (word) {
    case 'DISTRIBUTION': {
      cursor.advance();
      cursor.expect('=');
      const from = cursor.start;
      let columns: readonly Identifier[] = none;
      if (cursor.at('HASH') || cursor.at('SHARDED')) {
        cursor.advance();
        columns = parseIdentifierList(cursor);
      } else if (cursor.at('ROUND_ROBIN') || cursor.at('REPLICATE') || cursor.at('REPLICATED')) cursor.advance();
      else cursor.fail('HASH (column), ROUND_ROBIN or REPLICATE');
      return option('DISTRIBUTION', cursor.slice(from, cursor.end), columns);
    }
    case 'CLUSTERED':
    case 'NONCLUSTERED': {
      cursor.advance();
      const columnstore = cursor.eat('COLUMNSTORE');
      cursor.expect('INDEX');
      let columns: readonly Identifier[] = none;
      if (columnstore && cursor.eat('ORDER')) columns = parseIdentifierList(cursor);
      else if (!columnstore) columns = parseKeyNames(cursor);
      return option(columnstore ? `${word} COLUMNSTORE INDEX` : `${word} INDEX`, null, columns);
    }
    case 'HEAP':
      cursor.advance();
      return option('HEAP', null);
    case 'PARTITION': {
      cursor.advance();
      const from = cursor.start;
      if (!cursor.expect('(')) return option('PARTITION', null);
      const column = cursor.identifier('a column name');
      cursor.expect('RANGE');
      cursor.eatAny('LEFT', 'RIGHT');
      cursor.expect('FOR');
      cursor.expect('VALUES');
      if (cursor.at('(')) cursor.skipParentheses();
      else cursor.fail("'('");
      closeParenthesis(cursor);
      return option('PARTITION', cursor.slice(from, cursor.end), [column]);
    }
    case 'CLUSTER': {
      cursor.advance();
      cursor.expect('BY');
      return option('CLUSTER BY', null, cursor.at('AUTO') ? takeAuto(cursor) : parseIdentifierList(cursor));
    }
    default:
      return null;
  }
}

function takeAuto(cursor: Cursor): readonly Identifier[] {
  cursor.advance();
  return [];
}

/** `( a ASC, b DESC )`, names only. */
function parseKeyNames(cursor: Cursor): readonly Identifier[] {
  const names: Identifier[] = [];
  if (!cursor.expect('(')) return listOf(names);
  do {
    names.push(cursor.identifier('a column name'));
    cursor.eatAny('ASC', 'DESC');
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(names);
}
