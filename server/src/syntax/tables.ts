import { parseFilegroup } from './constraints.ts';
import type { Cursor } from './cursor.ts';
import { parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parseTableOptions } from './options.ts';
import { parseOptionalHints } from './output.ts';
import { parseQueryWithTables } from './queries.ts';
import { tokenKind } from './tokens.ts';
import type { CreateTable, Name, Option, Query, TableElement } from './tree.ts';

/** T-SQL's CREATE [EXTERNAL] TABLE from the name on; `start` is the start of CREATE. */
export function parseCreateTable(cursor: Cursor, start: number, external: boolean): CreateTable {
  const name = parseName(cursor, 'the name of a table');
  let elements: readonly TableElement[] = none;
  const options: Option[] = [];
  let query: Query | null = null;
  let cloneOf: Name | null = null;
  let graph: 'node' | 'edge' | null = null;
  let fileTable = false;
  if (cursor.at('(')) {
    elements = cursor.grammar.tableElements(cursor, !external);
  }
  for (let again = !cursor.recovering; again && !cursor.recovering; ) {
    switch (cursor.word) {
      case 'ON':
      case 'TEXTIMAGE_ON':
      case 'FILESTREAM_ON': {
        const { word } = cursor;
        if (options.some((option) => option.name === word)) cursor.fail('the end of the statement');
        else options.push(parseFilegroup(cursor));
        break;
      }
      case 'FEDERATED':
        options.push(parseFederated(cursor));
        break;
      case 'WITH':
        if (cursor.peek(1) !== '(') {
          again = false;
          break;
        }
        cursor.advance();
        options.push(...parseTableOptions(cursor));
        break;
      case 'AS': {
        const next = cursor.peek(1);
        cursor.advance();
        if (next === 'NODE' || next === 'EDGE') {
          graph = next === 'NODE' ? 'node' : 'edge';
          cursor.advance();
        } else if (next === 'FILETABLE') {
          fileTable = true;
          cursor.advance();
        } else if (next === 'CLONE') {
          cloneOf = parseClone(cursor);
          again = false;
        } else {
          query = parseQueryWithTables(cursor);
          parseOptionalHints(cursor);
          again = false;
        }
        break;
      }
      default:
        again = false;
    }
  }
  // `CREATE TABLE t (a, b) … AS SELECT` names its columns only; a table of its own needs their types.
  const untyped = elements.find(
    (element) => element.kind === 'column-definition' && element.type === null && element.computed === null,
  );
  if (untyped !== undefined && query === null && cursor.problems.length === 0) {
    cursor.report(
      Math.max(untyped.start, untyped.end - 1),
      untyped.end,
      'Expected a data type behind the name of the column.',
    );
  }
  const complete = elements.length > 0 || query !== null || cloneOf !== null || fileTable || graph !== null;
  if (!complete && !external) cursor.fail("'(' and the columns of the table");
  return {
    kind: 'create-table',
    start,
    end: cursor.end,
    name,
    orReplace: false,
    ifNotExists: false,
    external,
    temporary: false,
    modifiers: none,
    elements,
    query,
    cloneOf,
    graph,
    fileTable,
    options: listOf(options),
  };
}

/** `FEDERATED ON (distribution = column)` of Azure's federations. */
function parseFederated(cursor: Cursor): Option {
  const { start, word: name } = cursor;
  cursor.advance();
  cursor.expect('ON');
  const from = cursor.start;
  if (cursor.at('(')) cursor.skipParentheses();
  else cursor.fail("'('");
  return { kind: 'option', start, end: cursor.end, name, value: cursor.slice(from, cursor.end), columns: none };
}

/** `CLONE OF table [AT 'time']`. */
function parseClone(cursor: Cursor): Name {
  cursor.advance();
  cursor.expect('OF');
  const name = parseName(cursor, 'a table');
  if (cursor.eat('AT')) {
    if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.variable) cursor.advance();
    else cursor.fail('a point in time as a string');
  }
  return name;
}
