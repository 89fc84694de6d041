import type { PlatformName } from '../../../protocol/platform.ts';
import { childrenOf, problemsOf, unitsOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import type { Node } from '../syntax/tree.ts';

/**
 * True when every statement of a text is proved to be a read: it parses without a problem, holds queries, variables and
 * PRINT only, no SELECT INTO, no call of a procedure, and no function that reaches another server or takes a number from a
 * sequence.
 */
export function readsOnly(text: string, platform: PlatformName): boolean {
  const script = parse(text, { platform });
  if (problemsOf(script).length > 0) return false;
  const units = unitsOf(script);
  return units.length > 0 && units.every((unit) => isRead(unit.statement));
}

const readingStatements = new Set(['select-statement', 'declare', 'declare-table', 'set-variable', 'print', 'empty']);

function isRead(statement: Node): boolean {
  return readingStatements.has(statement.kind) && isHarmless(statement);
}

/** True when nothing at or below a node writes, calls a procedure, reaches another server or is not understood. */
export function isHarmless(node: Node): boolean {
  switch (node.kind) {
    case 'select':
      if (node.into !== null) return false;
      break;
    case 'call':
      if (reaching.test(node.name.parts.at(-1)?.name ?? '')) return false;
      break;
    case 'insert':
    case 'update':
    case 'delete':
    case 'merge':
    case 'dml-table':
    case 'execute':
    case 'next-value':
    case 'opaque':
    case 'opaque-clause':
    case 'error':
      return false;
    default:
      break;
  }
  return childrenOf(node).every(isHarmless);
}

/** Functions that may write somewhere, though they stand in a query. */
const reaching = /^(openquery|openrowset|opendatasource|nextval|setval|query|query_table)$/i;
