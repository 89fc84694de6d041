import { isTsql, type PlatformName } from '../../../protocol/platform.ts';
import { childrenOf, problemsOf, textOf, unitsOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import type { Node } from '../syntax/tree.ts';

/**
 * Why a text can't be run in a transaction that is rolled back afterwards, in words; null when it can. BEGIN TRAN … COMMIT
 * of its own nests. What ends the outer transaction, and what may end it unseen, is refused.
 */
export function dryRunRefusal(text: string, platform: PlatformName): string | null {
  const script = parse(text, { platform });
  if (problemsOf(script).length > 0) return 'A dry run needs a script that can be read to its end.';
  const walk: Walk = { depth: 0, platform };
  for (const unit of unitsOf(script)) {
    const statement = textOf(script, unit, unit.statement);
    const isControl = !isTsql(platform) && transactionControl.test(statement);
    const refusal = isControl ? noNesting : refusalOf(unit.statement, walk, false);
    if (refusal !== null) return `${refusal}: ${shortened(statement)}`;
  }
  return walk.depth > 0 ? 'A dry run refuses a script that leaves its own BEGIN TRAN open.' : null;
}

const noNesting = 'A dry run refuses BEGIN and COMMIT here, since transactions do not nest on this engine';
/** Statements that begin or end a transaction; the grammar of other engines than T-SQL does not read them. */
const transactionControl = /^(begin|start\s+transaction|commit|end|rollback|abort)\b/i;

interface Walk {
  /** Transactions that the script itself has begun. */
  depth: number;
  readonly platform: PlatformName;
}

function refusalOf(node: Node, walk: Walk, inCatch: boolean): string | null {
  switch (node.kind) {
    case 'create-procedure':
    case 'create-function':
    case 'create-trigger':
      // Its body does not run now.
      return definitionRefusal(walk);
    case 'transaction':
      return transactionRefusal(node.action, walk, inCatch);
    case 'try-catch':
      return firstRefusal(node.try, walk, inCatch) ?? firstRefusal(node.catch, { ...walk, depth: walk.depth }, true);
    case 'execute':
      return 'A dry run refuses EXEC, since what it runs may commit';
    case 'opaque':
      return 'A dry run refuses a statement that it does not understand';
    case 'create-table':
    case 'alter-table':
    case 'create-index':
    case 'create-view':
    case 'create-schema':
    case 'drop':
    case 'truncate':
    case 'rename': {
      const refusal = definitionRefusal(walk);
      if (refusal !== null) return refusal;
      break;
    }
    default:
      break;
  }
  return firstRefusal(childrenOf(node), walk, inCatch);
}

function firstRefusal(nodes: readonly Node[], walk: Walk, inCatch: boolean): string | null {
  for (const node of nodes) {
    const refusal = refusalOf(node, walk, inCatch);
    if (refusal !== null) return refusal;
  }
  return null;
}

function definitionRefusal({ platform }: Walk): string | null {
  return platform === 'synapse' ? 'A dry run refuses DDL on Synapse, which has none in transactions' : null;
}

function transactionRefusal(
  action: 'begin' | 'commit' | 'rollback' | 'save',
  walk: Walk,
  inCatch: boolean,
): string | null {
  if (!isTsql(walk.platform)) return noNesting;
  switch (action) {
    case 'begin':
      walk.depth += 1;
      return null;
    case 'commit':
      if (walk.depth === 0) return 'A dry run refuses a COMMIT without its own BEGIN TRAN';
      walk.depth -= 1;
      return null;
    case 'rollback':
      // After an error everything is rolled back anyway; elsewhere what follows would run outside any transaction.
      return inCatch ? null : 'A dry run refuses ROLLBACK, since what follows it would be kept';
    case 'save':
      return null;
  }
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= 60 ? line : `${line.slice(0, 60)}…`;
}
