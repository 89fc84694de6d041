import type { Cursor } from './cursor.ts';
import { parseName } from './names.ts';
import { parseOpaque } from './opaque.ts';
import type { Statement, TableSource } from './tree.ts';
import { parseWrite } from './writes.ts';

/*
 * Statements of Databricks that fill a table and are no INSERT or MERGE: COPY INTO, AUTO CDC INTO with its former name
 * APPLY CHANGES INTO, and CREATE FLOW. Of the first two the target and source are known, and the rest by its bounds.
 */

/** COPY INTO, AUTO CDC INTO or APPLY CHANGES INTO at the current token; null for other statements. */
export function parseTableLoad(cursor: Cursor, start = cursor.start): Statement | null {
  if (cursor.dialect.family !== 'spark') return null;
  const words = ['COPY', 'AUTO', 'APPLY'].includes(cursor.word) || /^apply$/i.test(cursor.tokenText);
  if (!words) return null;
  const merges = !cursor.at('COPY');
  const distance = merges ? 2 : 1;
  if (cursor.peek(distance) !== 'INTO' || !/^(?:copy|auto cdc|apply changes)$/i.test(wordsAhead(cursor, distance)))
    return null;
  for (let count = 0; count <= distance; count += 1) cursor.advance();
  const target = parseName(cursor, 'a table');
  let source: TableSource | null = null;
  if (!cursor.recovering) {
    while (!cursor.at('FROM') && !cursor.at(';') && !cursor.atEnd) cursor.advance();
    if (cursor.eat('FROM') && (merges || cursor.at('('))) source = cursor.grammar.singleSource(cursor);
    if (!cursor.recovering && !cursor.at(';') && !cursor.atEnd) parseOpaque(cursor);
  }
  return { kind: 'table-load', start, end: cursor.end, merges, target, source };
}

function wordsAhead(cursor: Cursor, count: number): string {
  return Array.from({ length: count }, (_, at) => cursor.textAhead(at)).join(' ');
}

/** CREATE FLOW name [COMMENT '…'] AS INSERT INTO [ONCE] … | AUTO CDC INTO …, the current token being FLOW. */
export function parseFlow(cursor: Cursor, start: number): Statement {
  cursor.advance();
  parseName(cursor, 'the name of a flow');
  while (!cursor.at('AS') && !cursor.at(';') && !cursor.atEnd) cursor.advance();
  cursor.eat('AS');
  if (cursor.at('INSERT')) return parseWrite(cursor, null, start);
  return parseTableLoad(cursor, start) ?? parseOpaque(cursor, start);
}
