import type { Cursor } from './cursor.ts';
import { isTableHint } from './hints.ts';
import { atQueryInParentheses } from './lookahead.ts';
import { parseIdentifierList } from './names.ts';
import { none } from './none.ts';
import { tokenKind } from './tokens.ts';
import type { Identifier } from './tree.ts';

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
  if (alias === null || !cursor.at('(') || isTableHint(cursor, 1) || atQueryInParentheses(cursor)) {
    // Spark: `AS (a, b)` without a name.
    return { alias, columns: none };
  }
  return { alias, columns: parseIdentifierList(cursor) };
}

/** A source's alias. Words that go on with the statement are none where AS is missing. */
export function parseAlias(cursor: Cursor): Identifier | null {
  if (cursor.eat('AS')) {
    if (cursor.kind === tokenKind.reserved && mayBeAlias(cursor)) return cursor.takeIdentifier();
    if (cursor.kind === tokenKind.string) {
      cursor.fail('an alias');
      return cursor.missingIdentifier();
    }
    return cursor.identifier('an alias');
  }
  if (!cursor.atName || continuesStatement(cursor)) return null;
  return cursor.takeIdentifier();
}

/** Keywords that may stand for an alias behind AS: all of Spark's, and those that DuckDB keeps for no place but their own. */
function mayBeAlias(cursor: Cursor): boolean {
  if (cursor.dialect.family === 'spark') return true;
  return cursor.dialect.family === 'duckdb' && aliasWords.has(cursor.word);
}

const aliasWords: ReadonlySet<string> = new Set(
  'ALTER BETWEEN DELETE DROP EXISTS INSERT MERGE SET TRY_CAST UPDATE VALUES'.split(' '),
);

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
    case 'KEYS':
      return cursor.dialect.family === 'spark' && next === '(';
    case 'DO':
      return cursor.scriptDepth > 0;
    case 'RETURNING':
    case 'SET':
    case 'BY':
      return cursor.dialect.family !== 'tsql';
    default:
      return cursor.onNewLine && next === ':' && cursor.dialect.family === 'tsql';
  }
}
