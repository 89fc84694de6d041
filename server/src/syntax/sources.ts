import { parseCall } from './calls.ts';
import { type Cursor, deepestNesting } from './cursor.ts';
import { isTableHint, parseTableHints } from './hints.ts';
import { parseJoins } from './joins.ts';
import { closeParenthesis, parseIdentifierList, parseName } from './names.ts';
import { none } from './none.ts';
import { parsePivot, parseUnpivot } from './pivot.ts';
import { parsePostfix } from './primary.ts';
import { tokenKind } from './tokens.ts';
import type {
  Call,
  Expression,
  Identifier,
  MemberAccess,
  Name,
  OpaqueClause,
  SchemaColumn,
  TableHint,
  TableSource,
} from './tree.ts';
import { parseDataType } from './types.ts';

/** The comma-separated sources of a FROM clause. */
export function parseSources(cursor: Cursor): readonly TableSource[] {
  const sources: TableSource[] = [];
  do sources.push(parseTableSource(cursor));
  while (!cursor.recovering && cursor.eat(','));
  return sources;
}

/** One source with the joins that follow it. */
export function parseTableSource(cursor: Cursor): TableSource {
  return parseJoins(cursor, parseSingleSource(cursor), parseSingleSource);
}

/** A source without joins, with its alias, hints and PIVOTs. */
export function parseSingleSource(cursor: Cursor): TableSource {
  let source = parsePlainSource(cursor);
  while (!cursor.recovering && (cursor.at('PIVOT') || cursor.at('UNPIVOT'))) {
    source = cursor.at('PIVOT') ? parsePivot(cursor, source) : parseUnpivot(cursor, source);
  }
  return source;
}

function parsePlainSource(cursor: Cursor): TableSource {
  const { start } = cursor;
  if (cursor.dialect.family === 'duckdb' && cursor.atName && cursor.peek(1) === ':') return parsePrefixedSource(cursor);
  if (cursor.at('(')) return parseParenthesised(cursor, false, start);
  if (cursor.kind === tokenKind.variable && cursor.dialect.family === 'tsql') return parseVariableSource(cursor);
  if (cursor.dialect.family !== 'tsql') return parseOtherSource(cursor);
  if (cursor.kind === tokenKind.reserved && rowsetFunctions.has(cursor.word) && cursor.peek(1) === '(') {
    return parseRowset(cursor);
  }
  if (cursor.at('{')) return parseOuterJoinEscape(cursor);
  if (cursor.at('::')) cursor.advance();
  return parseNamedSource(cursor, start, false);
}

/** DuckDB's `alias: source`. */
function parsePrefixedSource(cursor: Cursor): TableSource {
  const { start } = cursor;
  const alias = cursor.takeIdentifier();
  cursor.advance();
  const source = parsePlainSource(cursor);
  return 'alias' in source && source.alias === null ? { ...source, start, alias } : source;
}

/** ODBC's `{oj a LEFT OUTER JOIN b ON …}`. */
function parseOuterJoinEscape(cursor: Cursor): TableSource {
  const { start } = cursor;
  cursor.advance();
  if (cursor.atName) cursor.advance();
  else cursor.fail('OJ');
  const source = cursor.grammar.tableSource(cursor);
  cursor.expect('}');
  return { kind: 'source-group', start, end: cursor.end, source, alias: null };
}

const rowsetFunctions: ReadonlySet<string> = new Set([
  'OPENROWSET',
  'OPENQUERY',
  'OPENDATASOURCE',
  'OPENXML',
  'CONTAINSTABLE',
  'FREETEXTTABLE',
  'SEMANTICKEYPHRASETABLE',
  'SEMANTICSIMILARITYTABLE',
  'SEMANTICSIMILARITYDETAILSTABLE',
]);
/** Functions with a grammar of their own inside the parentheses that are no reserved words. */
const opaqueFunctions: ReadonlySet<string> = new Set(['PREDICT', 'CHANGETABLE', 'VECTOR_SEARCH', 'AI_GENERATE_CHUNKS']);

