import { type Cursor, deepestNesting, endOfStatement } from './cursor.ts';
import { parseName } from './names.ts';
import { none } from './none.ts';
import { parseOpaque } from './opaque.ts';
import { parseQueryWithTables } from './queries.ts';
import type { Block, Expression, Identifier, If, Option, Statement, StatementBranch } from './tree.ts';
import type { Word } from './vocabulary.ts';

/*
 * SQL scripting of Spark 4 and Databricks: BEGIN … END with its declarations and handlers, IF, CASE, WHILE, LOOP, REPEAT
 * and FOR, each statement with a semicolon behind it. Source: `compoundStatement` in Spark's SqlBaseParser.g4, and
 * Databricks' language manual for cursors, SIGNAL, RESIGNAL and GET DIAGNOSTICS.
 */

/** BEGIN [NOT ATOMIC | ATOMIC] statements END [label]. */
export function parseCompound(cursor: Cursor, label: Identifier | null = null): Statement {
  const start = label?.start ?? cursor.start;
  if (cursor.depth >= deepestNesting) return skipCompound(cursor, start);
  cursor.advance();
  const options: Option[] = [];
  if (cursor.eat('NOT')) cursor.expect('ATOMIC');
  else if (cursor.at('ATOMIC')) {
    const from = cursor.start;
    cursor.advance();
    options.push({ kind: 'option', start: from, end: cursor.end, name: 'ATOMIC', value: null, columns: none });
  }
  const { statements } = parseBody(cursor, atEnd, label, true);
  closeWith(cursor, null, label);
  return { kind: 'block', start, end: cursor.end, statements, options };
}

/**
 * A statement that only a script has, from its first word or label on, without its semicolon; null where the cursor is
 * at another statement.
 */
export function parseScripted(cursor: Cursor): Statement | null {
  const label = parseLabel(cursor);
  const start = label?.start ?? cursor.start;
  if (cursor.depth >= deepestNesting && nesting.has(cursor.word)) return skipCompound(cursor, start);
  switch (cursor.word) {
    case 'BEGIN':
      return parseCompound(cursor, label);
    case 'IF':
      return parseIf(cursor);
    case 'CASE':
      return parseCase(cursor);
    case 'WHILE':
      return parseWhile(cursor, label);
    case 'LOOP':
    case 'REPEAT':
      return parseLoop(cursor, label);
    case 'FOR':
      return parseFor(cursor, label);
    case 'LEAVE':
    case 'ITERATE':
      return parseLeave(cursor);
    case 'SIGNAL':
    case 'RESIGNAL':
      return parseSignal(cursor);
    case 'DECLARE':
      return parseDeclaration(cursor);
    case 'OPEN':
    case 'CLOSE':
    case 'FETCH':
    case 'GET':
      return parseOpaque(cursor);
    default:
      return null;
  }
}

/** `label :` before a block or loop. */
function parseLabel(cursor: Cursor): Identifier | null {
  const isComputed = cursor.at('IDENTIFIER') && cursor.peek(1) === '(';
  if (!cursor.atName) return null;
  if (!isComputed && (cursor.peek(1) !== ':' || !labelled.has(cursor.peek(2)))) return null;
  const label = cursor.takeIdentifier();
  cursor.expect(':');
  return label;
}

const labelled: ReadonlySet<string> = new Set(['BEGIN', 'WHILE', 'LOOP', 'REPEAT', 'FOR']);
const nesting: ReadonlySet<string> = new Set(['BEGIN', 'IF', 'CASE', 'WHILE', 'LOOP', 'REPEAT', 'FOR']);

function atEnd(cursor: Cursor): boolean {
  return cursor.at('END');
}

function atBranchEnd(cursor: Cursor): boolean {
  return cursor.at('END') || cursor.at('ELSE') || cursor.at('ELSEIF');
}

function atCaseEnd(cursor: Cursor): boolean {
  return cursor.at('END') || cursor.at('ELSE') || cursor.at('WHEN');
}

function atUntil(cursor: Cursor): boolean {
  return cursor.at('UNTIL') || cursor.at('END');
}

