import { isCondition } from './conditions.ts';
import { type Cursor, deepestNesting } from './cursor.ts';
import { closeParenthesis, namePart } from './names.ts';
import { listOf } from './none.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Identifier } from './tree.ts';
import { parseDataType } from './types.ts';

/** What may follow a complete operand: COLLATE, AT TIME ZONE, `.member`, `::type`, `[index]`. */
export function parsePostfix(cursor: Cursor, first: Expression): Expression {
  let operand = first;
  if (operand.kind === 'error') return operand;
  for (;;) {
    const start: number = operand.start;
    switch (cursor.word) {
      case 'COLLATE': {
        if (isCondition(operand) && cursor.dialect.family === 'tsql') return operand;
        cursor.advance();
        const collation = cursor.identifier('a collation');
        operand = { kind: 'collate', start, end: cursor.end, operand, collation };
        continue;
      }
      case 'AT': {
        if (cursor.peek(1) !== 'TIME' || cursor.peek(2) !== 'ZONE') return operand;
        cursor.advance();
        cursor.advance();
        cursor.advance();
        const zone = cursor.grammar.primary(cursor);
        operand = { kind: 'at-time-zone', start, end: cursor.end, operand, zone };
        continue;
      }
      case '.': {
        // T-SQL's grammar lets a member of a constant through; that it has none is found later.
        if (cursor.peek(1) === '*' || operand.kind === 'error') return operand;
        const isMethod = cursor.dialect.family === 'duckdb' && cursor.nameAhead(1) && cursor.peek(2) === '(';
        if (operand.kind === 'literal' && cursor.dialect.family !== 'tsql' && !isMethod) return operand;
        cursor.advance();
        const member = namePart(cursor);
        const args = cursor.at('(') ? parseArguments(cursor) : null;
        operand = { kind: 'member', start, end: cursor.end, object: operand, member, arguments: args };
        continue;
      }
      default:
        if (cursor.dialect.family === 'tsql') return operand;
    }
    if (cursor.depth >= deepestNesting) return operand;
    cursor.depth += 1;
    const next = parseOtherPostfix(cursor, operand);
    cursor.depth -= 1;
    if (next === null) return operand;
    operand = next;
  }
}

function parseOtherPostfix(cursor: Cursor, operand: Expression): Expression | null {
  const { start } = operand;
  // Databricks: `a ?:: INT` is NULL where the cast fails.
  if (cursor.kind === tokenKind.variable && cursor.tokenText === '?' && cursor.peek(1) === '::') cursor.advance();
  switch (cursor.word) {
    case '::': {
      cursor.advance();
      const type = parseDataType(cursor);
      return { kind: 'cast', start, end: cursor.end, function: '::', operand, type, style: null };
    }
    case '[': {
      cursor.advance();
      const index = cursor.at(':') || cursor.eat('*') ? null : cursor.grammar.expression(cursor);
      let to: Expression | null = null;
      while (cursor.eat(':')) {
        // A minus alone stands for the end: `[2:-:2]`.
        if (cursor.at('-') && cursor.peek(1) === ':') cursor.advance();
        if (!cursor.at(']') && !cursor.at(':')) to = cursor.grammar.expression(cursor);
      }
      cursor.expect(']');
      return { kind: 'index-access', start, end: cursor.end, operand, index, to };
    }
    case ':': {
      // Databricks: `column:path.to.value`.
      if (cursor.dialect.family !== 'spark') return null;
      cursor.advance();
      const member = cursor.at('[') ? cursor.missingIdentifier() : namePart(cursor);
      return { kind: 'member', start, end: cursor.end, object: operand, member, arguments: null };
    }
    case '': {
      // `column :path` with a blank before it looks like a parameter, which can't stand behind an operand.
      const isPath = cursor.dialect.family === 'spark' && cursor.kind === tokenKind.variable;
      if (!isPath || operand.kind === 'literal' || !/^:[\p{L}_]/u.test(cursor.tokenText)) return null;
      const member: Identifier = {
        kind: 'identifier',
        start: cursor.start + 1,
        end: cursor.currentEnd,
        name: cursor.tokenText.slice(1),
        quote: 'none',
      };
      cursor.advance();
      return { kind: 'member', start, end: cursor.end, object: operand, member, arguments: null };
    }
    case '->': {
      if (cursor.dialect.family !== 'spark' && operand.kind !== 'tuple') return null;
      const parameters = lambdaParameters(operand);
      if (parameters === null) return null;
      cursor.advance();
      const body = cursor.grammar.expression(cursor);
      return { kind: 'lambda', start, end: cursor.end, parameters, body };
    }
    case '!': {
      if (cursor.dialect.family !== 'duckdb') return null;
      cursor.advance();
      return { kind: 'unary', start, end: cursor.end, operator: '!', operand };
    }
    default:
      return null;
  }
}

function lambdaParameters(operand: Expression): readonly Identifier[] | null {
  if (operand.kind === 'column') {
    const [only] = operand.parts;
    return operand.parts.length === 1 && only ? [only] : null;
  }
  if (operand.kind === 'parenthesis') return lambdaParameters(operand.inner);
  if (operand.kind !== 'tuple') return null;
  const found: Identifier[] = [];
  for (const item of operand.items) {
    const inner = lambdaParameters(item);
    if (inner === null) return null;
    found.push(...inner);
  }
  return listOf(found);
}

/** Arguments in parentheses without any grammar of their own. */
export function parseArguments(cursor: Cursor): readonly Expression[] {
  const found: Expression[] = [];
  cursor.expect('(');
  if (cursor.eat(')')) return listOf(found);
  do found.push(cursor.grammar.expression(cursor));
  while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(found);
}
