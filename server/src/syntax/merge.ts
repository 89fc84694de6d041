import type { Cursor } from './cursor.ts';
import { parseTableHints } from './hints.ts';
import { closeParenthesis, namePart, parseIdentifierList } from './names.ts';
import { listOf, none } from './none.ts';
import { parseOptionalHints, parseOutputs, parsePlainTarget } from './output.ts';
import { parseInsertValue } from './queries.ts';
import { skipUntil } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import { parseTop } from './top.ts';
import type {
  Assignment,
  Expression,
  Identifier,
  Merge,
  MergeAction,
  MergeBranch,
  MergeInsert,
  TableSource,
  WithClause,
  WriteTarget,
} from './tree.ts';

/**
 * MERGE from its first word to the end of OUTPUT and OPTION. After a mistake the parser goes on at the next WHEN, so
 * that target, source and the other branches stay known.
 */
export function parseMerge(cursor: Cursor, withClause: WithClause | null, start: number): Merge {
  cursor.expect('MERGE');
  const schemaEvolution = cursor.dialect.family === 'spark' && cursor.eatSequence('WITH', 'SCHEMA', 'EVOLUTION');
  const top = cursor.dialect.family === 'tsql' && cursor.at('TOP') ? parseTop(cursor) : null;
  if (!cursor.eat('INTO') && cursor.dialect.family !== 'tsql') cursor.fail('INTO');
  const target = cursor.dialect.family === 'tsql' ? parseTarget(cursor) : cursor.grammar.singleSource(cursor);
  let source: TableSource | null = null;
  let on: Expression | null = null;
  if (cursor.expect('USING')) {
    source = cursor.grammar.tableSource(cursor);
    if (cursor.dialect.family === 'duckdb' && cursor.at('USING') && cursor.peek(1) === '(') {
      cursor.advance();
      on = usingCondition(parseIdentifierList(cursor));
    } else if (cursor.expect('ON')) on = cursor.grammar.condition(cursor);
  }
  const branches = parseBranches(cursor);
  const output = parseOutputs(cursor);
  const hints = parseOptionalHints(cursor);
  const { end } = cursor;
  const terminated = cursor.at(';');
  return {
    kind: 'merge',
    start,
    end,
    with: withClause,
    top,
    target,
    source,
    on,
    branches,
    output,
    hints,
    schemaEvolution,
    terminated,
  };
}

/** T-SQL puts the hints of the target before its alias. */
function parseTarget(cursor: Cursor): WriteTarget {
  if (cursor.kind === tokenKind.reserved && cursor.peek(1) === '(') return cursor.grammar.singleSource(cursor);
  const plain = parsePlainTarget(cursor);
  const hints = cursor.at('WITH') ? parseTableHints(cursor) : none;
  let alias: Identifier | null = null;
  if (cursor.eat('AS')) alias = cursor.identifier('an alias');
  else if (cursor.atName && !cursor.at('USING')) alias = cursor.takeIdentifier();
  return { ...plain, end: cursor.end, hints, alias };
}

/** DuckDB's USING (a, b) is no expression; it is kept as the tuple of its columns. */
function usingCondition(names: readonly Identifier[]): Expression {
  const items: Expression[] = names.map((name) => ({
    kind: 'column',
    start: name.start,
    end: name.end,
    parts: [name],
  }));
  return { kind: 'tuple', start: names[0]?.start ?? 0, end: names[names.length - 1]?.end ?? 0, items };
}

function parseBranches(cursor: Cursor): readonly MergeBranch[] {
  const branches: MergeBranch[] = [];
  if (cursor.recovering && !resume(cursor)) return listOf(branches);
  if (!cursor.at('WHEN')) {
    cursor.fail('WHEN');
    if (!resume(cursor)) return listOf(branches);
  }
  while (cursor.at('WHEN')) {
    branches.push(parseBranch(cursor));
    if (cursor.recovering && !resume(cursor)) return listOf(branches);
  }
  return listOf(branches);
}

/** Goes on at the next branch after a mistake. */
function resume(cursor: Cursor): boolean {
  if (!skipUntil(cursor, 'WHEN')) return false;
  cursor.recovering = false;
  return true;
}

function parseBranch(cursor: Cursor): MergeBranch {
  const { start } = cursor;
  cursor.advance();
  const not = cursor.eat('NOT');
  cursor.expect('MATCHED');
  let bySource = false;
  let byTarget = false;
  if (cursor.at('BY') && (not || cursor.dialect.family !== 'tsql')) {
    cursor.advance();
    if (cursor.eat('SOURCE')) bySource = true;
    else if (cursor.eat('TARGET')) byTarget = true;
    else cursor.fail('SOURCE or TARGET');
  }
  const match = !not ? 'matched' : bySource ? 'not-matched-by-source' : 'not-matched';
  const condition = cursor.eat('AND') ? cursor.grammar.condition(cursor) : null;
  let action: MergeAction | null = null;
  if (cursor.expect('THEN')) action = parseAction(cursor, match);
  return { kind: 'merge-branch', start, end: cursor.end, match, byTarget, condition, action };
}

