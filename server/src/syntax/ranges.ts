import { childrenOf } from './inspect.ts';
import type { Node } from './tree.ts';

/**
 * Makes the ranges of a unit's nodes nest after a mistake: what was missing was given the place behind the last token,
 * which may lie before the start of the node around it. Works on nodes that nobody else has seen yet.
 */
export function nestRanges(root: Node, length: number): void {
  const found: { readonly node: Node; readonly parent: Node | null }[] = [{ node: root, parent: null }];
  for (let index = 0; index < found.length; index += 1) {
    const node = found[index]?.node;
    if (node === undefined) continue;
    const start = Math.max(0, Math.min(node.start, length));
    setRange(node, start, Math.max(start, Math.min(node.end, length)));
    for (const child of childrenOf(node)) found.push({ node: child, parent: node });
  }
  // Children were found after their parents: from the last to the first, every parent takes in its children.
  for (let index = found.length - 1; index > 0; index -= 1) {
    const item = found[index];
    if (item === undefined || item.parent === null) continue;
    setRange(item.parent, Math.min(item.parent.start, item.node.start), Math.max(item.parent.end, item.node.end));
  }
}

function setRange(node: Node, start: number, end: number): void {
  const range: { start: number; end: number } = node;
  range.start = start;
  range.end = end;
}
