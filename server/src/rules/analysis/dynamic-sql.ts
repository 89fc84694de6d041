import { bare } from '../../syntax/inspect.ts';
import type { Expression } from '../../syntax/tree.ts';
import { callName } from './names.ts';
import type { Entry, Step } from './steps.ts';

/** A text that is joined from literals and values, piece by piece. */
export interface JoinedText {
  readonly entry: Entry;
  readonly pieces: readonly Expression[];
}

/** The outermost + chains and CONCAT calls of a step that hold at least one text literal. */
export function joinedTexts(step: Step): readonly JoinedText[] {
  const chains = step.find('binary').filter(({ node, parent }) => {
    if (node.operator !== '+') return false;
    let above = parent;
    while (above?.node.kind === 'parenthesis') above = above.parent;
    return above === null || above.node.kind !== 'binary' || above.node.operator !== '+';
  });
  const calls = step.find('call').filter(({ node }) => callName(node) === 'CONCAT');
  return [...chains, ...calls]
    .map((entry): JoinedText => ({ entry, pieces: piecesOf(entry.node) }))
    .filter(({ pieces }) => pieces.some((piece) => textOf(piece) !== null));
}

function piecesOf(expression: Expression): readonly Expression[] {
  const pieces: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inner = bare(next);
    if (inner.kind === 'binary' && inner.operator === '+') pending.push(inner.right, inner.left);
    else if (inner.kind === 'call' && callName(inner) === 'CONCAT') pending.push(...inner.arguments.toReversed());
    else pieces.push(inner);
  }
  return pieces;
}

/** The value of a string literal; null for any other expression. */
export function textOf(expression: Expression): string | null {
  const inner = bare(expression);
  return inner.kind === 'literal' && (inner.type === 'string' || inner.type === 'national') ? inner.value : null;
}

const sqlWords = /\b(?:SELECT|INSERT|UPDATE|DELETE|MERGE|FROM|JOIN|INTO|WHERE|CREATE|ALTER|DROP|TRUNCATE|EXEC|SET)\b/i;

/** Whether the literals of a joined text hold words of SQL. */
export function looksLikeSql(pieces: readonly Expression[]): boolean {
  return pieces.some((piece) => sqlWords.test(textOf(piece) ?? ''));
}
