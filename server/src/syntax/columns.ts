import { atConstraint, parseColumnConstraint, parseInlineIndex, parseTableConstraint } from './constraints.ts';
import type { Cursor } from './cursor.ts';
import { closeParenthesis } from './names.ts';
import { listOf, none } from './none.ts';
import { recoverElement } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import type { ColumnDefinition, GeneratedKind, Identifier, IdentityClause, TableElement } from './tree.ts';
import { parseDataType } from './types.ts';

/**
 * `( column …, constraint …, index … )`; the current token is the opening parenthesis. A mistake in one element leaves
 * the others understood. CREATE TABLE takes a comma behind the
 * last one, and columns without types, which CREATE TABLE … AS SELECT has.
 */
export function parseTableElements(cursor: Cursor, ofCreateTable = false): readonly TableElement[] {
  if (!cursor.expect('(')) return none;
  const elements: TableElement[] = [];
  let afterMistake = false;
  // A mistake next to the comma: what looks wrong right behind it is its other half, as after `a , int NOT NULL`.
  let besideComma = false;
  for (;;) {
    if (cursor.at(')') && elements.length > 0 && ofCreateTable) break;
    const problemsBefore = cursor.problems.length;
    // What follows a mistake and begins no element belongs to the mistake.
    if (afterMistake && !cursor.atName && !atConstraint(cursor) && !cursor.at('INDEX')) cursor.recovering = true;
    else elements.push(parseTableElement(cursor, ofCreateTable));
    if (!cursor.at(',') && !cursor.at(')')) {
      cursor.fail("',' or ')'");
    }
    if (besideComma) cursor.problems.length = problemsBefore;
    afterMistake = cursor.recovering;
    const { index } = cursor;
    if (cursor.recovering && !recoverElement(cursor)) return listOf(elements);
    besideComma = afterMistake && cursor.index - index <= 1;
    if (!cursor.eat(',')) break;
  }
  closeParenthesis(cursor);
  return listOf(elements);
}

export function parseTableElement(cursor: Cursor, typeMayLack = false): TableElement {
  if (atConstraint(cursor)) return parseTableConstraint(cursor);
  if (cursor.at('INDEX')) return parseInlineIndex(cursor, true);
  return parseColumnDefinition(cursor, typeMayLack);
}

/** A column while its properties are gathered. */
type Draft = { -readonly [Key in keyof ColumnDefinition]: ColumnDefinition[Key] };

function newDraft(start: number, name: Identifier): Draft {
  return {
    kind: 'column-definition',
    start,
    end: start,
    name,
    type: null,
    computed: null,
    comment: null,
    persisted: false,
    nullable: null,
    identity: null,
    collation: null,
    default: null,
    generated: null,
    hidden: false,
    sparse: false,
    rowGuid: false,
    index: null,
    constraints: none,
    clauses: none,
  };
}

/** A column with its type or expression and its properties in any order. */
export function parseColumnDefinition(cursor: Cursor, typeMayLack = false): ColumnDefinition {
  const { start } = cursor;
  const name = cursor.identifier('a column name or constraint');
  const column = newDraft(start, name);
  if (!cursor.recovering) parseTypeAndProperties(cursor, column, typeMayLack);
  column.end = cursor.end;
  return column;
}

function parseTypeAndProperties(cursor: Cursor, column: Draft, typeMayLack: boolean): void {
  const { name } = column;
  if (cursor.eat('AS')) {
    column.computed = cursor.grammar.value(cursor);
  } else if (cursor.at(',') || cursor.at(')')) {
    // `timestamp` alone is a column of that name and type; others have no type only in CREATE TABLE … AS SELECT.
    if (/^timestamp$/i.test(name.name)) column.type = timestampType(name);
    else if (!typeMayLack) cursor.fail('a data type');
  } else {
    column.type = parseDataType(cursor);
    // After a lost type the properties are still read: NOT NULL, keys, defaults.
  }
  const isComputed = column.computed !== null;
  while (!cursor.at(',') && !cursor.at(')') && parseProperty(cursor, column, isComputed));
}

function timestampType(name: Identifier): ColumnDefinition['type'] {
  const { start, end } = name;
  const typeName = { kind: 'name' as const, start, end, parts: [name] };
  return {
    kind: 'data-type',
    start,
    end,
    name: typeName,
    arguments: none,
    elements: none,
    fields: none,
    text: 'timestamp',
  };
}

