import type { Cursor } from './cursor.ts';
import { parseIdentifierList, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parseHints } from './queryHints.ts';
import { parseSelectItems } from './selectItems.ts';
import { tokenKind } from './tokens.ts';
import type { Output, QueryHint, TableReference, TableVariable } from './tree.ts';

/** OUTPUT clauses: `OUTPUT … INTO …` and behind it, maybe, one that goes to the client. DuckDB: RETURNING. */
export function parseOutputs(cursor: Cursor): readonly Output[] {
  const outputs: Output[] = [];
  const word = cursor.dialect.family === 'tsql' ? 'OUTPUT' : 'RETURNING';
  while (cursor.at(word) && !cursor.recovering && outputs.length < 2) outputs.push(parseOutput(cursor));
  return listOf(outputs);
}

function parseOutput(cursor: Cursor): Output {
  const { start } = cursor;
  cursor.advance();
  const items = parseSelectItems(cursor);
  let into: TableReference | TableVariable | null = null;
  let intoColumns: Output['intoColumns'] = none;
  if (cursor.dialect.family === 'tsql' && cursor.eat('INTO')) {
    into = parsePlainTarget(cursor);
    if (cursor.at('(') && cursor.peek(1) !== 'SELECT') intoColumns = parseIdentifierList(cursor);
  }
  return { kind: 'output', start, end: cursor.end, items, into, intoColumns };
}

/** A table or table variable without alias and hints. */
export function parsePlainTarget(cursor: Cursor): TableReference | TableVariable {
  const { start } = cursor;
  if (cursor.kind === tokenKind.variable && cursor.dialect.family === 'tsql') {
    const name = cursor.tokenText;
    cursor.advance();
    return { kind: 'table-variable', start, end: cursor.end, name, alias: null, hints: none };
  }
  const name = parseName(cursor, 'a table');
  const { end } = cursor;
  return { kind: 'table', start, end, name, alias: null, columns: none, hints: none, timeTravel: null, sample: null };
}

/** OPTION (…) where it stands. */
export function parseOptionalHints(cursor: Cursor): readonly QueryHint[] {
  return cursor.dialect.family === 'tsql' && cursor.at('OPTION') ? parseHints(cursor) : none;
}
