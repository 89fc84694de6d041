import type { Cursor } from './cursor.ts';
import { closeParenthesis, namePart, parseIdentifierList } from './names.ts';
import { listOf } from './none.ts';
import { parsePostfix } from './postfix.ts';
import { parseInsertValue } from './queries.ts';
import { resumeAt } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import type { Assignment, ColumnReference, Expression, Identifier, Variable } from './tree.ts';

const assignmentOperators: ReadonlySet<string> = new Set([
  '=',
  '+=',
  '-=',
  '*=',
  '/=',
  '%=',
  '&=',
  '|=',
  '^=',
  '||=',
  '==',
]);

/** The comma-separated items of SET. */
export function parseAssignments(cursor: Cursor): readonly Assignment[] {
  const assignments: Assignment[] = [];
  do {
    assignments.push(parseAssignment(cursor));
    resumeAt(cursor, 'FROM', 'WHERE', 'OUTPUT', 'WHEN');
    // `SET a = , b = 1` lacks a value; `SET a =, b` has a comma too much.
    if (cursor.peek(2) === '=' || (cursor.peek(2) === '.' && cursor.peek(4) === '=')) resumeAt(cursor, ',');
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(assignments);
}

function parseAssignment(cursor: Cursor): Assignment {
  const { start } = cursor;
  let variable: Variable | null = null;
  let operator = '';
  if (cursor.kind === tokenKind.variable && cursor.dialect.family === 'tsql') {
    variable = { kind: 'variable', start, end: cursor.currentEnd, name: cursor.tokenText };
    cursor.advance();
    operator = takeOperator(cursor);
    const isColumn = operator === '=' && cursor.atName && isColumnAssignment(cursor);
    if (!isColumn) {
      const value = cursor.grammar.value(cursor);
      return { kind: 'assignment', start, end: cursor.end, column: null, variable, operator, value };
    }
  }
  if (cursor.at('(') && cursor.dialect.family !== 'tsql') return parseTupleAssignment(cursor, start);
  const column = parseTargetColumn(cursor);
  if (cursor.at('(') && column.parts.length > 1) return parseMutator(cursor, column, start);
  operator = takeOperator(cursor);
  const value = parseInsertValue(cursor);
  return { kind: 'assignment', start, end: cursor.end, column, variable, operator, value };
}

/** `@v = column = value`: a name, maybe with dots, and another operator. */
function isColumnAssignment(cursor: Cursor): boolean {
  let distance = 1;
  while (cursor.peek(distance) === '.') distance += 2;
  return assignmentOperators.has(cursor.peek(distance));
}

function takeOperator(cursor: Cursor): string {
  const { word } = cursor;
  if (assignmentOperators.has(word)) {
    cursor.advance();
    return word;
  }
  cursor.fail("'='");
  return '=';
}

function parseTargetColumn(cursor: Cursor): ColumnReference {
  const { start } = cursor;
  const parts: (Identifier | null)[] = [];
  if (cursor.at('IDENTITYCOL') || cursor.at('ROWGUIDCOL')) parts.push(cursor.takeIdentifier());
  else if (cursor.at('.') && cursor.dialect.family === 'tsql') parts.push(null);
  else parts.push(cursor.identifier('a column to set'));
  while (cursor.at('.') && !cursor.recovering) {
    cursor.advance();
    parts.push(cursor.at('.') && cursor.dialect.family === 'tsql' ? null : namePart(cursor));
  }
  return { kind: 'column', start, end: cursor.end, parts: listOf(parts) };
}

/** `column.WRITE (…)`, `column.SetXY (…)`, `column.modify (…)`. */
function parseMutator(cursor: Cursor, column: ColumnReference, start: number): Assignment {
  const method = column.parts[column.parts.length - 1] ?? cursor.missingIdentifier();
  const parts = column.parts.slice(0, -1);
  const end = parts.findLast((part) => part !== null)?.end ?? column.start;
  const object: ColumnReference = { kind: 'column', start: column.start, end, parts };
  cursor.advance();
  const items: Expression[] = [];
  if (!cursor.at(')')) {
    do items.push(cursor.grammar.value(cursor));
    while (!cursor.recovering && cursor.eat(','));
  }
  closeParenthesis(cursor);
  const call: Expression = {
    kind: 'member',
    start: object.start,
    end: cursor.end,
    object,
    member: method,
    arguments: items,
  };
  return {
    kind: 'assignment',
    start,
    end: cursor.end,
    column: object,
    variable: null,
    operator: 'call',
    value: parsePostfix(cursor, call),
  };
}

/** `(a, b) = (1, 2)` of DuckDB: one assignment of its first column, with the tuple as value. */
function parseTupleAssignment(cursor: Cursor, start: number): Assignment {
  const names = parseIdentifierList(cursor);
  const operator = takeOperator(cursor);
  const value = cursor.grammar.value(cursor);
  const column: ColumnReference = {
    kind: 'column',
    start,
    end: names[names.length - 1]?.end ?? start,
    parts: names.slice(0, 1),
  };
  return { kind: 'assignment', start, end: cursor.end, column, variable: null, operator, value };
}
