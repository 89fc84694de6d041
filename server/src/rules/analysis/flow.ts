import { bare, childrenOf } from '../../syntax/inspect.ts';
import type { Call, Expression, Node } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { callName, same } from './names.ts';
import { indicesOf, stepsOf } from './selections.ts';
import type { Body, Step } from './steps.ts';

/** Indices of the steps that open or end a transaction, with what holds behind them. */
const turns = memo((body: Body): readonly { readonly index: number; readonly open: boolean }[] => {
  let open = false;
  return indicesOf(body, 'transaction', 'opaque', 'block').flatMap((index) => {
    const step = body.steps[index];
    if (step === undefined) return [];
    const { statement } = step;
    if (statement.kind === 'transaction' && step.region !== 'catch') {
      if (statement.action === 'begin') open = true;
      // A rollback under a condition leaves the other path open.
      else if (statement.action === 'commit' || (statement.action === 'rollback' && step.guards.length === 0))
        open = false;
    }
    // DuckDB and Spark have no statement of their own for it in the tree.
    if (statement.kind === 'opaque') {
      if (/^(?:BEGIN|START)\b/.test(statement.name)) open = true;
      else if (/^(?:COMMIT|END|ROLLBACK|ABORT)\b/.test(statement.name)) open = false;
    }
    if (statement.kind === 'block' && statement.options.some((option) => option.name === 'ATOMIC')) open = true;
    return [{ index, open }];
  });
});

/** True when a transaction is open before a step runs, as far as the order of the text tells. */
export function isTransactionOpen(body: Body, index: number): boolean {
  return turns(body).findLast((turn) => turn.index < index)?.open ?? false;
}

/** True when the body, or the file's SET lines before it, turns XACT_ABORT on. */
export function setsOption(body: Body, name: string, value: string): boolean {
  return stepsOf(body, 'set-option').some(
    ({ statement }) =>
      statement.kind === 'set-option' && statement.names.includes(name) && same(statement.value, value),
  );
}

const clocks = new Set([
  'GETDATE',
  'GETUTCDATE',
  'SYSDATETIME',
  'SYSUTCDATETIME',
  'SYSDATETIMEOFFSET',
  'CURRENT_TIMESTAMP',
  'NOW',
]);

/** Nodes that read the clock in a step. */
export const clockReads = memo((step: Step): readonly Call[] => {
  return step
    .find('call')
    .filter(({ node }) => clocks.has(callName(node)))
    .map((entry) => entry.node);
});

/** Whether an expression reads the clock. */
export function isClock(expression: Expression): boolean {
  const inner = bare(expression);
  return inner.kind === 'call' && clocks.has(callName(inner));
}

/** Whether a node, or one below it, fits. */
export function hasDescendant(node: Node, fits: (node: Node) => boolean): boolean {
  const pending: Node[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (fits(next)) return true;
    pending.push(...childrenOf(next));
  }
  return false;
}
