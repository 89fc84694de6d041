/** The list of every node that has no items there: one object for all of them spares memory and time. */
export const none: readonly never[] = Object.freeze([]);
