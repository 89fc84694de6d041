import { parseColumnDefinition, parseTableElement } from './columns.ts';
import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseName } from './names.ts';
import { none } from './none.ts';
import { parseAnyOptions } from './options.ts';
import type {
  AlterTable,
  AlterTableAction,
  ColumnDefinition,
  DroppedElement,
  Identifier,
  Name,
  OpaqueClause,
  Option,
  TableElement,
} from './tree.ts';

/** T-SQL's ALTER TABLE from the name on; `start` is the start of ALTER. */
export function parseAlterTable(cursor: Cursor, start: number): AlterTable {
  const name = parseName(cursor, 'the name of a table');
  const action = cursor.recovering ? null : parseAction(cursor);
  return {
    kind: 'alter-table',
    start,
    end: cursor.end,
    name,
    ifExists: false,
    actions: action === null ? [] : [action],
  };
}

function parseAction(cursor: Cursor): AlterTableAction | null {
  const { start } = cursor;
  let check: boolean | null = null;
  if (cursor.at('WITH') && (cursor.peek(1) === 'CHECK' || cursor.peek(1) === 'NOCHECK')) {
    cursor.advance();
    check = cursor.at('CHECK');
    cursor.advance();
  }
  switch (cursor.word) {
    case 'ADD':
      return parseAdd(cursor, start, check);
    case 'CHECK':
    case 'NOCHECK':
      return parseCheck(cursor, start);
    default:
  }
  if (check !== null) {
    cursor.fail('ADD or CHECK CONSTRAINT');
    return null;
  }
  switch (cursor.word) {
    case 'ALTER':
      if (cursor.peek(1) === 'COLUMN') return parseAlterColumn(cursor);
      if (cursor.peek(1) === 'INDEX') return parseAlterIndexOfTable(cursor);
      cursor.advance();
      cursor.fail('COLUMN or INDEX');
      return null;
    case 'DROP':
      return parseDrop(cursor);
    case 'SET': {
      cursor.advance();
      const options = cursor.at('(') ? parseAnyOptions(cursor) : none;
      if (options.length === 0) cursor.fail("'('");
      return other(cursor, start, 'SET', null, options);
    }
    case 'REBUILD':
      return parseRebuild(cursor);
    case 'SWITCH':
      return parseSwitch(cursor);
    case 'ENABLE':
    case 'DISABLE':
      return parseEnable(cursor);
    case 'SPLIT':
    case 'MERGE':
      return parseRange(cursor);
    default:
      cursor.fail('ADD, ALTER COLUMN, DROP, SET, REBUILD, SWITCH or CHECK CONSTRAINT');
      return null;
  }
}

function other(
  cursor: Cursor,
  start: number,
  name: string,
  table: Name | null,
  options: readonly Option[],
): AlterTableAction {
  return { kind: 'alter-table-other', start, end: cursor.end, name, table, options };
}

function parseAdd(cursor: Cursor, start: number, check: boolean | null): AlterTableAction {
  cursor.advance();
  const elements: TableElement[] = [];
  do elements.push(parseTableElement(cursor));
  while (!cursor.recovering && cursor.eat(','));
  return { kind: 'add-elements', start, end: cursor.end, check, elements };
}

/** CHECK CONSTRAINT and NOCHECK CONSTRAINT: ALL or names. */
function parseCheck(cursor: Cursor, start: number): AlterTableAction {
  const name = `${cursor.word} CONSTRAINT`;
  cursor.advance();
  cursor.expect('CONSTRAINT');
  if (!cursor.eat('ALL')) parseNames(cursor, 'ALL or the name of a constraint');
  return other(cursor, start, name, null, []);
}

function parseNames(cursor: Cursor, expected: string): void {
  do cursor.identifier(expected);
  while (!cursor.recovering && cursor.eat(','));
}

function parseAlterColumn(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const clauses: OpaqueClause[] = [];
  if ((cursor.peek(1) === 'ADD' || cursor.peek(1) === 'DROP') && cursor.atName) {
    const column = cursor.takeIdentifier();
    const from = cursor.start;
    const name = cursor.word;
    cursor.advance();
    parseColumnProperty(cursor);
    clauses.push({ kind: 'opaque-clause', start: from, end: cursor.end, name });
    parseOnline(cursor, clauses);
    return { kind: 'alter-column', start, end: cursor.end, column, definition: null, change: null, clauses };
  }
  const definition = parseColumnDefinition(cursor);
  refuseAdditions(cursor, definition);
  parseOnline(cursor, clauses);
  return { kind: 'alter-column', start, end: cursor.end, column: definition.name, definition, change: null, clauses };
}

/** What only ADD gives to a column. */
function refuseAdditions(cursor: Cursor, { identity, constraints, computed }: ColumnDefinition): void {
  const addition = constraints[0] ?? identity ?? computed;
  if (addition === null) return;
  cursor.report(
    addition.start,
    addition.end,
    'Expected NULL, NOT NULL or the end of the statement: ALTER COLUMN changes the type, the collation and NULL alone.',
  );
}