function parseAction(cursor: Cursor, match: MergeBranch['match']): MergeAction | null {
  const { start } = cursor;
  const strict = cursor.dialect.family !== 'duckdb';
  if (cursor.at('UPDATE') && (match !== 'not-matched' || !strict)) return parseUpdate(cursor);
  if (cursor.at('DELETE') && (match !== 'not-matched' || !strict)) {
    cursor.advance();
    return { kind: 'merge-delete', start, end: cursor.end };
  }
  if (cursor.at('INSERT') && (match === 'not-matched' || !strict)) return parseInsert(cursor);
  if (!strict && (cursor.at('DO') || cursor.at('ERROR'))) {
    if (cursor.eat('DO')) cursor.expect('NOTHING');
    else {
      cursor.advance();
      if (!cursor.at('WHEN') && !cursor.at('RETURNING') && !cursor.at(';') && !cursor.atEnd)
        cursor.grammar.value(cursor);
    }
    return { kind: 'merge-nothing', start, end: cursor.end };
  }
  cursor.fail(match === 'not-matched' ? 'INSERT' : 'UPDATE or DELETE');
  return null;
}

function parseUpdate(cursor: Cursor): MergeAction {
  const { start } = cursor;
  cursor.advance();
  if (cursor.dialect.family === 'duckdb' && !cursor.at('SET')) {
    // UPDATE alone and UPDATE BY NAME set every column.
    if (cursor.eat('BY')) cursor.eatAny('NAME', 'POSITION');
    return { kind: 'merge-update', start, end: cursor.end, assignments: none, star: true, except: none };
  }
  cursor.expect('SET');
  if (cursor.dialect.family !== 'tsql' && cursor.at('*')) {
    cursor.advance();
    const except = parseExcept(cursor);
    return { kind: 'merge-update', start, end: cursor.end, assignments: none, star: true, except };
  }
  const assignments: readonly Assignment[] = cursor.grammar.assignments(cursor);
  return { kind: 'merge-update', start, end: cursor.end, assignments, star: false, except: none };
}

function parseExcept(cursor: Cursor): readonly Identifier[] {
  if (!cursor.at('EXCEPT') || cursor.peek(1) !== '(') return none;
  cursor.advance();
  return parseColumns(cursor);
}

function parseInsert(cursor: Cursor): MergeAction {
  const { start } = cursor;
  cursor.advance();
  if (cursor.dialect.family !== 'tsql') {
    if (cursor.eat('*')) {
      return mergeInsert(cursor, start, none, none, { star: true, except: parseExcept(cursor) });
    }
    if (cursor.dialect.family === 'duckdb' && !cursor.at('(') && !cursor.at('VALUES') && !cursor.at('DEFAULT')) {
      if (cursor.eat('BY')) cursor.eatAny('NAME', 'POSITION');
      return mergeInsert(cursor, start, none, none, { star: true });
    }
  }
  const columns = cursor.at('(') ? parseColumns(cursor) : none;
  if (cursor.eat('DEFAULT')) {
    cursor.expect('VALUES');
    return mergeInsert(cursor, start, columns, none, { defaultValues: true });
  }
  const values: Expression[] = [];
  if (cursor.expect('VALUES') && cursor.expect('(')) {
    do values.push(parseInsertValue(cursor));
    while (!cursor.recovering && cursor.eat(','));
    closeParenthesis(cursor);
  }
  return mergeInsert(cursor, start, columns, listOf(values));
}

function mergeInsert(
  cursor: Cursor,
  start: number,
  columns: readonly Identifier[],
  values: readonly Expression[],
  {
    star = false,
    except = none,
    defaultValues = false,
  }: Partial<Pick<MergeInsert, 'star' | 'except' | 'defaultValues'>> = {},
): MergeInsert {
  return { kind: 'merge-insert', start, end: cursor.end, columns, values, star, except, defaultValues };
}

/** Column list of INSERT and EXCEPT; a qualified name counts by its last part. */
function parseColumns(cursor: Cursor): readonly Identifier[] {
  const columns: Identifier[] = [];
  cursor.advance();
  do {
    let column =
      cursor.at('IDENTITYCOL') || cursor.at('ROWGUIDCOL')
        ? cursor.takeIdentifier()
        : cursor.identifier('a column name');
    while (cursor.eat('.')) column = namePart(cursor);
    columns.push(column);
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(columns);
}
