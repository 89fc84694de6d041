import { type Cursor, deepestNesting } from './cursor.ts';
import { closeParenthesis } from './names.ts';
import { none } from './none.ts';
import { parseOpaque } from './opaque.ts';
import { parseAnyOptions } from './options.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Option, Statement, Transaction } from './tree.ts';

/** IF condition statement [ELSE statement]. */
export function parseIf(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const condition = cursor.grammar.condition(cursor);
  const then = parseBranch(cursor);
  let otherwise: Statement | null = null;
  passSemicolons(cursor);
  if (cursor.eat('ELSE')) otherwise = parseBranch(cursor);
  return { kind: 'if', start, end: cursor.end, condition, then, otherwise };
}

/** Semicolons between the first branch and ELSE belong to no statement. */
function passSemicolons(cursor: Cursor): void {
  let count = 0;
  while (cursor.peek(count) === ';') count += 1;
  if (cursor.peek(count) === 'ELSE') for (; count > 0; count -= 1) cursor.advance();
}

/** The one statement of IF, ELSE or WHILE. After a mistake in the condition it is looked for where a line begins. */
function parseBranch(cursor: Cursor): Statement {
  if (cursor.at(';')) cursor.fail('a statement');
  if (cursor.depth >= deepestNesting) return parseOpaque(cursor);
  cursor.depth += 1;
  const statement = cursor.grammar.statement(cursor);
  cursor.depth -= 1;
  return statement;
}

export function parseWhile(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const condition = cursor.grammar.condition(cursor);
  const body = parseBranch(cursor);
  return { kind: 'while', start, end: cursor.end, condition, body };
}

/** Everything that begins with BEGIN. */
export function parseBegin(cursor: Cursor): Statement {
  const { start } = cursor;
  if (cursor.depth >= deepestNesting) return skipBlock(cursor);
  const next = cursor.peek(1);
  if (next === 'TRAN' || next === 'TRANSACTION' || next === 'DISTRIBUTED') return parseTransaction(cursor);
  if (next === 'DIALOG' || next === 'CONVERSATION') return parseOpaque(cursor);
  cursor.depth += 1;
  const statement = next === 'TRY' ? parseTry(cursor) : parseBlock(cursor, start);
  cursor.depth -= 1;
  return statement;
}

function parseBlock(cursor: Cursor, start: number): Statement {
  cursor.advance();
  // A CATCH without its TRY is one mistake, made here or before: its block is read all the same.
  const stray = cursor.at('CATCH');
  if (stray) {
    if (cursor.problems.length === 0) cursor.fail('a statement');
    cursor.recovering = false;
    cursor.advance();
  }
  let options: readonly Option[] = none;
  if (cursor.at('ATOMIC') && cursor.peek(1) === 'WITH') {
    cursor.advance();
    cursor.advance();
    if (cursor.at('(')) options = parseAtomicOptions(cursor);
    else cursor.fail("'('");
  }
  const problemsBefore = cursor.problems.length;
  const statements = cursor.grammar.statements(cursor);
  if (statements.every((statement) => statement.kind === 'empty') && !cursor.recovering) cursor.fail('a statement');
  if (!cursor.eat('END')) {
    if (cursor.problems.length > problemsBefore) cursor.recovering = true;
    cursor.fail('END');
  } else if (stray) cursor.eat('CATCH');
  return { kind: 'block', start, end: cursor.end, statements, options };
}

/** `(TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'…')`. */
function parseAtomicOptions(cursor: Cursor): readonly Option[] {
  const { start } = cursor;
  cursor.skipParentheses();
  return [
    { kind: 'option', start, end: cursor.end, name: 'ATOMIC', value: cursor.slice(start, cursor.end), columns: none },
  ];
}

/** A block nested too deeply to be read: everything up to its END. */
function skipBlock(cursor: Cursor): Statement {
  const { start } = cursor;
  let open = 0;
  while (!cursor.atEnd) {
    const opens = cursor.at('CASE') || (cursor.at('BEGIN') && !/^TRAN|^DIALOG|^CONV|^DISTR/.test(cursor.peek(1)));
    if (opens) open += 1;
    else if (cursor.at('END')) open -= 1;
    cursor.advance();
    if (open === 0) break;
  }
  return { kind: 'opaque', start, end: cursor.end, name: 'BEGIN' };
}

function parseTry(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  cursor.eat(';');
  const problemsBefore = cursor.problems.length;
  const tried = cursor.grammar.statements(cursor);
  if (tried.length === 0) cursor.fail('a statement');
  closeTry(cursor, 'TRY', problemsBefore);
  let caught: readonly Statement[] = none;
  if (cursor.at('BEGIN') && cursor.peek(1) === 'CATCH') {
    cursor.advance();
    cursor.advance();
    cursor.eat(';');
    caught = cursor.grammar.statements(cursor);
    closeTry(cursor, 'CATCH', problemsBefore);
  } else cursor.fail('BEGIN CATCH');
  return { kind: 'try-catch', start, end: cursor.end, try: tried, catch: caught };
}

function closeTry(cursor: Cursor, word: 'TRY' | 'CATCH', problemsBefore: number): void {
  if (!cursor.eat('END')) {
    if (cursor.problems.length > problemsBefore) cursor.recovering = true;
    cursor.fail(`END ${word}`);
    return;
  }
  cursor.recovering = false;
  cursor.expect(word);
}

