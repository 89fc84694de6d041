/** What a tree holds, without its meaning. */
import { childrenOf } from '../../../server/src/syntax/inspect.ts';
import type { Node } from '../../../server/src/syntax/tree.ts';
import { aggregateNames } from './aggregate-names.ts';

const aggregates = new WeakMap<Node, boolean>();
const windows = new WeakMap<Node, boolean>();

function remembered(memory: WeakMap<Node, boolean>, node: Node, find: (node: Node) => boolean): boolean {
  const known = memory.get(node);
  if (known !== undefined) return known;
  const found = find(node);
  memory.set(node, found);
  return found;
}

/** Whether an aggregate of this query, not of one inside it, stands in the expression. */
export function holdsAggregate(node: Node): boolean {
  if (node.kind === 'query') return false;
  if (
    node.kind === 'call' &&
    node.over === null &&
    aggregateNames.has((node.name.parts.at(-1)?.name ?? '').toUpperCase())
  )
    return true;
  return remembered(aggregates, node, (of) => childrenOf(of).some(holdsAggregate));
}

/** Whether a window function stands in the expression. */
export function holdsWindow(node: Node): boolean {
  if (node.kind === 'query') return false;
  if (node.kind === 'call' && node.over !== null) return true;
  return remembered(windows, node, (of) => childrenOf(of).some(holdsWindow));
}

/** Every node of a kind under a node, itself included. */
export function nodesOf<K extends Node['kind']>(node: Node, kind: K): readonly Extract<Node, { kind: K }>[] {
  const found: Extract<Node, { kind: K }>[] = [];
  const visit = (at: Node): void => {
    if (isOf(at, kind)) found.push(at);
    for (const child of childrenOf(at)) visit(child);
  };
  visit(node);
  return found;
}

function isOf<K extends Node['kind']>(node: Node, kind: K): node is Extract<Node, { kind: K }> {
  return node.kind === kind;
}
