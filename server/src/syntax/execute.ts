import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { opaqueStatement } from './opaque.ts';
import { tokenKind } from './tokens.ts';
import type { Execute, ExecuteArgument, Expression, Name, OpaqueClause, OpaqueStatement, Variable } from './tree.ts';

/** EXECUTE of a procedure or of a string. */
export function parseExecute(cursor: Cursor): Execute {
  const { start } = cursor;
  if (cursor.at('EXEC') || cursor.at('EXECUTE')) cursor.advance();
  if (cursor.at('(')) return parseExecuteString(cursor, start);
  let result: Variable | null = null;
  if (cursor.kind === tokenKind.variable && cursor.peek(1) === '=' && cursor.end > start) {
    result = takeVariable(cursor);
    cursor.advance();
  }
  let procedure: Name | Variable;
  if (cursor.kind === tokenKind.variable) procedure = takeVariable(cursor);
  else {
    skipDataSource(cursor);
    procedure = parseName(cursor, 'a procedure');
  }
  if (cursor.at(';') && cursor.peekKind(1) === tokenKind.number) {
    cursor.advance();
    cursor.advance();
  }
  const found = cursor.recovering ? none : parseArguments(cursor);
  const clauses = parseClauses(cursor, false);
  return { kind: 'execute', start, end: cursor.end, procedure, result, arguments: found, sql: null, clauses };
}

/** `OPENDATASOURCE ('provider', 'connection') .` before a procedure of another server. */
function skipDataSource(cursor: Cursor): void {
  if (!cursor.at('OPENDATASOURCE') || cursor.peek(1) !== '(') return;
  cursor.advance();
  cursor.skipParentheses();
  cursor.expect('.');
}

function takeVariable(cursor: Cursor): Variable {
  const { start, currentEnd: end, tokenText: name } = cursor;
  cursor.advance();
  return { kind: 'variable', start, end, name };
}

/** `EXEC ( 'text' + @more, argument … ) [AS USER = '…'] [AT server]`. */
function parseExecuteString(cursor: Cursor, start: number): Execute {
  cursor.advance();
  const sql = cursor.grammar.value(cursor);
  requireTexts(cursor, sql);
  const found: ExecuteArgument[] = [];
  while (!cursor.recovering && cursor.eat(',')) found.push(parseArgument(cursor));
  closeParenthesis(cursor);
  const clauses = parseClauses(cursor, true);
  return { kind: 'execute', start, end: cursor.end, procedure: null, result: null, arguments: found, sql, clauses };
}

/** EXECUTE joins strings and variables by `+` and takes no other expression. Texts in double quotes are strings for some sessions. */
function requireTexts(cursor: Cursor, sql: Expression): void {
  const pending = [sql];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.kind === 'binary' && part.operator === '+') pending.push(part.right, part.left);
    else if (!isText(part)) {
      cursor.report(
        part.start,
        part.end,
        'Expected a string or a variable: EXECUTE joins nothing else, so put the whole text into a variable first.',
      );
      return;
    }
  }
}

function isText(part: Expression): boolean {
  switch (part.kind) {
    case 'literal':
      return part.type === 'string' || part.type === 'national';
    case 'column':
      return part.parts.length === 1 && part.parts[0]?.quote === 'double';
    default:
      return part.kind === 'variable' || part.kind === 'error';
  }
}

