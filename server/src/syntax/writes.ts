import { parseAlias, parseAliasAndColumns } from './aliases.ts';
import { parseAssignments } from './assignments.ts';
import type { Cursor } from './cursor.ts';
import { parseTableHints } from './hints.ts';
import { parseMerge } from './merge.ts';
import { closeParenthesis, namePart, parseIdentifierList } from './names.ts';
import { listOf, none } from './none.ts';
import { parseOptionalHints, parseOutputs, parsePlainTarget } from './output.ts';
import { parseQueryWithTables } from './queries.ts';
import { resumeAt } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import { parseTop } from './top.ts';
import type {
  Assignment,
  Conflict,
  Delete,
  Expression,
  Identifier,
  Insert,
  InsertSource,
  Merge,
  OpaqueClause,
  TableHint,
  TableSource,
  Update,
  WithClause,
  WriteTarget,
} from './tree.ts';

/** INSERT, UPDATE, DELETE or MERGE, at the current token. `start` is the start of a WITH clause before it. */
export function parseWrite(
  cursor: Cursor,
  withClause: WithClause | null,
  start: number,
): Insert | Update | Delete | Merge {
  if (cursor.at('INSERT') || cursor.at('REPLACE')) return parseInsert(cursor, withClause, start);
  if (cursor.at('UPDATE')) return parseUpdate(cursor, withClause, start);
  if (cursor.at('DELETE')) return parseDelete(cursor, withClause, start);
  return parseMerge(cursor, withClause, start);
}

/** What INSERT, UPDATE and DELETE write to: a table, a variable, or a rowset function. */
function parseTarget(cursor: Cursor): WriteTarget {
  const { start } = cursor;
  if (cursor.kind === tokenKind.reserved && cursor.peek(1) === '(' && cursor.dialect.family === 'tsql') {
    return cursor.grammar.singleSource(cursor);
  }
  const plain = parsePlainTarget(cursor);
  const hints: readonly TableHint[] = cursor.at('WITH') ? parseTableHints(cursor) : none;
  const alias = cursor.dialect.family === 'tsql' ? null : parseAliasAndColumns(cursor).alias;
  return { ...plain, start, end: cursor.end, alias, hints };
}

/** DuckDB's INSERT takes an alias only behind AS, and the columns behind it are those that it writes. */
function parseInsertTarget(cursor: Cursor): WriteTarget {
  if (cursor.dialect.family !== 'duckdb') return parseTarget(cursor);
  const { start } = cursor;
  const plain = parsePlainTarget(cursor);
  const alias = cursor.at('AS') ? parseAlias(cursor) : null;
  return { ...plain, start, end: cursor.end, alias };
}

function parseInsert(cursor: Cursor, withClause: WithClause | null, start: number): Insert {
  cursor.advance();
  const clauses: OpaqueClause[] = [];
  const top = cursor.dialect.family === 'tsql' && cursor.at('TOP') ? parseTop(cursor) : null;
  let mode: Insert['mode'] = 'into';
  if (cursor.dialect.family === 'duckdb' && cursor.at('OR')) {
    cursor.advance();
    mode = cursor.eat('REPLACE') ? 'or-replace' : 'or-ignore';
    if (mode === 'or-ignore') cursor.expect('IGNORE');
  }
  if (cursor.dialect.family === 'spark' && cursor.eat('OVERWRITE')) {
    mode = 'overwrite';
    if (cursor.at('DIRECTORY') || cursor.at('LOCAL')) clauses.push(skipDirectory(cursor));
  }
  if (cursor.dialect.family === 'spark') cursor.eatSequence('WITH', 'SCHEMA', 'EVOLUTION');
  // Microsoft's grammar takes OVER in the place of INTO.
  if (cursor.dialect.family === 'tsql') cursor.eatAny('INTO', 'OVER');
  else if (!cursor.eat('INTO') && mode !== 'overwrite') cursor.fail('INTO');
  if (cursor.dialect.family === 'spark') {
    cursor.eat('TABLE');
    // A flow that fills its table once.
    if (/^once$/i.test(cursor.tokenText) && cursor.nameAhead(1)) cursor.advance();
  }
  const target = clauses.length > 0 ? emptyTarget(cursor) : parseInsertTarget(cursor);
  const alias = target.kind === 'table' ? target.alias : null;
  // Only REPLACE ON reads the target by another name.
  if (alias !== null && cursor.dialect.family === 'spark' && insertSources.has(cursor.word)) {
    cursor.report(
      alias.start,
      alias.end,
      `Expected VALUES or a query, but found '${cursor.slice(alias.start, alias.end)}'.`,
    );
  }
  if (cursor.dialect.family === 'spark') {
    parseSparkInsertClauses(cursor, clauses);
  }
  let columns: readonly Identifier[] = none;
  if (cursor.at('(') && !queryInParentheses(cursor)) columns = parseInsertColumns(cursor);
  let replaceWhere: Expression | null = null;
  if (cursor.dialect.family === 'spark' && cursor.at('REPLACE')) {
    mode = 'replace-where';
    cursor.advance();
    if (cursor.eat('WHERE')) replaceWhere = cursor.grammar.condition(cursor);
    else {
      const isUsing = cursor.eat('USING');
      if (!isUsing) cursor.eat('ON');
      if (isUsing && cursor.at('(')) parseIdentifierList(cursor);
      else if (cursor.at('(')) cursor.skipParentheses();
      else cursor.grammar.condition(cursor);
    }
  }
  const byName = cursor.dialect.family !== 'tsql' && cursor.eatSequence('BY', 'NAME');
  if (cursor.dialect.family === 'duckdb') cursor.eatSequence('BY', 'POSITION');
  const output = cursor.dialect.family === 'tsql' ? parseOutputs(cursor) : none;
  const source = parseInsertSource(cursor);
  // REPLACE ON compares with the query's rows by an alias.
  if (mode === 'replace-where' && cursor.at('AS')) parseAliasAndColumns(cursor);
  const hasConflict = cursor.dialect.family === 'duckdb' && cursor.at('ON') && cursor.peek(1) === 'CONFLICT';
  const conflict = hasConflict ? parseConflict(cursor) : null;
  const returning = cursor.dialect.family === 'duckdb' ? parseOutputs(cursor) : none;
  const hints = parseOptionalHints(cursor);
  return {
    kind: 'insert',
    start,
    end: cursor.end,
    with: withClause,
    top,
    target,
    columns,
    output: [...output, ...returning],
    source,
    mode,
    replaceWhere,
    byName,
    conflict,
    clauses,
    hints,
  };
}