/** Spark's and DuckDB's further forms. */
function parseOtherSource(cursor: Cursor): TableSource {
  const { start } = cursor;
  const lateral = cursor.at('LATERAL');
  if (lateral) {
    cursor.advance();
    if (cursor.at('(')) return parseParenthesised(cursor, true, start);
  }
  if (cursor.at('VALUES')) return derivedFromQuery(cursor, start, lateral);
  if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.variable) {
    const quoted = cursor.kind === tokenKind.string;
    const text = cursor.tokenText;
    const { currentEnd: end } = cursor;
    cursor.advance();
    const part: Identifier = {
      kind: 'identifier',
      start,
      end,
      name: quoted ? text.slice(1, -1) : text,
      quote: quoted ? 'double' : 'none',
    };
    if (cursor.at('.')) {
      const rest = namePath(cursor, part);
      return finishTable(cursor, start, rest);
    }
    return finishTable(cursor, start, { kind: 'name', start, end, parts: [part] });
  }
  // STREAM t, TABLE (f (x)): the word goes before the source.
  if ((cursor.at('STREAM') && cursor.nameAhead(1)) || (cursor.at('TABLE') && cursor.peek(1) === '(')) cursor.advance();
  if (cursor.at('(')) return parseParenthesised(cursor, lateral, start);
  if (cursor.kind === tokenKind.reserved && cursor.peek(1) === '(') {
    const part = cursor.takeIdentifier();
    return parseFunctionSource(cursor, { kind: 'name', start, end: part.end, parts: [part] }, lateral);
  }
  return parseNamedSource(cursor, start, lateral);
}

function namePath(cursor: Cursor, first: Identifier): Name {
  cursor.advance();
  const rest = parseName(cursor);
  return { kind: 'name', start: first.start, end: cursor.end, parts: [first, ...rest.parts] };
}

/** `FROM VALUES (…) AS t (a)` without parentheses. */
function derivedFromQuery(cursor: Cursor, start: number, lateral: boolean): TableSource {
  const query = cursor.grammar.query(cursor);
  const { alias, columns } = parseAliasAndColumns(cursor);
  return { kind: 'derived-table', start, end: cursor.end, lateral, query, alias, columns };
}

function parseNamedSource(cursor: Cursor, start: number, lateral: boolean): TableSource {
  const name = parseName(cursor, 'a table');
  if (cursor.at('(') && !cursor.recovering && !isTableHint(cursor, 1))
    return parseFunctionSource(cursor, name, lateral);
  return finishTable(cursor, start, name);
}

/** Everything behind a table's name: time travel, alias, sample, hints, in the orders that engines take. */
function finishTable(cursor: Cursor, start: number, name: Name): TableSource {
  if (cursor.dialect.family === 'tsql') return finishTsqlTable(cursor, start, name);
  let timeTravel = parseTimeTravel(cursor);
  let sample = parseSample(cursor);
  let hints: readonly TableHint[] = parseTableHints(cursor);
  skipReadOptions(cursor);
  const { alias, columns } = parseAliasAndColumns(cursor);
  skipReadOptions(cursor);
  timeTravel ??= parseTimeTravel(cursor);
  sample ??= parseSample(cursor);
  if (hints.length === 0) hints = parseTableHints(cursor);
  return { kind: 'table', start, end: cursor.end, name, alias, columns, hints, timeTravel, sample };
}

/** Spark's options of one read: `STREAM (t) WITH (SKIPCHANGECOMMITS)`. */
function skipReadOptions(cursor: Cursor): void {
  if (cursor.dialect.family !== 'spark' || !cursor.at('WITH') || cursor.peek(1) !== '(') return;
  cursor.advance();
  cursor.skipParentheses();
}

/** T-SQL's order: time travel, alias, sample, hints. Parentheses without WITH hold one hint, maybe before the alias. */
function finishTsqlTable(cursor: Cursor, start: number, name: Name): TableSource {
  const timeTravel = parseTimeTravel(cursor);
  let hints: readonly TableHint[] = cursor.at('(') ? parseTableHints(cursor) : [];
  const alias = parseAlias(cursor);
  const sample = parseSample(cursor);
  const hintsBehind = cursor.at('WITH') || cursor.at('HOLDLOCK') || (cursor.at('(') && !startsQueryInside(cursor));
  if (hints.length === 0 && hintsBehind) hints = parseTableHints(cursor);
  return { kind: 'table', start, end: cursor.end, name, alias, columns: none, hints, timeTravel, sample };
}

/** A statement in parentheses may follow a FROM clause without a semicolon. */
function startsQueryInside(cursor: Cursor): boolean {
  let distance = 1;
  while (cursor.peek(distance) === '(') distance += 1;
  return cursor.peek(distance) === 'SELECT';
}