function parseArguments(cursor: Cursor): readonly ExecuteArgument[] {
  const found: ExecuteArgument[] = [];
  if (!startsArgument(cursor)) return listOf(found);
  do {
    const argument = parseArgument(cursor);
    if (argument.name === null && found.some((earlier) => earlier.name !== null)) {
      cursor.report(argument.start, argument.end, "Expected '@name =': behind a named argument all others are named.");
    }
    found.push(argument);
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(found);
}

function startsArgument(cursor: Cursor): boolean {
  const { kind } = cursor;
  if (kind === tokenKind.word) return cursor.peek(1) !== ':' && !(cursor.at('THROW') && cursor.onNewLine);
  return (
    (kind >= tokenKind.bracketed && kind <= tokenKind.variable) ||
    cursor.at('-') ||
    cursor.at('+') ||
    cursor.at('NULL') ||
    cursor.at('DEFAULT')
  );
}

function parseArgument(cursor: Cursor): ExecuteArgument {
  const { start } = cursor;
  let name: Variable | null = null;
  if (cursor.kind === tokenKind.variable && cursor.peek(1) === '=') {
    name = takeVariable(cursor);
    cursor.advance();
  }
  const value = parseArgumentValue(cursor);
  const output = cursor.eatAny('OUT', 'OUTPUT') !== null;
  return { kind: 'execute-argument', start, end: cursor.end, name, value, output };
}

/** A constant, a variable, DEFAULT or a bare word, which counts as a string. No expressions. */
function parseArgumentValue(cursor: Cursor): Expression {
  const { start } = cursor;
  if (cursor.at('-') || cursor.at('+')) {
    const operator = cursor.word;
    cursor.advance();
    if (cursor.kind !== tokenKind.number && cursor.kind !== tokenKind.money) cursor.fail('a number');
    const operand = cursor.recovering
      ? { kind: 'error' as const, start: cursor.end, end: cursor.end }
      : takeLiteral(cursor);
    return { kind: 'unary', start, end: cursor.end, operator, operand };
  }
  const { kind } = cursor;
  if (cursor.at('DEFAULT')) {
    cursor.advance();
    return { kind: 'default', start, end: cursor.end };
  }
  if (kind === tokenKind.variable) return takeVariable(cursor);
  if (cursor.atName) {
    const parts = [cursor.takeIdentifier()];
    return { kind: 'column', start, end: cursor.end, parts };
  }
  return takeLiteral(cursor);
}

function takeLiteral(cursor: Cursor): Expression {
  const literalKinds: readonly number[] = [
    tokenKind.string,
    tokenKind.nationalString,
    tokenKind.number,
    tokenKind.money,
    tokenKind.binary,
  ];
  if (literalKinds.includes(cursor.kind) || cursor.at('NULL')) return cursor.grammar.primary(cursor);
  cursor.fail('a constant or a variable');
  return { kind: 'error', start: cursor.end, end: cursor.end };
}

/** WITH RECOMPILE, WITH RESULT SETS …, AS USER = '…', AT server. */
function parseClauses(cursor: Cursor, ofString: boolean): readonly OpaqueClause[] {
  const clauses: OpaqueClause[] = [];
  for (;;) {
    const { start } = cursor;
    if (cursor.at('WITH') && (cursor.peek(1) === 'RECOMPILE' || cursor.peek(1) === 'RESULT')) {
      cursor.advance();
      do parseExecuteOption(cursor);
      while (!cursor.recovering && cursor.eat(','));
      clauses.push({ kind: 'opaque-clause', start, end: cursor.end, name: 'WITH' });
    } else if (ofString && cursor.at('AS') && (cursor.peek(1) === 'USER' || cursor.peek(1) === 'LOGIN')) {
      cursor.advance();
      cursor.advance();
      cursor.expect('=');
      cursor.grammar.operand(cursor);
      clauses.push({ kind: 'opaque-clause', start, end: cursor.end, name: 'AS' });
    } else if (cursor.at('AT') && (cursor.nameAhead(1) || cursor.peek(1) === 'DATA_SOURCE')) {
      cursor.advance();
      if (cursor.at('DATA_SOURCE') && cursor.nameAhead(1)) cursor.advance();
      cursor.identifier('a linked server');
      clauses.push({ kind: 'opaque-clause', start, end: cursor.end, name: 'AT' });
    } else return clauses;
  }
}

/** RECOMPILE or RESULT SETS with their columns. */
function parseExecuteOption(cursor: Cursor): void {
  if (cursor.eat('RECOMPILE')) return;
  if (!cursor.eat('RESULT')) {
    cursor.fail('RECOMPILE or RESULT SETS');
    return;
  }
  cursor.expect('SETS');
  if (cursor.at('(')) cursor.skipParentheses();
  else if (cursor.eatAny('NONE', 'UNDEFINED') === null) cursor.fail("'(', NONE or UNDEFINED");
}

/** EXECUTE AS CALLER | LOGIN = '…' | USER = '…' [WITH NO REVERT | COOKIE INTO @c]. */
export function parseExecuteAs(cursor: Cursor): OpaqueStatement {
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const subject = cursor.eatAny('CALLER', 'LOGIN', 'USER', 'OWNER', 'SELF');
  if (subject === null) cursor.fail('CALLER, LOGIN or USER');
  else if (cursor.eat('=')) cursor.grammar.operand(cursor);
  if (cursor.eat('WITH')) {
    if (cursor.eat('NO')) cursor.expect('REVERT');
    else {
      cursor.expect('COOKIE');
      cursor.expect('INTO');
      cursor.grammar.operand(cursor);
    }
  }
  return opaqueStatement(cursor, start, 'EXECUTE AS');
}