function parseColumnProperty(cursor: Cursor): void {
  if (cursor.eatSequence('NOT', 'FOR', 'REPLICATION')) return;
  if (cursor.eatAny('ROWGUIDCOL', 'PERSISTED', 'SPARSE', 'HIDDEN') !== null) return;
  if (cursor.eat('MASKED')) {
    if (cursor.at('WITH')) {
      cursor.advance();
      if (cursor.at('(')) cursor.skipParentheses();
      else cursor.fail("'('");
    }
    return;
  }
  cursor.fail('ROWGUIDCOL, PERSISTED, NOT FOR REPLICATION, SPARSE, HIDDEN or MASKED');
}

function parseOnline(cursor: Cursor, clauses: OpaqueClause[]): void {
  if (!cursor.at('WITH') || cursor.peek(1) !== '(') return;
  const { start } = cursor;
  cursor.advance();
  parseAnyOptions(cursor);
  clauses.push({ kind: 'opaque-clause', start, end: cursor.end, name: 'WITH' });
}

function parseDrop(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  const items: DroppedElement[] = [];
  // The kind holds for the items behind it until another is written.
  let type: DroppedElement['type'] = 'constraint';
  do {
    const from = cursor.start;
    if (cursor.at('PERIOD') && cursor.peek(1) === 'FOR') {
      cursor.advance();
      cursor.advance();
      cursor.identifier('SYSTEM_TIME');
      items.push({ kind: 'dropped-element', start: from, end: cursor.end, type: 'period', name: null });
      continue;
    }
    if (cursor.eat('COLUMN')) type = 'column';
    else if (cursor.eat('CONSTRAINT')) type = 'constraint';
    else if (cursor.eat('INDEX')) type = 'index';
    cursor.eatSequence('IF', 'EXISTS');
    const name = cursor.identifier('the name of a column or constraint');
    if (cursor.at('WITH') && cursor.peek(1) === '(') {
      cursor.advance();
      parseAnyOptions(cursor);
    }
    items.push({ kind: 'dropped-element', start: from, end: cursor.end, type, name });
  } while (!cursor.recovering && cursor.eat(','));
  return { kind: 'drop-elements', start, end: cursor.end, items };
}

function parseRebuild(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  let options: readonly Option[] = none;
  cursor.advance();
  if (cursor.eat('PARTITION')) {
    cursor.expect('=');
    if (!cursor.eat('ALL')) cursor.grammar.operand(cursor);
  }
  if (cursor.at('WITH')) {
    cursor.advance();
    if (cursor.at('(')) options = parseAnyOptions(cursor);
    else cursor.fail("'('");
  }
  return other(cursor, start, 'REBUILD', null, options);
}

function parseSwitch(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  if (cursor.eat('PARTITION')) cursor.grammar.operand(cursor);
  cursor.expect('TO');
  const table = parseName(cursor, 'a table');
  if (cursor.eat('PARTITION')) cursor.grammar.operand(cursor);
  let options: readonly Option[] = none;
  if (cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    options = parseAnyOptions(cursor);
  }
  return other(cursor, start, 'SWITCH', table, options);
}

function parseEnable(cursor: Cursor): AlterTableAction {
  const { start, word } = cursor;
  cursor.advance();
  if (cursor.eat('TRIGGER')) {
    if (!cursor.eat('ALL')) parseNames(cursor, 'ALL or the name of a trigger');
    return other(cursor, start, `${word} TRIGGER`, null, []);
  }
  if (!/^(?:change_tracking|filetable_namespace)$/i.test(cursor.tokenText)) {
    cursor.fail('TRIGGER, CHANGE_TRACKING or FILETABLE_NAMESPACE');
    return other(cursor, start, word, null, none);
  }
  const subject: Identifier = cursor.takeIdentifier();
  if (cursor.at('WITH')) {
    cursor.advance();
    if (cursor.at('(')) parseAnyOptions(cursor);
    else cursor.fail("'('");
  }
  return other(cursor, start, `${word} ${subject.name.toUpperCase()}`, null, []);
}

/** SPLIT RANGE and MERGE RANGE of a Synapse table's partitions. */
function parseRange(cursor: Cursor): AlterTableAction {
  const { start, word } = cursor;
  cursor.advance();
  cursor.expect('RANGE');
  if (cursor.expect('(')) {
    cursor.grammar.value(cursor);
    closeParenthesis(cursor);
  }
  return other(cursor, start, `${word} RANGE`, null, []);
}

/** ALTER INDEX of a memory-optimised table, which gets another count of buckets. */
function parseAlterIndexOfTable(cursor: Cursor): AlterTableAction {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  cursor.identifier('the name of an index');
  cursor.expect('REBUILD');
  let options: readonly Option[] = none;
  if (cursor.eat('WITH')) {
    if (cursor.at('(')) options = parseAnyOptions(cursor);
    else cursor.fail("'('");
  }
  return other(cursor, start, 'ALTER INDEX', null, options);
}
