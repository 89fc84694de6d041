import type { Cursor } from './cursor.ts';
import { tokenKind } from './tokens.ts';
import type { Literal, LiteralType } from './tree.ts';

/** The current token as a literal, as it is written. */
export function parseLiteral(cursor: Cursor, type: LiteralType): Literal {
  const { start, currentEnd: end, tokenText: value } = cursor;
  cursor.advance();
  return { kind: 'literal', start, end, type, value, typeName: null };
}

/** A string. Neighbouring strings are one in Spark, and in DuckDB where a line ends between them. */
export function parseString(cursor: Cursor, type: 'string' | 'national'): Literal {
  const { start } = cursor;
  let value = decodeString(cursor.tokenText);
  cursor.advance();
  const { family } = cursor.dialect;
  while (cursor.kind === tokenKind.string && (family === 'spark' || (family === 'duckdb' && cursor.onNewLine))) {
    value += decodeString(cursor.tokenText);
    cursor.advance();
  }
  return { kind: 'literal', start, end: cursor.end, type, value, typeName: null };
}

/** The characters of a string token: without its prefix and quotes, doubled quotes undone. */
export function decodeString(token: string): string {
  const open = token.search(/['"$]/);
  const mark = token.charAt(open);
  if (mark === '$') {
    const tag = /^\$\w*\$/.exec(token.slice(open))?.[0] ?? '$$';
    return token.slice(open + tag.length, token.length - tag.length);
  }
  const inner = token.length > open + 1 && token.endsWith(mark) ? token.slice(open + 1, -1) : token.slice(open + 1);
  return inner.includes(mark) ? inner.replaceAll(mark + mark, mark) : inner;
}