const insertSources: ReadonlySet<string> = new Set(['VALUES', 'SELECT', 'WITH', 'FROM', 'TABLE']);

function emptyTarget(cursor: Cursor): WriteTarget {
  const { end } = cursor;
  const name = { kind: 'name' as const, start: end, end, parts: [cursor.missingIdentifier()] };
  return {
    kind: 'table',
    start: end,
    end,
    name,
    alias: null,
    columns: none,
    hints: none,
    timeTravel: null,
    sample: null,
  };
}

/** INSERT OVERWRITE [LOCAL] DIRECTORY '…' USING … OPTIONS (…). */
function skipDirectory(cursor: Cursor): OpaqueClause {
  const { start } = cursor;
  while (
    !cursor.atEnd &&
    !cursor.at(';') &&
    !cursor.at('SELECT') &&
    !cursor.at('VALUES') &&
    !cursor.at('FROM') &&
    !cursor.at('WITH')
  ) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  return { kind: 'opaque-clause', start, end: cursor.end, name: 'DIRECTORY' };
}

function parseSparkInsertClauses(cursor: Cursor, clauses: OpaqueClause[]): void {
  if (cursor.at('PARTITION') && cursor.peek(1) === '(') {
    const { start } = cursor;
    cursor.advance();
    cursor.skipParentheses();
    clauses.push({ kind: 'opaque-clause', start, end: cursor.end, name: 'PARTITION' });
  }
  if (cursor.at('IF') && cursor.peek(1) === 'NOT') {
    for (let count = 0; count < 3; count += 1) cursor.advance();
  }
  cursor.eatSequence('WITH', 'SCHEMA', 'EVOLUTION');
}

function queryInParentheses(cursor: Cursor): boolean {
  let distance = 1;
  while (cursor.peek(distance) === '(') distance += 1;
  const word = cursor.peek(distance);
  if (cursor.peekKind(distance) !== tokenKind.reserved && cursor.dialect.family === 'tsql') return false;
  return (
    word === 'SELECT' || (cursor.dialect.family !== 'tsql' && (word === 'WITH' || word === 'FROM' || word === 'VALUES'))
  );
}

/** Column list of INSERT; a qualified name counts by its last part. */
function parseInsertColumns(cursor: Cursor): readonly Identifier[] {
  const columns: Identifier[] = [];
  cursor.advance();
  do {
    if (cursor.dialect.family === 'tsql') cursor.eat('.');
    let column =
      cursor.at('IDENTITYCOL') || cursor.at('ROWGUIDCOL')
        ? cursor.takeIdentifier()
        : cursor.identifier('a column name');
    while (cursor.eat('.')) column = namePart(cursor);
    columns.push(column);
    resumeAt(cursor, ',');
  } while (!cursor.recovering && cursor.eat(','));
  resumeAt(cursor, ')');
  closeParenthesis(cursor);
  return listOf(columns);
}

