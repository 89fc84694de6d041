import { parseAlias, parseAliasAndColumns } from './aliases.ts';
import { type Cursor, deepestNesting } from './cursor.ts';
import { finishFunction, opaqueCall, parseFunctionSource, skipReadOptions } from './functionSources.ts';
import { isTableHint, parseTableHints } from './hints.ts';
import { parseJoins } from './joins.ts';
import { atQueryInParentheses } from './lookahead.ts';
import { closeParenthesis, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parsePivot, parseUnpivot } from './pivot.ts';
import { parsePostfix } from './postfix.ts';
import { parseSample, parseTimeTravel } from './timeTravel.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Identifier, Name, TableHint, TableSource } from './tree.ts';

/** The comma-separated sources of a FROM clause. */
export function parseSources(cursor: Cursor): readonly TableSource[] {
  const sources: TableSource[] = [];
  do sources.push(parseTableSource(cursor));
  while (!cursor.recovering && cursor.eat(','));
  return listOf(sources);
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

/** T-SQL's order: time travel, alias, sample, hints. Parentheses without WITH hold one hint, maybe before the alias. */
function finishTsqlTable(cursor: Cursor, start: number, name: Name): TableSource {
  const timeTravel = parseTimeTravel(cursor);
  let hints: readonly TableHint[] = cursor.at('(') ? parseTableHints(cursor) : none;
  const alias = parseAlias(cursor);
  const sample = parseSample(cursor);
  const hintsBehind = cursor.at('WITH') || cursor.at('HOLDLOCK') || (cursor.at('(') && !atQueryInParentheses(cursor));
  if (hints.length === 0 && hintsBehind) hints = parseTableHints(cursor);
  return { kind: 'table', start, end: cursor.end, name, alias, columns: none, hints, timeTravel, sample };
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