function parseVariableSource(cursor: Cursor): TableSource {
  const { start, tokenText: name } = cursor;
  cursor.advance();
  if (cursor.at('.')) {
    const variable: Expression = { kind: 'variable', start, end: cursor.end, name };
    const access = parsePostfix(cursor, variable);
    if (access.kind === 'member') return requireColumns(cursor, finishFunction(cursor, access, false));
  }
  const alias = parseAlias(cursor);
  return { kind: 'table-variable', start, end: cursor.end, name, alias, hints: none };
}

/** `nodes('…')` needs an alias for its rows and its column. */
function requireColumns(cursor: Cursor, source: TableSource): TableSource {
  if (source.kind === 'table-function' && source.columns.length === 0)
    cursor.fail('an alias with a column, such as AS t (c)');
  return source;
}

function parseFunctionSource(cursor: Cursor, name: Name, lateral: boolean): TableSource {
  const last = name.parts[name.parts.length - 1]?.name.toUpperCase() ?? '';
  if (opaqueFunctions.has(last) || (cursor.dialect.family === 'spark' && last === 'IDENTIFIER')) {
    return finishFunction(cursor, opaqueCall(cursor, name), lateral);
  }
  const call = parseCall(cursor, name);
  const access = call.kind === 'call' ? parsePostfix(cursor, call) : call;
  if (access.kind === 'member' || access.kind === 'call') return finishFunction(cursor, access, lateral);
  return finishFunction(cursor, opaqueResult(name, cursor.end, []), lateral);
}

/** OPENROWSET and its like: what stands in the parentheses is bounded only. */
function parseRowset(cursor: Cursor): TableSource {
  const { start } = cursor;
  const part = cursor.takeIdentifier();
  const call = opaqueCall(cursor, { kind: 'name', start, end: part.end, parts: [part] });
  if (cursor.at('.')) {
    // OPENDATASOURCE (…).database.schema.table
    cursor.advance();
    const name = parseName(cursor, 'a table');
    return finishTable(cursor, start, name);
  }
  return finishFunction(cursor, call, false);
}

