/** The list of every node that has no items there: one object for all of them spares memory and time. */
export const none: readonly never[] = Object.freeze([]);

/**
 * The items of a node, once they are all gathered. A list that grew item by item holds room for more, which the trees of
 * a folder's files would carry along: three times what their items need.
 */
export function listOf<T>(items: readonly T[]): readonly T[] {
  return items.length === 0 ? none : items.slice();
}
