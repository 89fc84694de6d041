import { bare, childrenOf, findAll } from '../../syntax/inspect.ts';
import type { Call, Expression, Node, Statement } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { callName, same } from './names.ts';
import { indexIn, indicesOf, stepsOf } from './selections.ts';
import { meet, type TableNames, tablesIn } from './sides.ts';
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

export function isClock(expression: Expression): boolean {
  const inner = bare(expression);
  return inner.kind === 'call' && clocks.has(callName(inner));
}

/** Ends a load: THROW, RAISERROR, RETURN, GOTO. */
function isStop(statement: Statement): boolean {
  return ['throw', 'raiserror', 'return', 'goto'].includes(statement.kind);
}

/**
 * True when something before or around a write tests whether tables have rows: an IF over them that stops the load
 * or holds the write, a variable filled from them and tested so, or an EXISTS of the write itself.
 */
export function isGuardedBy(body: Body, step: Step, tables: TableNames): boolean {
  const index = indexIn(body, step);
  const reads = (node: Node) => meet(tablesIn(node), tables);
  const variables = new Set<string>();
  const mentions = (node: Node): boolean =>
    reads(node) || findAll(node, 'variable').some((variable) => variables.has(variable.name.toLowerCase()));

  for (const before of body.steps.slice(0, Math.max(0, index))) {
    const { statement } = before;
    for (const name of variablesFilledFrom(statement, mentions)) variables.add(name);
    // The row count of a statement that filled the stage.
    if (statement.kind === 'insert' && 'name' in statement.target && reads(statement.target)) {
      variables.add('@@rowcount');
    }
    if (isErrorQuery(before) && mentions(statement)) return true;
    if (!isStop(statement) && !(statement.kind === 'set-variable')) continue;
    if (isStop(statement) && before.guards.some((guard) => mentions(guard.condition))) return true;
  }
  if (step.guards.some((guard) => mentions(guard.condition))) return true;
  return step.find('exists').some(({ node, parent }) => {
    if (parent?.node.kind === 'unary') return false;
    const { body: inner } = node.query;
    return inner.kind === 'select' && inner.where === null && inner.from.some((source) => reads(source));
  });
}

/** Variables (lower case) that a statement fills from something that fits. */
function variablesFilledFrom(statement: Statement, fits: (node: Node) => boolean): readonly string[] {
  switch (statement.kind) {
    case 'declare':
      return statement.variables.flatMap((variable) =>
        variable.value !== null && fits(variable.value) ? [variable.name.toLowerCase()] : [],
      );
    case 'set-variable':
      return fits(statement.value) ? [statement.variable.name.toLowerCase()] : [];
    case 'select-statement': {
      const { body } = statement.query;
      if (body.kind !== 'select' || !fits(statement.query)) return [];
      return body.items.flatMap((item) => (item.assigns === null ? [] : [item.assigns.name.toLowerCase()]));
    }
    default:
      return [];
  }
}

/** A SELECT that raises an error by a function: DuckDB's error(), Spark's raise_error() and assert_true(). */
function isErrorQuery(step: Step): boolean {
  return (
    step.statement.kind === 'select-statement' &&
    step.find('call').some(({ node }) => ['ERROR', 'RAISE_ERROR', 'ASSERT_TRUE'].includes(callName(node)))
  );
}

export function hasDescendant(node: Node, fits: (node: Node) => boolean): boolean {
  const pending: Node[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (fits(next)) return true;
    pending.push(...childrenOf(next));
  }
  return false;
}