/** Statements up to a word that ends them; BEGIN … END alone may be without any, and declares variables. */
function parseBody(
  cursor: Cursor,
  ends: (cursor: Cursor) => boolean,
  label: Identifier | null = null,
  isCompound = false,
): Block {
  const start = Math.min(cursor.start, cursor.end);
  const statements: Statement[] = [];
  // What stands in a body is looked at again even when its head is broken.
  cursor.recovering = false;
  if (!isCompound && ends(cursor)) {
    cursor.fail('a statement');
    cursor.recovering = false;
  }
  cursor.depth += 1;
  cursor.scriptDepth += 1;
  cursor.labels.push(label?.name.toLowerCase() ?? '');
  let declares = isCompound;
  while (!cursor.atEnd && !ends(cursor)) {
    const before = cursor.index;
    const isDeclaration = cursor.at('DECLARE');
    if (isDeclaration && !declares) reportLateDeclaration(cursor);
    declares &&= isDeclaration;
    statements.push(cursor.grammar.statement(cursor));
    if (cursor.index === before) break;
  }
  cursor.labels.pop();
  cursor.scriptDepth -= 1;
  cursor.depth -= 1;
  return { kind: 'block', start, end: cursor.end, statements, options: none };
}

function reportLateDeclaration(cursor: Cursor): void {
  cursor.report(
    cursor.start,
    cursor.currentEnd,
    'DECLARE must stand right behind BEGIN, before every other statement of its block.',
  );
  cursor.recovering = false;
}

/** END, the word of what it closes, and its label, which may be written again. */
function closeWith(cursor: Cursor, word: Word | null, label: Identifier | null = null): void {
  if (!cursor.expect('END')) return;
  if (word !== null && !cursor.expect(word)) return;
  if (!cursor.atName) return;
  const { start } = cursor;
  const { name } = cursor.takeIdentifier();
  if (label !== null && name.toLowerCase() === label.name.toLowerCase()) return;
  if (isComputed(name) || (label !== null && isComputed(label.name))) return;
  const expected = label === null ? "';', since no label stands before this block" : `the label ${label.name}`;
  cursor.report(start, cursor.end, `Expected ${expected}, but found '${name}'.`);
  cursor.recovering = false;
}