function parseInsertSource(cursor: Cursor): InsertSource {
  const { start } = cursor;
  if (cursor.at('DEFAULT') && cursor.peek(1) === 'VALUES') {
    cursor.advance();
    cursor.advance();
    return { kind: 'default-values', start, end: cursor.end };
  }
  // Spark's and DuckDB's rows are a query like any other, which may go on.
  if (cursor.at('VALUES') && cursor.dialect.family === 'tsql') return cursor.grammar.values(cursor);
  if (cursor.dialect.family === 'tsql') {
    if (cursor.at('EXEC') || cursor.at('EXECUTE')) return cursor.grammar.execute(cursor);
    if (!cursor.at('SELECT') && !cursor.at('(') && !cursor.at('WITH')) {
      cursor.fail('VALUES, SELECT, EXECUTE or DEFAULT VALUES');
      return { kind: 'default-values', start: cursor.end, end: cursor.end };
    }
    // WITH is not taken here by the server; Synapse and Fabric scripts have it in front of INSERT, too.
    if (cursor.at('WITH')) cursor.fail('VALUES, SELECT, EXECUTE or DEFAULT VALUES');
  }
  cursor.nestedWrites = true;
  const query = parseQueryWithTables(cursor);
  cursor.nestedWrites = false;
  return query;
}

function parseConflict(cursor: Cursor): Conflict {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const columns = cursor.at('(') ? parseConflictKey(cursor) : none;
  const conditions: Expression[] = [];
  if (cursor.eat('WHERE')) conditions.push(cursor.grammar.condition(cursor));
  let assignments: readonly Assignment[] = none;
  cursor.expect('DO');
  if (!cursor.eat('NOTHING')) {
    cursor.expect('UPDATE');
    cursor.expect('SET');
    assignments = parseAssignments(cursor);
    if (cursor.eat('WHERE')) conditions.push(cursor.grammar.condition(cursor));
  }
  return { kind: 'conflict', start, end: cursor.end, columns, assignments, conditions: listOf(conditions) };
}

function parseConflictKey(cursor: Cursor): readonly Identifier[] {
  const columns: Identifier[] = [];
  cursor.advance();
  do {
    columns.push(cursor.identifier('a column name'));
    // A collation and a direction may follow, as in an index.
    while (!cursor.recovering && !cursor.at(',') && !cursor.at(')') && !cursor.atEnd) cursor.advance();
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(columns);
}

function parseUpdate(cursor: Cursor, withClause: WithClause | null, start: number): Update {
  cursor.advance();
  const top = cursor.dialect.family === 'tsql' && cursor.at('TOP') ? parseTop(cursor) : null;
  const target = parseTarget(cursor);
  cursor.expect('SET');
  const assignments = parseAssignments(cursor);
  const output = cursor.dialect.family === 'tsql' ? parseOutputs(cursor) : none;
  const from: readonly TableSource[] = cursor.eat('FROM') ? cursor.grammar.sources(cursor) : none;
  const where = cursor.eat('WHERE') ? parseWhere(cursor) : null;
  const returning = cursor.dialect.family === 'duckdb' ? parseOutputs(cursor) : none;
  const hints = parseOptionalHints(cursor);
  const { end } = cursor;
  return {
    kind: 'update',
    start,
    end,
    with: withClause,
    top,
    target,
    assignments,
    output: [...output, ...returning],
    from,
    where,
    clauses: none,
    hints,
  };
}

/** A condition, or CURRENT OF a cursor. */
function parseWhere(cursor: Cursor): Expression {
  if (!cursor.at('CURRENT') || cursor.peek(1) !== 'OF') return cursor.grammar.condition(cursor);
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  if (cursor.at('GLOBAL') && cursor.nameAhead(1)) cursor.advance();
  const name = cursor.grammar.operand(cursor);
  return { kind: 'current-of', start, end: cursor.end, cursor: name };
}

function parseDelete(cursor: Cursor, withClause: WithClause | null, start: number): Delete {
  cursor.advance();
  const top = cursor.dialect.family === 'tsql' && cursor.at('TOP') ? parseTop(cursor) : null;
  if (cursor.dialect.family === 'tsql') cursor.eat('FROM');
  else cursor.expect('FROM');
  const target = parseTarget(cursor);
  const output = cursor.dialect.family === 'tsql' ? parseOutputs(cursor) : none;
  const second =
    cursor.dialect.family === 'duckdb' ? cursor.eat('USING') : cursor.dialect.family === 'tsql' && cursor.eat('FROM');
  const from: readonly TableSource[] = second ? cursor.grammar.sources(cursor) : none;
  const where = cursor.eat('WHERE') ? parseWhere(cursor) : null;
  const returning = cursor.dialect.family === 'duckdb' ? parseOutputs(cursor) : none;
  const hints = parseOptionalHints(cursor);
  const { end } = cursor;
  return {
    kind: 'delete',
    start,
    end,
    with: withClause,
    top,
    target,
    output: [...output, ...returning],
    from,
    where,
    clauses: none,
    hints,
  };
}
