import type { Cursor } from './cursor.ts';
import type { CaseBranch, Expression } from './tree.ts';

/** CASE with its branches, ELSE and END; the current token is CASE. */
export function parseCase(cursor: Cursor): Expression {
  const { start } = cursor;
  cursor.advance();
  const operand = cursor.at('WHEN') ? null : cursor.grammar.value(cursor);
  const branches: CaseBranch[] = [];
  while (cursor.at('WHEN') && !cursor.recovering) {
    const branchStart = cursor.start;
    cursor.advance();
    const when = operand === null ? cursor.grammar.condition(cursor) : cursor.grammar.value(cursor);
    cursor.expect('THEN');
    const then = cursor.grammar.value(cursor);
    branches.push({ kind: 'case-branch', start: branchStart, end: cursor.end, when, then });
  }
  if (branches.length === 0) cursor.fail('WHEN');
  const otherwise = cursor.eat('ELSE') ? cursor.grammar.value(cursor) : null;
  if (!cursor.eat('END')) cursor.fail(otherwise === null ? 'WHEN, ELSE or END' : 'END');
  return { kind: 'case', start, end: cursor.end, operand, branches, otherwise };
}

/** A CASE nested too deeply to be read: everything up to its END. */
export function skipCase(cursor: Cursor): Expression {
  const { start } = cursor;
  let open = 1;
  cursor.advance();
  while (!cursor.atEnd && open > 0) {
    if (cursor.at('CASE')) open += 1;
    else if (cursor.at('END')) open -= 1;
    cursor.advance();
  }
  return { kind: 'error', start, end: cursor.end };
}
