import { parseTableConstraint } from './constraints.ts';
import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseName } from './names.ts';
import { none } from './none.ts';
import { parseColumn, parseOpenElements } from './openColumns.ts';
import { tokenKind } from './tokens.ts';
import type { AlterTable, AlterTableAction, DroppedElement, Name, OpaqueClause, TableElement } from './tree.ts';
import { parseDataType } from './types.ts';

/** ALTER TABLE of Spark SQL and DuckDB from the name on; `start` is the start of ALTER. */
export function parseOpenAlter(cursor: Cursor, start: number): AlterTable {
  const ifExists = cursor.eatSequence('IF', 'EXISTS');
  const name = parseName(cursor, 'the name of a table');
  const actions: AlterTableAction[] = [];
  if (!cursor.recovering) {
    do actions.push(parseAction(cursor));
    while (!cursor.recovering && cursor.dialect.family === 'duckdb' && cursor.eat(','));
  }
  return { kind: 'alter-table', start, end: cursor.end, name, ifExists, actions };
}

function parseAction(cursor: Cursor): AlterTableAction {
  const second = cursor.peek(1);
  switch (cursor.word) {
    case 'ADD':
      if (second === 'CONSTRAINT' || second === 'PRIMARY' || second === 'FOREIGN') return parseAddConstraint(cursor);
      if (second === 'PARTITION' || second === 'IF') {
        return second === 'IF' && cursor.dialect.family === 'duckdb' ? parseAddColumns(cursor) : parseOther(cursor);
      }
      return parseAddColumns(cursor);
    case 'DROP':
      if (second === 'PARTITION' || second === 'IF' || second === 'FEATURE') {
        return second === 'IF' && cursor.dialect.family === 'duckdb' ? parseDrop(cursor) : parseOther(cursor);
      }
      return parseDrop(cursor);
    case 'RENAME':
      return parseRename(cursor);
    case 'ALTER':
    case 'CHANGE':
      return second === 'COLUMN' || cursor.nameAhead(1) ? parseAlterColumn(cursor) : parseOther(cursor);
    default:
      return parseOther(cursor);
  }
}

/** Whatever else the statement does: bounded by its end. */
function parseOther(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  const words: string[] = [];
  if (cursor.atEnd || cursor.at(';')) cursor.fail('ADD, DROP, ALTER, RENAME or SET');
  while (!cursor.atEnd && !cursor.at(';')) {
    if (words.length < 2 && (cursor.kind === tokenKind.word || cursor.kind === tokenKind.reserved))
      words.push(cursor.tokenText.toUpperCase());
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  return { kind: 'alter-table-other', start, end: cursor.end, name: words.join(' '), table: null, options: none };
}

function parseAddConstraint(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  const element = parseTableConstraint(cursor);
  return { kind: 'add-elements', start, end: cursor.end, check: null, elements: [element] };
}

function parseAddColumns(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  if (cursor.eatAny('COLUMN', 'COLUMNS') !== null || cursor.at('IF')) cursor.eatSequence('IF', 'NOT', 'EXISTS');
  let elements: readonly TableElement[];
  if (cursor.at('(')) elements = parseOpenElements(cursor);
  else {
    const columns: TableElement[] = [];
    do columns.push(parseColumn(cursor));
    while (!cursor.recovering && cursor.dialect.family === 'spark' && cursor.eat(','));
    elements = columns;
  }
  return { kind: 'add-elements', start, end: cursor.end, check: null, elements };
}

function parseDrop(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  const items: DroppedElement[] = [];
  cursor.advance();
  const word = cursor.eatAny('COLUMN', 'COLUMNS', 'CONSTRAINT', 'PRIMARY', 'FOREIGN');
  const type =
    word === 'CONSTRAINT' ? 'constraint' : word === 'PRIMARY' ? 'primary-key' : word === 'FOREIGN' ? 'other' : 'column';
  if (word === 'PRIMARY' || word === 'FOREIGN') cursor.expect('KEY');
  cursor.eatSequence('IF', 'EXISTS');
  const inside = cursor.eat('(');
  if (type === 'column' || type === 'constraint' || inside) {
    do {
      const from = cursor.start;
      const name = parseName(cursor, 'a name');
      const last = name.parts[name.parts.length - 1] ?? null;
      items.push({ kind: 'dropped-element', start: from, end: cursor.end, type, name: last });
    } while (!cursor.recovering && cursor.dialect.family === 'spark' && cursor.eat(','));
  } else items.push({ kind: 'dropped-element', start, end: cursor.end, type, name: null });
  if (inside) closeParenthesis(cursor);
  cursor.eatAny('CASCADE', 'RESTRICT');
  return { kind: 'drop-elements', start, end: cursor.end, items };
}

function parseRename(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  if (cursor.at('TO')) {
    cursor.advance();
    const table: Name = parseName(cursor, 'the new name');
    return { kind: 'alter-table-other', start, end: cursor.end, name: 'RENAME TO', table, options: none };
  }
  if (cursor.at('PARTITION') || cursor.peek(1) === '(') return parseOther(cursor);
  cursor.eat('COLUMN');
  const from = parseName(cursor, 'a column name');
  cursor.expect('TO');
  const to = cursor.identifier('the new name');
  const old = from.parts[from.parts.length - 1] ?? cursor.missingIdentifier();
  return { kind: 'rename-column', start, end: cursor.end, from: old, to };
}

function parseAlterColumn(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  cursor.eat('COLUMN');
  const name = parseName(cursor, 'a column name');
  const column = name.parts[name.parts.length - 1] ?? cursor.missingIdentifier();
  const clauses: OpaqueClause[] = [];
  const from = cursor.start;
  if (cursor.at('TYPE') || (cursor.at('SET') && (cursor.peek(1) === 'DATA' || cursor.peek(1) === 'TYPE'))) {
    cursor.eat('SET');
    cursor.eat('DATA');
    cursor.expect('TYPE');
    const type = parseDataType(cursor);
    clauses.push({ kind: 'opaque-clause', start: from, end: cursor.end, name: `TYPE ${type.text}` });
  }
  const rest = cursor.start;
  while (!cursor.atEnd && !cursor.at(';') && !(cursor.at(',') && cursor.dialect.family === 'duckdb')) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  if (cursor.end > rest) clauses.push({ kind: 'opaque-clause', start: rest, end: cursor.end, name: 'COLUMN' });
  return { kind: 'alter-column', start, end: cursor.end, column, definition: null, clauses };
}