const transactionActions: Readonly<Record<string, Transaction['action']>> = {
  BEGIN: 'begin',
  COMMIT: 'commit',
  ROLLBACK: 'rollback',
  SAVE: 'save',
};

/** BEGIN, COMMIT, ROLLBACK or SAVE TRANSACTION with an optional name. */
export function parseTransaction(cursor: Cursor): Statement {
  const { start } = cursor;
  const action = transactionActions[cursor.word] ?? 'begin';
  cursor.advance();
  if (action === 'begin') cursor.eat('DISTRIBUTED');
  let name: string | null = null;
  const hasWord = cursor.eatAny('TRAN', 'TRANSACTION') !== null;
  if (!hasWord) {
    if (action === 'commit' || action === 'rollback') cursor.eat('WORK');
    else cursor.fail('TRANSACTION');
  }
  const isName = (cursor.atName && cursor.peek(1) !== ':') || cursor.kind === tokenKind.variable;
  if (hasWord && isName && !startsOther(cursor)) {
    name = cursor.tokenText;
    cursor.advance();
  } else if (action === 'save') cursor.fail('a name');
  if (cursor.at('WITH') && cursor.peek(1) === 'MARK') {
    cursor.advance();
    cursor.advance();
    if (
      cursor.kind === tokenKind.string ||
      cursor.kind === tokenKind.nationalString ||
      cursor.kind === tokenKind.variable
    )
      cursor.advance();
  }
  if (cursor.at('WITH') && cursor.peek(1) === '(') {
    cursor.advance();
    parseAnyOptions(cursor);
  }
  return { kind: 'transaction', start, end: cursor.end, action, name };
}

/** A word that begins the next statement rather than naming the transaction. */
function startsOther(cursor: Cursor): boolean {
  return cursor.at('THROW') && (cursor.onNewLine || cursor.peekKind(1) === tokenKind.number);
}

/** THROW, alone or with number, message and state. */
export function parseThrow(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const items: Expression[] = [];
  if (cursor.kind === tokenKind.number || cursor.kind === tokenKind.variable) {
    items.push(parseConstant(cursor));
    cursor.expect(',');
    items.push(parseConstant(cursor));
    cursor.expect(',');
    items.push(parseConstant(cursor));
  }
  return { kind: 'throw', start, end: cursor.end, arguments: items };
}

/** A constant or a variable, no expression. */
function parseConstant(cursor: Cursor): Expression {
  const { start } = cursor;
  if (cursor.at('-')) {
    cursor.advance();
    const operand = parseConstant(cursor);
    return { kind: 'unary', start, end: cursor.end, operator: '-', operand };
  }
  if (
    (cursor.kind >= tokenKind.string && cursor.kind <= tokenKind.variable) ||
    cursor.kind === tokenKind.doubleQuoted ||
    cursor.at('NULL')
  )
    return cursor.grammar.primary(cursor);
  cursor.fail('a constant or a variable');
  return { kind: 'error', start: cursor.end, end: cursor.end };
}

/** RAISERROR (message, severity, state, …) [WITH option]. */
export function parseRaiseError(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const items: Expression[] = [];
  const options: string[] = [];
  if (cursor.eat('(')) {
    do items.push(parseConstant(cursor));
    while (!cursor.recovering && cursor.eat(','));
    closeParenthesis(cursor);
    if (items.length < 3) cursor.report(start, cursor.end, 'Expected message, severity and state in RAISERROR.');
  } else {
    cursor.fail("'('");
  }
  if (cursor.at('WITH') && ['NOWAIT', 'LOG', 'SETERROR'].includes(cursor.peek(1))) {
    cursor.advance();
    do {
      const option = cursor.eatAny('NOWAIT', 'LOG', 'SETERROR');
      if (option === null) cursor.fail('NOWAIT, LOG or SETERROR');
      else options.push(option);
    } while (!cursor.recovering && cursor.eat(','));
  }
  return { kind: 'raiserror', start, end: cursor.end, arguments: items, options };
}

export function parsePrint(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const value = cursor.grammar.value(cursor);
  return { kind: 'print', start, end: cursor.end, value };
}

/** RETURN with an optional value; a query in parentheses belongs to inline functions and is read as a value. */
export function parseReturn(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const value = startsValue(cursor) ? cursor.grammar.value(cursor) : null;
  return { kind: 'return', start, end: cursor.end, value };
}

function startsValue(cursor: Cursor): boolean {
  if (cursor.atEnd) return false;
  if (cursor.kind === tokenKind.reserved) return valueWords.has(cursor.word);
  if (cursor.kind === tokenKind.word && cursor.peek(1) === ':') return false;
  return !cursor.at(';') && !cursor.at(')');
}

const valueWords: ReadonlySet<string> = new Set([
  'CASE',
  'CONVERT',
  'TRY_CONVERT',
  'COALESCE',
  'NULLIF',
  'LEFT',
  'RIGHT',
  'NULL',
  'CURRENT_TIMESTAMP',
  'CURRENT_DATE',
  'CURRENT_USER',
  'SESSION_USER',
  'SYSTEM_USER',
  'USER',
]);
