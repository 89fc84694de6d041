import { parseTableConstraint } from './constraints.ts';
import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseName } from './names.ts';
import { none } from './none.ts';
import { parseColumn, parseOpenElements } from './openColumns.ts';
import { tokenKind } from './tokens.ts';
import type {
  AlterTable,
  AlterTableAction,
  ColumnChange,
  DroppedElement,
  Name,
  NodeBase,
  OpaqueClause,
  TableElement,
} from './tree.ts';
import { parseDataType } from './types.ts';

/** ALTER TABLE of Spark SQL and DuckDB from the name on; `start` is the start of ALTER. */
export function parseOpenAlter(cursor: Cursor, start: number): AlterTable {
  const ifExists = cursor.eatSequence('IF', 'EXISTS');
  const name = parseName(cursor, 'the name of a table');
  const actions: AlterTableAction[] = [];
  if (!cursor.recovering) {
    do actions.push(parseAction(cursor));
    while (!cursor.recovering && cursor.dialect.family === 'duckdb' && cursor.eat(','));
    // Databricks changes several columns in one list.
    while (!cursor.recovering && actions[actions.length - 1]?.kind === 'alter-column' && cursor.eat(','))
      actions.push(parseColumnChange(cursor, cursor.start, false));
  }
  return { kind: 'alter-table', start, end: cursor.end, name, ifExists, actions };
}

function parseAction(cursor: Cursor): AlterTableAction {
  const second = cursor.peek(1);
  switch (cursor.word) {
    case 'ADD':
      if (second === 'CONSTRAINT' || second === 'PRIMARY' || second === 'FOREIGN') return parseAddConstraint(cursor);
      if ((second === 'UNIQUE' || second === 'CHECK') && cursor.peek(2) === '(') return parseAddConstraint(cursor);
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
    case 'REPLACE':
      return second === 'COLUMNS' && cursor.peek(2) === '(' ? parseReplaceColumns(cursor) : parseOther(cursor);
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
  // A field of a struct is no column of the table.
  const own = elements.filter(
    (element) => element.kind !== 'column-definition' || element.name.start === element.start,
  );
  return { kind: 'add-elements', start, end: cursor.end, check: null, elements: own };
}

function parseReplaceColumns(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const elements = parseOpenElements(cursor);
  return { kind: 'replace-columns', start, end: cursor.end, elements };
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
      const last = name.parts.length > 1 ? null : (name.parts[0] ?? null);
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
  const old = from.parts[0] ?? cursor.missingIdentifier();
  if (from.parts.length > 1)
    return { kind: 'alter-table-other', start, end: cursor.end, name: 'RENAME COLUMN', table: null, options: none };
  return { kind: 'rename-column', start, end: cursor.end, from: old, to };
}

/** `ALTER [COLUMN] name change` and Hive's `CHANGE [COLUMN] name new-name type`. */
function parseAlterColumn(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  const isChange = cursor.at('CHANGE');
  cursor.advance();
  cursor.eat('COLUMN');
  return parseColumnChange(cursor, start, isChange);
}

/** The change of one column from its name on; what it says beyond type, NULL and default is bounded by its end. */
function parseColumnChange(cursor: Cursor, start: number, isChange: boolean): AlterTableAction {
  const name = parseName(cursor, 'a column name');
  const column = name.parts[name.parts.length - 1] ?? cursor.missingIdentifier();
  const from = cursor.start;
  const draft: Draft = { newName: null, type: null, nullable: null, default: null, dropsDefault: false };
  if (isChange && cursor.atName && cursor.nameAhead(1) && !changeWords.has(cursor.word)) {
    draft.newName = cursor.takeIdentifier();
    draft.type = parseDataType(cursor);
  } else parseClause(cursor, draft);
  // A field of a struct is no column of the table.
  const change: ColumnChange | null =
    cursor.start > from && name.parts.length === 1
      ? { kind: 'column-change', start: from, end: cursor.end, ...draft }
      : null;
  const clauses: OpaqueClause[] = [];
  const rest = cursor.start;
  while (!cursor.atEnd && !cursor.at(';') && !cursor.at(',')) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  if (cursor.end > rest) clauses.push({ kind: 'opaque-clause', start: rest, end: cursor.end, name: 'COLUMN' });
  return { kind: 'alter-column', start, end: cursor.end, column, definition: null, change, clauses };
}

type Draft = { -readonly [Key in Exclude<keyof ColumnChange, keyof NodeBase | 'kind'>]: ColumnChange[Key] };

/** What a change of a column may begin with, other than the new name of CHANGE. */
const changeWords: ReadonlySet<string> = new Set(['TYPE', 'SET', 'DROP', 'COMMENT', 'FIRST', 'AFTER']);

function parseClause(cursor: Cursor, draft: Draft): void {
  const next = cursor.peek(1);
  if (cursor.at('TYPE') || (cursor.at('SET') && (next === 'DATA' || next === 'TYPE'))) {
    cursor.eat('SET');
    cursor.eat('DATA');
    cursor.expect('TYPE');
    draft.type = parseDataType(cursor);
  } else if (cursor.eatSequence('SET', 'NOT', 'NULL')) draft.nullable = false;
  else if (cursor.eatSequence('DROP', 'NOT', 'NULL')) draft.nullable = true;
  else if (cursor.eatSequence('SET', 'DEFAULT')) draft.default = cursor.grammar.operand(cursor);
  else if (cursor.eatSequence('DROP', 'DEFAULT')) draft.dropsDefault = true;
}