/** `IDENTIFIER ('…')`. */
function isComputed(name: string): boolean {
  return /^identifier\s*\(/i.test(name);
}

/** LEAVE or ITERATE of a block or loop around it. */
function parseLeave(cursor: Cursor): Statement {
  const { start } = cursor;
  const action = cursor.at('LEAVE') ? 'break' : 'continue';
  cursor.advance();
  const label = cursor.identifier('a label');
  const isKnown = cursor.labels.some((known) => known === label.name.toLowerCase() || isComputed(known));
  if (label.name !== '' && !isKnown && !isComputed(label.name)) {
    cursor.report(label.start, label.end, `No block or loop around this statement has the label ${label.name}.`);
    cursor.recovering = false;
  }
  return { kind: 'loop-control', start, end: cursor.end, action };
}

/** IF condition THEN statements, ELSEIF likewise, ELSE, END IF; each ELSEIF is an IF within the one before. */
function parseIf(cursor: Cursor): If {
  const branches = [parseBranch(cursor)];
  while (cursor.at('ELSEIF')) branches.push(parseBranch(cursor));
  let otherwise: Statement | null = cursor.eat('ELSE') ? parseBody(cursor, atEnd) : null;
  closeWith(cursor, 'IF');
  const { end } = cursor;
  // Whoever walks the tree recurses through the branches: of very many the last ones stand side by side.
  const rest = branches.splice(deepestNesting);
  const [first] = rest;
  if (first !== undefined) {
    const statements = [...rest.map(({ then }) => then), ...(otherwise === null ? [] : [otherwise])];
    otherwise = { kind: 'block', start: first.start, end, statements, options: none };
  }
  for (const branch of branches.splice(1).reverse()) otherwise = { kind: 'if', ...branch, end, otherwise };
  return { kind: 'if', ...(branches[0] as Branch), end, otherwise };
}

type Branch = Pick<If, 'start' | 'condition'> & { readonly then: Block };

/** IF or ELSEIF with its condition and statements. */
function parseBranch(cursor: Cursor): Branch {
  const { start } = cursor;
  cursor.advance();
  const condition = cursor.grammar.condition(cursor);
  expectHead(cursor, 'THEN');
  const then = parseBody(cursor, atBranchEnd);
  return { start, condition, then };
}

/** The word between a condition and its statements; after a mistake in the condition it is looked for. */
function expectHead(cursor: Cursor, word: Word): void {
  if (!cursor.recovering && !cursor.at(word)) cursor.fail(word);
  while (!cursor.atEnd && !cursor.at(word) && !cursor.at(';')) cursor.advance();
  cursor.eat(word);
}

function parseCase(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const operand = cursor.at('WHEN') ? null : cursor.grammar.expression(cursor);
  const branches: StatementBranch[] = [];
  if (!cursor.at('WHEN')) cursor.fail('WHEN');
  while (cursor.at('WHEN')) {
    const from = cursor.start;
    cursor.advance();
    const condition = cursor.grammar.expression(cursor);
    expectHead(cursor, 'THEN');
    const body = parseBody(cursor, atCaseEnd);
    branches.push({ kind: 'statement-branch', start: from, end: cursor.end, condition, body });
  }
  const otherwise = cursor.eat('ELSE') ? parseBody(cursor, atEnd) : null;
  closeWith(cursor, 'CASE');
  return { kind: 'case-statement', start, end: cursor.end, operand, branches, otherwise };
}

function parseWhile(cursor: Cursor, label: Identifier | null): Statement {
  const start = label?.start ?? cursor.start;
  cursor.advance();
  const condition = cursor.grammar.condition(cursor);
  expectHead(cursor, 'DO');
  const body = parseBody(cursor, atEnd, label);
  closeWith(cursor, 'WHILE', label);
  return { kind: 'while', start, end: cursor.end, condition, body };
}

function parseLoop(cursor: Cursor, label: Identifier | null): Statement {
  const start = label?.start ?? cursor.start;
  const form = cursor.at('LOOP') ? 'loop' : 'repeat';
  cursor.advance();
  const body = parseBody(cursor, form === 'loop' ? atEnd : atUntil, label);
  let until: Expression | null = null;
  if (form === 'repeat' && cursor.expect('UNTIL')) until = cursor.grammar.condition(cursor);
  closeWith(cursor, form === 'loop' ? 'LOOP' : 'REPEAT', label);
  return { kind: 'loop', start, end: cursor.end, form, row: null, query: null, body, until };
}

/** FOR [row AS] query DO statements END FOR. */
function parseFor(cursor: Cursor, label: Identifier | null): Statement {
  const start = label?.start ?? cursor.start;
  cursor.advance();
  let row: Identifier | null = null;
  if (cursor.atName && (cursor.peek(1) === 'AS' || cursor.at('IDENTIFIER'))) {
    row = cursor.takeIdentifier();
    cursor.expect('AS');
  }
  cursor.scriptDepth += 1;
  const query = parseQueryWithTables(cursor);
  cursor.scriptDepth -= 1;
  expectHead(cursor, 'DO');
  const body = parseBody(cursor, atEnd, label);
  closeWith(cursor, 'FOR', label);
  return { kind: 'loop', start, end: cursor.end, form: 'for', row, query, body, until: null };
}

/** SIGNAL condition [SET MESSAGE_TEXT = … | MESSAGE_ARGUMENTS = …], and RESIGNAL, which throws again what was caught. */
function parseSignal(cursor: Cursor): Statement {
  const { start } = cursor;
  const again = cursor.at('RESIGNAL');
  cursor.advance();
  const items: Expression[] = [];
  if (!again) {
    if (cursor.eat('SQLSTATE')) {
      cursor.eat('VALUE');
      items.push(cursor.grammar.primary(cursor));
    } else parseName(cursor, 'a condition or SQLSTATE');
    if (cursor.eat('SET')) {
      cursor.identifier('MESSAGE_TEXT or MESSAGE_ARGUMENTS');
      cursor.expect('=');
      items.push(cursor.grammar.expression(cursor));
    }
  }
  return { kind: 'throw', start, end: cursor.end, arguments: items };
}

/** DECLARE of a condition, cursor or handler; null for variables. */
function parseDeclaration(cursor: Cursor): Statement | null {
  const { start } = cursor;
  const next = cursor.peek(1);
  if ((next === 'EXIT' || next === 'CONTINUE') && cursor.peek(2) === 'HANDLER') return parseHandler(cursor);
  const second = cursor.peek(2);
  if (second === 'CONDITION') return parseOpaque(cursor);
  const isCursor =
    second === 'CURSOR' || ((second === 'ASENSITIVE' || second === 'INSENSITIVE') && cursor.nameAhead(3));
  if (!isCursor) return null;
  cursor.advance();
  const name = cursor.takeIdentifier();
  if (!cursor.at('CURSOR')) cursor.advance();
  cursor.expect('CURSOR');
  cursor.expect('FOR');
  const query = cursor.recovering ? null : parseQueryWithTables(cursor);
  if (cursor.eat('FOR')) {
    cursor.expect('READ');
    cursor.expect('ONLY');
  }
  return { kind: 'declare-cursor', start, end: cursor.end, name, query };
}

/** DECLARE EXIT | CONTINUE HANDLER FOR conditions statement. */
function parseHandler(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  const leaves = cursor.at('EXIT');
  cursor.advance();
  cursor.advance();
  cursor.expect('FOR');
  const conditions: string[] = [];
  do {
    const from = cursor.start;
    if (cursor.eat('SQLSTATE')) {
      cursor.eat('VALUE');
      cursor.grammar.primary(cursor);
    } else if (cursor.eat('NOT')) cursor.expect('FOUND');
    else parseName(cursor, 'SQLEXCEPTION, NOT FOUND, SQLSTATE or a condition');
    conditions.push(cursor.slice(from, cursor.end));
  } while (!cursor.recovering && cursor.eat(','));
  // Its semicolon ends the declaration, too.
  const body = cursor.recovering ? null : cursor.grammar.statement(cursor);
  return { kind: 'declare-handler', start, end: cursor.end, leaves, conditions, body };
}

/**
 * After a mistake in a statement of a script: skips to its semicolon, to END on the level of the statement, or to the
 * likely start of another statement.
 */
export function recoverInScript(cursor: Cursor): void {
  let open = 0;
  while (!cursor.atEnd && !cursor.at(';')) {
    if (cursor.at('CASE')) open += 1;
    else if (cursor.at('END')) {
      if (open === 0) return;
      open -= 1;
    }
    cursor.advance();
  }
}

/** Behind a statement of a script its semicolon must stand; where it is missing, the next statement is read all the same. */
export function expectSemicolon(cursor: Cursor): void {
  if (cursor.at(';') || cursor.previousWord === ';') return;
  const isNext = cursor.onNewLine && nextStarts.has(cursor.word);
  cursor.fail(isNext || branchEnds.has(cursor.word) ? "';'" : endOfStatement);
  if (isNext) cursor.recovering = false;
}

const branchEnds: ReadonlySet<string> = new Set(['END', 'ELSE', 'ELSEIF', 'UNTIL']);
/** Words that begin a statement and go on with none where they begin a line. */
const nextStarts: ReadonlySet<string> = new Set([
  'INSERT',
  'UPDATE',
  'DELETE',
  'MERGE',
  'CREATE',
  'ALTER',
  'DROP',
  'DECLARE',
  'BEGIN',
  'WHILE',
  'SIGNAL',
  'LEAVE',
  'ITERATE',
]);

const blockStarts: ReadonlySet<string> = new Set(['IF', 'LOOP', 'WHILE', 'FOR', 'REPEAT']);
const beforeStatement: ReadonlySet<string> = new Set([';', 'THEN', 'ELSE', 'BEGIN', 'DO', 'LOOP', 'REPEAT', ':']);

/** A body nested too deeply to be read: everything up to the matching END. */
export function skipCompound(cursor: Cursor, start = cursor.start): Statement {
  let open = 0;
  while (!cursor.atEnd) {
    const { word } = cursor;
    if (word === 'END') {
      open -= 1;
      cursor.advance();
      if (blockStarts.has(cursor.word) || cursor.at('CASE')) cursor.advance();
      if (open <= 0) break;
      continue;
    }
    if (word === 'BEGIN' || word === 'CASE') open += 1;
    else if (blockStarts.has(word) && beforeStatement.has(cursor.previousWord)) open += 1;
    cursor.advance();
  }
  return { kind: 'opaque', start, end: cursor.end, name: 'BEGIN' };
}
