/** What a tree holds, without its meaning. */
import { childrenOf } from '../../../server/src/syntax/inspect.ts';
import type { Node } from '../../../server/src/syntax/tree.ts';
import { aggregateNames } from './aggregate-names.ts';

interface Holdings {
  readonly aggregate: boolean;
  readonly window: boolean;
}

/** Queries are others' affair; the rest is most of every tree and holds nothing. */
const opaque: ReadonlySet<Node['kind']> = new Set([
  'query',
  'column',
  'variable',
  'literal',
  'identifier',
  'data-type',
]);
const nothing: Holdings = { aggregate: false, window: false };
const remembered = new WeakMap<Node, Holdings>();

/** Whether an aggregate of this query, not of one inside it, stands in the expression. */
export function holdsAggregate(node: Node): boolean {
  return holdingsOf(node).aggregate;
}

/** Whether a window function stands in the expression. */
export function holdsWindow(node: Node): boolean {
  return holdingsOf(node).window;
}

/** Both are looked for at once, since a statement that is run again and again is bound each time. */
function holdingsOf(node: Node): Holdings {
  if (opaque.has(node.kind)) return nothing;
  const known = remembered.get(node);
  if (known !== undefined) return known;
  const isAggregate =
    node.kind === 'call' &&
    node.over === null &&
    aggregateNames.has((node.name.parts.at(-1)?.name ?? '').toUpperCase());
  let aggregate = isAggregate;
  let window = node.kind === 'call' && node.over !== null;
  for (const child of childrenOf(node)) {
    const inner = holdingsOf(child);
    aggregate ||= inner.aggregate;
    window ||= inner.window;
  }
  const found = aggregate || window ? { aggregate, window } : nothing;
  remembered.set(node, found);
  return found;
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