function opaqueCall(cursor: Cursor, name: Name): Call {
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

function finishFunction(cursor: Cursor, call: Call | MemberAccess, lateral: boolean): TableSource {
  let schema: readonly SchemaColumn[] = [];
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
  const { alias, columns } = parseAliasAndColumns(cursor, cursor.dialect.family === 'tsql');
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
  return columns;
}

/** A query, a write or a join in parentheses. */
function parseParenthesised(cursor: Cursor, lateral: boolean, start: number): TableSource {
  if (cursor.depth >= deepestNesting) {
    cursor.skipParentheses();
    const { alias } = parseAliasAndColumns(cursor);
    const name: Name = { kind: 'name', start: cursor.end, end: cursor.end, parts: [cursor.missingIdentifier()] };
    return {
      kind: 'table',
      start,
      end: cursor.end,
      name,
      alias,
      columns: none,
      hints: none,
      timeTravel: null,
      sample: null,
    };
  }
  cursor.depth += 1;
  const source = parseInside(cursor, lateral, start);
  cursor.depth -= 1;
  return source;
}

function parseInside(cursor: Cursor, lateral: boolean, start: number): TableSource {
  if (cursor.dialect.family === 'tsql' && isWrite(cursor.peek(1))) return parseNestedWrite(cursor, start);
  if (holdsQuery(cursor)) {
    cursor.advance();
    const query =
      cursor.at('VALUES') && cursor.dialect.family === 'tsql' ? parseTableValues(cursor) : cursor.grammar.query(cursor);
    closeParenthesis(cursor);
    if (cursor.dialect.family !== 'tsql') parseSample(cursor);
    const { alias, columns } = parseAliasAndColumns(cursor);
    if (cursor.dialect.family !== 'tsql') parseSample(cursor);
    if (alias === null && cursor.dialect.family === 'tsql') cursor.fail('an alias for the derived table');
    return { kind: 'derived-table', start, end: cursor.end, lateral, query, alias, columns };
  }
  cursor.advance();
  const source = cursor.grammar.tableSource(cursor);
  if (source.kind !== 'join' && source.kind !== 'source-group' && cursor.dialect.family === 'tsql')
    cursor.fail('a join');
  closeParenthesis(cursor);
  const alias = cursor.dialect.family === 'tsql' ? null : parseAliasAndColumns(cursor).alias;
  return { kind: 'source-group', start, end: cursor.end, source, alias };
}

function parseTableValues(cursor: Cursor): ReturnType<Cursor['grammar']['query']> {
  return cursor.grammar.values(cursor);
}

function isWrite(word: string): boolean {
  return word === 'MERGE' || word === 'INSERT' || word === 'UPDATE' || word === 'DELETE';
}

function parseNestedWrite(cursor: Cursor, start: number): TableSource {
  const { nestedWrites } = cursor;
  cursor.advance();
  if (!nestedWrites)
    cursor.report(start, cursor.end, 'A write with OUTPUT may be a source only in the FROM of INSERT … SELECT.');
  cursor.nestedWrites = false;
  const statement = cursor.grammar.write(cursor, null, cursor.start);
  cursor.nestedWrites = nestedWrites;
  closeParenthesis(cursor);
  const { alias, columns } = parseAliasAndColumns(cursor);
  if (alias === null) cursor.fail('an alias for the rows of OUTPUT');
  return { kind: 'dml-table', start, end: cursor.end, statement, alias, columns };
}

/**
 * Whether the parenthesis at the current token holds a query: SELECT or VALUES behind it; behind several parentheses,
 * if the innermost is followed by a set operator or closed at once.
 */
function holdsQuery(cursor: Cursor): boolean {
  let depth = 1;
  while (cursor.peek(depth) === '(' && depth < deepestNesting) depth += 1;
  const inner = cursor.peek(depth);
  const query =
    inner === 'SELECT' ||
    inner === 'VALUES' ||
    (cursor.dialect.family !== 'tsql' && (inner === 'WITH' || inner === 'FROM' || queryWords.has(inner)));
  if (!query || depth === 1) return query;
  let open = 1;
  let distance = depth;
  while (open > 0 && cursor.peekKind(distance) > tokenKind.separator) {
    const word = cursor.peek(distance);
    if (word === '(') open += 1;
    else if (word === ')') open -= 1;
    distance += 1;
  }
  const after = cursor.peek(distance);
  return (
    after === 'UNION' ||
    after === 'EXCEPT' ||
    after === 'INTERSECT' ||
    after === 'MINUS' ||
    after === ')' ||
    after === 'ORDER'
  );
}

const queryWords: ReadonlySet<string> = new Set(['DESCRIBE', 'SHOW', 'SUMMARIZE', 'PIVOT', 'UNPIVOT', 'TABLE']);

/** `[AS] alias [(columns)]`. */
export function parseAliasAndColumns(
  cursor: Cursor,
  ofFunction = false,
): {
  readonly alias: Identifier | null;
  readonly columns: readonly Identifier[];
} {
  if (cursor.dialect.family === 'spark' && cursor.at('AS') && cursor.peek(1) === '(') {
    cursor.advance();
    return { alias: null, columns: parseIdentifierList(cursor) };
  }
  const alias = parseAlias(cursor);
  const next = cursor.peek(2);
  if (alias === null && ofFunction && cursor.at('(') && cursor.nameAhead(1) && (next === ',' || next === ')')) {
    return { alias, columns: parseIdentifierList(cursor) };
  }
  if (alias === null || !cursor.at('(') || isTableHint(cursor, 1) || startsQueryInside(cursor)) {
    // Spark: `AS (a, b)` without a name.
    return { alias, columns: none };
  }
  return { alias, columns: parseIdentifierList(cursor) };
}

/** A source's alias. Words that go on with the statement are none where AS is missing. */
function parseAlias(cursor: Cursor): Identifier | null {
  if (cursor.eat('AS')) {
    if (cursor.dialect.family !== 'tsql' && cursor.kind === tokenKind.reserved) return cursor.takeIdentifier();
    if (cursor.kind === tokenKind.string) {
      cursor.fail('an alias');
      return cursor.missingIdentifier();
    }
    return cursor.identifier('an alias');
  }
  if (!cursor.atName || continuesStatement(cursor)) return null;
  return cursor.takeIdentifier();
}

/** Names that are keywords of what may follow a source. */
function continuesStatement(cursor: Cursor): boolean {
  if (cursor.kind !== tokenKind.word || cursor.word === '') return false;
  const next = cursor.peek(1);
  switch (cursor.word) {
    case 'USING':
      return true;
    case 'WINDOW':
      return cursor.peek(2) === 'AS';
    case 'OFFSET':
      return cursor.dialect.family !== 'tsql';
    case 'CLUSTER':
    case 'DISTRIBUTE':
    case 'SORT':
      return next === 'BY';
    case 'VERSION':
    case 'TIMESTAMP':
    case 'SYSTEM_VERSION':
    case 'SYSTEM_TIME':
      return next === 'AS';
    case 'ASOF':
    case 'POSITIONAL':
    case 'SEMI':
    case 'ANTI':
      return cursor.dialect.family !== 'tsql';
    case 'PARTITION':
      return next === '(';
    case 'REPLACE':
      return next === 'WHERE' || next === 'USING' || next === 'ON';
    case 'TABLE':
      return cursor.dialect.family !== 'tsql' && cursor.nameAhead(1);
    case 'RETURNING':
    case 'SET':
    case 'BY':
      return cursor.dialect.family !== 'tsql';
    default:
      return cursor.onNewLine && next === ':' && cursor.dialect.family === 'tsql';
  }
}

/** FOR SYSTEM_TIME … (T-SQL), VERSION or TIMESTAMP AS OF … (Spark), AT (…) (DuckDB). */
function parseTimeTravel(cursor: Cursor): OpaqueClause | null {
  const { start } = cursor;
  if (cursor.dialect.family === 'tsql') {
    if (!cursor.at('FOR')) return null;
    const next = cursor.peek(1);
    if (next === 'PATH') {
      cursor.advance();
      cursor.advance();
      return { kind: 'opaque-clause', start, end: cursor.end, name: 'FOR PATH' };
    }
    if (next !== 'SYSTEM_TIME' && !(next === 'TIMESTAMP' && cursor.dialect.platform === 'fabric')) return null;
    cursor.advance();
    cursor.advance();
    parseSystemTime(cursor);
    cursor.eatSequence('FOR', 'PATH');
    return { kind: 'opaque-clause', start, end: cursor.end, name: 'FOR SYSTEM_TIME' };
  }
  if (cursor.dialect.family === 'duckdb') {
    if (!cursor.at('AT') || cursor.peek(1) !== '(') return null;
    cursor.advance();
    cursor.skipParentheses();
    return { kind: 'opaque-clause', start, end: cursor.end, name: 'AT' };
  }
  cursor.eatSequence('FOR');
  const kind = cursor.word;
  if (!['VERSION', 'TIMESTAMP', 'SYSTEM_VERSION', 'SYSTEM_TIME'].includes(kind) || cursor.peek(1) !== 'AS') return null;
  cursor.advance();
  cursor.advance();
  cursor.expect('OF');
  cursor.grammar.value(cursor);
  return { kind: 'opaque-clause', start, end: cursor.end, name: `${kind} AS OF` };
}

function parseSystemTime(cursor: Cursor): void {
  if (cursor.eat('ALL')) return;
  if (cursor.at('AS')) {
    cursor.advance();
    cursor.expect('OF');
    cursor.grammar.value(cursor);
  } else if (cursor.at('FROM') || cursor.at('BETWEEN')) {
    const middle = cursor.at('FROM') ? 'TO' : 'AND';
    cursor.advance();
    cursor.grammar.value(cursor);
    cursor.expect(middle);
    cursor.grammar.value(cursor);
  } else if (cursor.at('CONTAINED')) {
    cursor.advance();
    cursor.expect('IN');
    cursor.expect('(');
    cursor.grammar.value(cursor);
    cursor.expect(',');
    cursor.grammar.value(cursor);
    closeParenthesis(cursor);
  } else cursor.fail('AS OF, FROM, BETWEEN, CONTAINED IN or ALL');
}

function parseSample(cursor: Cursor): OpaqueClause | null {
  if (!cursor.at('TABLESAMPLE')) return null;
  const { start } = cursor;
  cursor.advance();
  if (cursor.atName) cursor.advance();
  if (cursor.at('(')) cursor.skipParentheses();
  else if (cursor.kind === tokenKind.number && cursor.dialect.family === 'duckdb') {
    cursor.advance();
    if (!cursor.eat('%')) cursor.eatAny('PERCENT', 'ROWS');
  } else cursor.fail("'('");
  if (cursor.at('REPEATABLE')) {
    cursor.advance();
    if (cursor.at('(')) cursor.skipParentheses();
  }
  return { kind: 'opaque-clause', start, end: cursor.end, name: 'TABLESAMPLE' };
}
