import type { Cursor } from './cursor.ts';
import { listOf, none } from './none.ts';
import { firmStarts, resumeAt } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import type { Identifier, Name } from './tree.ts';

/** A name of one to four parts. Without a name at the current token: a problem and a name with an empty part. */
export function parseName(cursor: Cursor, expected = 'a name', mostParts = 4): Name {
  const start = cursor.start;
  const first = cursor.at('.') && cursor.dialect.family === 'tsql' ? null : cursor.identifier(expected);
  if (!cursor.at('.') || cursor.recovering)
    return { kind: 'name', start: Math.min(start, cursor.end), end: cursor.end, parts: [first] };
  const parts = [first];
  while (cursor.at('.') && !cursor.recovering) {
    cursor.advance();
    // Spark's catalogs have namespaces of any depth, and the class of a data source is a name, too.
    if (parts.length >= mostParts && cursor.dialect.family !== 'spark') {
      cursor.report(start, cursor.end, `A name here has at most ${mostParts} parts.`);
    }
    // T-SQL's `db..table` leaves the schema out.
    if (cursor.at('.') && cursor.dialect.family === 'tsql') parts.push(null);
    else parts.push(namePart(cursor));
  }
  return { kind: 'name', start: Math.min(start, cursor.end), end: cursor.end, parts: listOf(parts) };
}

/** A part after a dot. Spark and DuckDB take every word there. */
export function namePart(cursor: Cursor): Identifier {
  if (cursor.atName) return cursor.takeIdentifier();
  if (cursor.kind === tokenKind.reserved) {
    if (cursor.dialect.family !== 'tsql' || cursor.at('IDENTITYCOL') || cursor.at('ROWGUIDCOL')) {
      return cursor.takeIdentifier();
    }
  }
  if (cursor.dialect.family !== 'tsql' && cursor.kind === tokenKind.variable) return cursor.takeIdentifier();
  cursor.fail('a name after the dot');
  return cursor.missingIdentifier();
}

/** `( a, b, c )`; the current token is the opening parenthesis. */
export function parseIdentifierList(cursor: Cursor): readonly Identifier[] {
  if (!cursor.expect('(')) return none;
  const names: Identifier[] = [];
  do names.push(cursor.identifier('a column name'));
  while (!cursor.recovering && cursor.eat(','));
  resumeAt(cursor, ')');
  closeParenthesis(cursor);
  return listOf(names);
}

/**
 * The closing parenthesis of a list. After a mistake inside it, everything up to that parenthesis is skipped, so that
 * what follows is understood.
 */
export function closeParenthesis(cursor: Cursor): void {
  if (cursor.eat(')')) return;
  cursor.fail("',' or ')'");
  if (skipToClosing(cursor)) cursor.advance();
}

/**
 * Skips to the parenthesis that closes the current level, or stays where none comes before the statement seems to end.
 */
export function skipToClosing(cursor: Cursor): boolean {
  const distance = closingDistance(cursor);
  if (distance < 0) return false;
  for (let count = 0; count < distance; count += 1) cursor.advance();
  return true;
}

/** Tokens looked at before a search for a closing parenthesis gives up. */
const farthestClosing = 4000;

function closingDistance(cursor: Cursor): number {
  let open = 0;
  for (let distance = 0; distance < farthestClosing; distance += 1) {
    const kind = cursor.peekKind(distance);
    if (kind <= tokenKind.separator) return -1;
    const word = cursor.peek(distance);
    if (word === ';' || (distance > 0 && firmStarts.has(word) && cursor.lineBreakAhead(distance))) return -1;
    if (word === '(') open += 1;
    else if (word === ')') {
      if (open === 0) return distance;
      open -= 1;
    }
  }
  return -1;
}