/** Reads one property; false where none begins. */
function parseProperty(cursor: Cursor, draft: Draft, isComputed: boolean): boolean {
  const { start } = cursor;
  switch (cursor.word) {
    case 'NULL':
      if (isComputed) return false;
      cursor.advance();
      draft.nullable = true;
      return true;
    case 'NOT':
      if (cursor.peek(1) === 'FOR') {
        cursor.advance();
        cursor.advance();
        cursor.expect('REPLICATION');
        return true;
      }
      if (isComputed && !draft.persisted) return false;
      cursor.advance();
      cursor.expect('NULL');
      draft.nullable = false;
      return true;
    case 'IDENTITY':
      if (draft.identity !== null) return false;
      draft.identity = parseIdentity(cursor);
      return true;
    case 'COLLATE':
      if (draft.collation !== null) return false;
      cursor.advance();
      draft.collation = cursor.identifier('a collation');
      return true;
    case 'PERSISTED':
      if (!isComputed || draft.persisted) return false;
      cursor.advance();
      draft.persisted = true;
      return true;
    case 'SPARSE':
      if (draft.sparse) return false;
      cursor.advance();
      draft.sparse = true;
      return true;
    case 'ROWGUIDCOL':
      if (draft.rowGuid) return false;
      cursor.advance();
      draft.rowGuid = true;
      return true;
    case 'HIDDEN':
      if (draft.hidden) return false;
      cursor.advance();
      draft.hidden = true;
      return true;
    case 'FILESTREAM':
      cursor.advance();
      draft.clauses = [...draft.clauses, { kind: 'opaque-clause', start, end: cursor.end, name: 'FILESTREAM' }];
      return true;
    case 'COLUMN_SET':
      cursor.advance();
      cursor.expect('FOR');
      if (cursor.atName) cursor.advance();
      else cursor.fail('ALL_SPARSE_COLUMNS');
      draft.clauses = [...draft.clauses, { kind: 'opaque-clause', start, end: cursor.end, name: 'COLUMN_SET' }];
      return true;
    case 'MASKED':
    case 'ENCRYPTED': {
      const name = cursor.word;
      cursor.advance();
      cursor.expect('WITH');
      if (cursor.at('(')) parseFunctionOptions(cursor);
      else cursor.fail("'('");
      draft.clauses = [...draft.clauses, { kind: 'opaque-clause', start, end: cursor.end, name }];
      return true;
    }
    case 'GENERATED':
      draft.generated = parseGenerated(cursor);
      return true;
    case 'INDEX':
      draft.index = parseInlineIndex(cursor);
      return true;
    default:
      return parseConstraintProperty(cursor, draft, start, isComputed);
  }
}

function parseConstraintProperty(cursor: Cursor, draft: Draft, start: number, isComputed: boolean): boolean {
  let name: Identifier | null = null;
  if (cursor.at('CONSTRAINT')) {
    cursor.advance();
    name = cursor.identifier('the name of a constraint');
    if (cursor.at('NULL') || cursor.at('NOT')) return !cursor.recovering;
  }
  if (cursor.at('DEFAULT') && draft.constraints.some((constraint) => constraint.type === 'default')) return false;
  if (isComputed && !draft.persisted && (cursor.at('CHECK') || cursor.at('REFERENCES') || cursor.at('FOREIGN')))
    return false;
  if (isComputed && cursor.at('DEFAULT')) return false;
  const constraint = parseColumnConstraint(cursor, start, name);
  if (constraint === null) {
    if (name !== null) cursor.fail('PRIMARY KEY, UNIQUE, REFERENCES, CHECK, DEFAULT or NOT NULL');
    return false;
  }
  draft.constraints = [...draft.constraints, constraint];
  if (constraint.type === 'default') draft.default = constraint.expression;
  return !cursor.recovering;
}

function parseIdentity(cursor: Cursor): IdentityClause {
  const { start } = cursor;
  cursor.advance();
  let seed: string | null = null;
  let increment: string | null = null;
  if (cursor.at('(')) {
    cursor.advance();
    seed = parseSignedNumber(cursor);
    cursor.expect(',');
    increment = parseSignedNumber(cursor);
    closeParenthesis(cursor);
  }
  const notForReplication = cursor.eatSequence('NOT', 'FOR', 'REPLICATION');
  return { kind: 'identity', start, end: cursor.end, seed, increment, notForReplication, always: true };
}

function parseSignedNumber(cursor: Cursor): string {
  const { start } = cursor;
  cursor.eatAny('-', '+');
  if (cursor.kind === tokenKind.number || cursor.tokenText.startsWith('$(')) cursor.advance();
  else cursor.fail('a number');
  return cursor.slice(start, cursor.end);
}

const generatedSubjects: Readonly<Record<string, 'transaction' | 'sequence' | 'user-id' | 'user-name'>> = {
  TRANSACTION_ID: 'transaction',
  SEQUENCE_NUMBER: 'sequence',
  SUSER_SID: 'user-id',
  SUSER_SNAME: 'user-name',
};

function parseGenerated(cursor: Cursor): GeneratedKind {
  cursor.advance();
  cursor.expect('ALWAYS');
  cursor.expect('AS');
  const subject = cursor.eatAny('ROW', 'TRANSACTION_ID', 'SEQUENCE_NUMBER', 'SUSER_SID', 'SUSER_SNAME');
  if (subject === null) cursor.fail('ROW, TRANSACTION_ID or SEQUENCE_NUMBER');
  const isStart = cursor.eat('START');
  if (!isStart) cursor.expect('END');
  return `${generatedSubjects[subject ?? ''] ?? 'row'}-${isStart ? 'start' : 'end'}`;
}

/** `(FUNCTION = '…')`, `(COLUMN_ENCRYPTION_KEY = …, …)`. */
function parseFunctionOptions(cursor: Cursor): void {
  cursor.advance();
  do {
    if (cursor.kind === tokenKind.word || cursor.kind === tokenKind.reserved) cursor.advance();
    else cursor.fail('an option');
    cursor.expect('=');
    if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString || cursor.atName) cursor.advance();
    else cursor.fail('a value');
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}
