import { parseAliasAndColumns } from './aliases.ts';
import { parseCall } from './calls.ts';
import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parsePostfix } from './postfix.ts';
import { parseSample, parseTimeTravel } from './timeTravel.ts';
import { tokenKind } from './tokens.ts';
import type { Call, MemberAccess, Name, OpaqueClause, SchemaColumn, TableSource } from './tree.ts';
import { parseDataType } from './types.ts';

/** Functions with a grammar of their own inside the parentheses that are no reserved words. */
const opaqueFunctions: ReadonlySet<string> = new Set(['PREDICT', 'CHANGETABLE', 'VECTOR_SEARCH', 'AI_GENERATE_CHUNKS']);

/** A call as a source, with its schema, alias and columns; its name was read and `(` is the current token. */
export function parseFunctionSource(cursor: Cursor, name: Name, lateral: boolean): TableSource {
  const last = name.parts[name.parts.length - 1]?.name.toUpperCase() ?? '';
  if (opaqueFunctions.has(last) || (cursor.dialect.family === 'spark' && last === 'IDENTIFIER')) {
    return finishFunction(cursor, opaqueCall(cursor, name), lateral);
  }
  const call = parseCall(cursor, name);
  const access = call.kind === 'call' ? parsePostfix(cursor, call) : call;
  if (access.kind === 'member' || access.kind === 'call') return finishFunction(cursor, access, lateral);
  return finishFunction(cursor, opaqueResult(name, cursor.end, []), lateral);
}

/** A call whose arguments are only bounded. */
export function opaqueCall(cursor: Cursor, name: Name): Call {
  const { start } = cursor;
  cursor.skipParentheses();
  const clause: OpaqueClause = { kind: 'opaque-clause', start, end: cursor.end, name: 'ARGUMENTS' };
  return opaqueResult(name, cursor.end, [clause]);
}

function opaqueResult(name: Name, end: number, clauses: readonly OpaqueClause[]): Call {
  return {
    kind: 'call',
    start: name.start,
    end,
    name,
    arguments: none,
    distinct: false,
    orderBy: none,
    withinGroup: none,
    filter: null,
    nulls: null,
    over: null,
    clauses,
  };
}

/** What may follow a call as a source: its schema, options, alias and columns. */
export function finishFunction(cursor: Cursor, call: Call | MemberAccess, lateral: boolean): TableSource {
  let schema: readonly SchemaColumn[] = none;
  if (cursor.dialect.family === 'tsql' && cursor.at('WITH') && cursor.peek(1) === '(') {
    schema = parseSchema(cursor);
  }
  // OPENXML takes the columns of a table that exists.
  if (cursor.at('WITH') && call.kind === 'call' && isOpenXml(call) && cursor.nameAhead(1)) {
    cursor.advance();
    parseName(cursor, 'a table');
  }
  const timeTravel = cursor.dialect.family === 'spark' ? parseTimeTravel(cursor) : null;
  skipReadOptions(cursor);
  if (cursor.dialect.family === 'duckdb' && cursor.at('WITH') && cursor.peek(1) === 'ORDINALITY') {
    cursor.advance();
    cursor.advance();
  }
  if (cursor.dialect.family === 'duckdb') parseSample(cursor);
  const { alias, columns } = parseAliasAndColumns(cursor, cursor.dialect.family === 'tsql');
  if (cursor.dialect.family === 'duckdb') parseSample(cursor);
  if (schema.length === 0 && cursor.dialect.family === 'tsql' && cursor.at('WITH') && cursor.peek(1) === '(') {
    schema = parseSchema(cursor);
  }
  const start = timeTravel === null ? call.start : Math.min(call.start, timeTravel.start);
  return { kind: 'table-function', start, end: cursor.end, lateral, call, schema, alias, columns, hints: none };
}

function isOpenXml(call: Call): boolean {
  return call.name.parts.length === 1 && /^openxml$/i.test(call.name.parts[0]?.name ?? '');
}

/** `WITH ( name type ['path'] [AS JSON], … )` or `WITH ( table )`. */
function parseSchema(cursor: Cursor): readonly SchemaColumn[] {
  const columns: SchemaColumn[] = [];
  cursor.advance();
  cursor.advance();
  do {
    const { start } = cursor;
    if (columns.length === 0 && (cursor.peek(1) === ')' || cursor.peek(1) === '.') && cursor.atName) {
      parseName(cursor);
      break;
    }
    const name = cursor.identifier('a column name');
    const type = parseDataType(cursor);
    if (cursor.eat('COLLATE')) cursor.identifier('a collation');
    if (
      cursor.kind === tokenKind.string ||
      cursor.kind === tokenKind.nationalString ||
      cursor.kind === tokenKind.number
    ) {
      cursor.advance();
    }
    if (cursor.at('AS') && cursor.peek(1) === 'JSON') {
      cursor.advance();
      cursor.advance();
    }
    columns.push({ kind: 'schema-column', start, end: cursor.end, name, type });
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(columns);
}

/** Spark's options of one read: `STREAM (t) WITH (SKIPCHANGECOMMITS)`. */
export function skipReadOptions(cursor: Cursor): void {
  if (cursor.dialect.family !== 'spark') return;
  if (cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    cursor.skipParentheses();
  }
  skipWatermark(cursor);
}

/** `WATERMARK time [AS name] DELAY OF INTERVAL 10 MINUTES` behind a source of a stream. */
function skipWatermark(cursor: Cursor): void {
  if (!/^watermark$/i.test(cursor.tokenText) || (!cursor.nameAhead(1) && cursor.peek(1) !== '(')) return;
  cursor.advance();
  cursor.grammar.expression(cursor);
  if (cursor.eat('AS')) cursor.identifier('a column name');
  if (cursor.at('DELAY')) {
    cursor.advance();
    cursor.expect('OF');
    cursor.grammar.expression(cursor);
  }
}
