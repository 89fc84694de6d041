/** Where statements of Spark SQL and DuckDB may begin, and which words go on with one. */
import type { Cursor } from './cursor.ts';
import { tokenKind } from './tokens.ts';

/** Behind DROP and ALTER stand the kind of an object, as a word, and its name. */
export function namesObject(cursor: Cursor): boolean {
  const kind = cursor.peekKind(1);
  if ((kind !== tokenKind.word && kind !== tokenKind.reserved) || cursor.peek(1) === cursor.word) return false;
  const next = cursor.peek(2);
  return next !== ';' && next !== '.' && cursor.peekKind(2) > tokenKind.separator;
}

/** `CREATE TABLE TABLE t`: the kind of an object is written twice where a name follows the second one. */
export function refuseDoubledKind(cursor: Cursor, expected: string): void {
  if (cursor.dialect.family !== 'tsql' && cursor.repeatsWord && cursor.nameAhead(1)) cursor.fail(expected);
}

/**
 * Whether a statement that is not known may begin here: only with a word that is no value, no name and no middle of
 * another statement. Lines of tools (`.read x`, `%sql`, `!ls`) and what they replace (`${x}`, `@x`) stay as they are.
 */
export function mayBegin(cursor: Cursor): boolean {
  const { kind } = cursor;
  const next = cursor.peek(1);
  if (kind === tokenKind.word) return !behindValue.has(next) && !isStray(cursor);
  if (kind === tokenKind.reserved) return reservedStarts.has(cursor.word);
  if (kind === tokenKind.punctuation) return !noStarts.has(cursor.word);
  return (
    kind !== tokenKind.string &&
    kind !== tokenKind.number &&
    (kind < tokenKind.bracketed || kind > tokenKind.backticked)
  );
}

/**
 * A name with dots or parentheses, or one before what other statements begin with or set. Those of DuckDB are all known;
 * Databricks has many, and new ones.
 */
function isStray(cursor: Cursor): boolean {
  const next = cursor.peek(1);
  if (cursor.word === '' && (next === '(' || next === '.')) return true;
  if (cursor.dialect.family === 'spark') return cursor.word === '' && (next === 'SET' || next === 'BY');
  if (startsOfDuckdb.has(cursor.tokenText.toUpperCase())) return false;
  return statementWords.has(next) || (cursor.nameAhead(1) && cursor.peek(2) === '=');
}

const statementWords: ReadonlySet<string> = new Set(
  'SET WITH SELECT INSERT UPDATE DELETE MERGE CREATE DROP TRUNCATE INTO VALUES TABLE VIEW BY'.split(' '),
);
/** First words of DuckDB's statements behind which such a word may stand. */
const startsOfDuckdb: ReadonlySet<string> = new Set(
  'ANALYZE ATTACH CALL COMMENT COPY DEALLOCATE DETACH EXECUTE EXPORT FORCE IMPORT INSTALL LOAD PRAGMA PREPARE RESET SHOW SUMMARIZE VACUUM'.split(
    ' ',
  ),
);

/** What follows a value or name in the middle of a statement. */
const behindValue: ReadonlySet<string> = new Set([',', '=', '::', ')', '+', '*', '<', '>', '<>', '||', 'FROM', 'AS']);
/** Reserved words of which statements begin with some that are not read further. */
const reservedStarts: ReadonlySet<string> = new Set(
  'ALTER CASE CONSTRAINT CREATE DELETE DESC DROP END FETCH FOR FROM INSERT MERGE PIVOT SELECT SET UNPIVOT UPDATE VALUES WITH'.split(
    ' ',
  ),
);
const noStarts: ReadonlySet<string> = new Set([
  ')',
  ',',
  '=',
  '*',
  '[',
  ']',
  '{',
  '}',
  '<',
  '>',
  '+',
  '::',
  '->',
  '=>',
  '||',
]);

/** A word that begins no clause, whatever clauses may come to be: it stands in the middle of an expression, or before BY. */
export function goesOn(cursor: Cursor): boolean {
  if (cursor.at('BY')) return true;
  if (cursor.kind !== tokenKind.word || cursor.word !== '') return false;
  // Spark takes an alias of `*`: `SELECT * a FROM t`.
  return behindOperand.has(cursor.peek(1)) || (cursor.dialect.family === 'duckdb' && cursor.peek(1) === 'FROM');
}

const behindOperand: ReadonlySet<string> = new Set('IS IN LIKE ILIKE BETWEEN NOT + - * / || ::'.split(' '));
