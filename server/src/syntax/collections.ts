import type { Cursor } from './cursor.ts';
import { parseLiteral, parseString } from './literals.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Identifier, Literal } from './tree.ts';

/** DuckDB's lists and structs, and the intervals that it shares with Spark. */

export function parseList(cursor: Cursor): Expression {
  const { start } = cursor;
  const items: Expression[] = [];
  cursor.advance();
  while (!cursor.at(']') && !cursor.atEnd && !cursor.recovering) {
    items.push(cursor.grammar.expression(cursor));
    if (cursor.at('FOR')) skipComprehension(cursor);
    if (!cursor.eat(',')) break;
  }
  cursor.expect(']');
  return { kind: 'list', start, end: cursor.end, items };
}

/** DuckDB's `[x + 1 FOR x IN list IF condition]`: the part from FOR on is only bounded. */
function skipComprehension(cursor: Cursor): void {
  let open = 0;
  while (!cursor.atEnd && !(open === 0 && cursor.at(']'))) {
    if (cursor.at('[')) open += 1;
    else if (cursor.at(']')) open -= 1;
    cursor.advance();
  }
}

export function parseStruct(cursor: Cursor): Expression {
  const { start } = cursor;
  const keys: (Identifier | Literal)[] = [];
  const values: Expression[] = [];
  cursor.advance();
  while (!cursor.at('}') && !cursor.atEnd && !cursor.recovering) {
    keys.push(parseKey(cursor));
    cursor.expect(':');
    values.push(cursor.grammar.expression(cursor));
    if (!cursor.eat(',')) break;
  }
  cursor.expect('}');
  return { kind: 'struct', start, end: cursor.end, keys, values };
}

/** A name or a constant; the keys of MAP may be any expression, of which the text is kept. */
function parseKey(cursor: Cursor): Identifier | Literal {
  const single = cursor.peek(1) === ':';
  if (single && cursor.kind === tokenKind.string) return parseString(cursor, 'string');
  if (single && cursor.kind === tokenKind.number) return parseLiteral(cursor, 'number');
  if (single || cursor.kind === tokenKind.punctuation) return cursor.identifier('a key');
  const { start, end } = cursor.grammar.operand(cursor);
  return { kind: 'identifier', start, end, name: cursor.slice(start, end), quote: 'none' };
}

export function parseInterval(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  cursor.eatAny('-', '+');
  let value = cursor.grammar.primary(cursor);
  const units: string[] = [];
  // Spark chains pairs: INTERVAL 1 DAY 2 HOURS.
  while (isUnit(cursor)) {
    units.push(cursor.tokenText.toUpperCase());
    cursor.advance();
    if (cursor.at('TO') && isUnitAhead(cursor)) {
      units.push('TO');
      cursor.advance();
    } else if (atSignedPair(cursor) || isPair(cursor)) {
      cursor.eatAny('+', '-');
      const next = cursor.grammar.primary(cursor);
      value = { kind: 'tuple', start: value.start, end: cursor.end, items: [value, next] };
    }
  }
  return { kind: 'interval', start, end: cursor.end, value, unit: units.join(' ') };
}

function isPair(cursor: Cursor): boolean {
  const { kind } = cursor;
  return (kind === tokenKind.number || kind === tokenKind.string) && isUnitAhead(cursor);
}

/** Spark: `INTERVAL 1 DAY + 2 HOURS`, one interval as long as every value has its unit. */
function atSignedPair(cursor: Cursor): boolean {
  if (cursor.dialect.family !== 'spark' || !(cursor.at('+') || cursor.at('-'))) return false;
  const kind = cursor.peekKind(1);
  if (kind !== tokenKind.number && kind !== tokenKind.string) return false;
  return cursor.peekKind(2) === tokenKind.word && units.test(cursor.textAhead(2));
}

const units =
  /^(?:nano|micro|milli)?seconds?$|^(?:year|quarter|month|week|day|hour|minute|decade|century|millennium)s?$/i;

function isUnit(cursor: Cursor): boolean {
  return cursor.kind === tokenKind.word && units.test(cursor.tokenText);
}

function isUnitAhead(cursor: Cursor): boolean {
  return cursor.peekKind(1) === tokenKind.word && units.test(cursor.textAhead(1));
}
