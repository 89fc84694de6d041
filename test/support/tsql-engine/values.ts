/**
 * Values at run time. Integers and bits are bigints; decimals are bigints counted in units of their scale; dates and
 * times are ticks of 100 ns since 0001-01-01 (a `time`: since midnight); texts are strings; binary values are Buffers.
 */
import { collationKey, comparableName, compareTexts } from './collations.ts';
import { isText, type SqlType } from './types.ts';

export type Value = null | bigint | string | Buffer;

/** Of two values of one type, not NULL: negative, zero or positive. */
export type Comparer = (a: Exclude<Value, null>, b: Exclude<Value, null>) => number;

/** Throws error 468 for texts whose collations are in conflict. */
export function comparer(type: SqlType): Comparer {
  if (isText(type)) {
    const name = comparableName(type.collation);
    return (a, b) => compareTexts(String(a), String(b), name);
  }
  return (a, b) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? Buffer.compare(a, b) : a < b ? -1 : a > b ? 1 : 0);
}

/** NULLs come first, as in ORDER BY. */
export function nullsFirst(compare: Comparer): (a: Value, b: Value) => number {
  return (a, b) => (a === null ? (b === null ? 0 : -1) : b === null ? 1 : compare(a, b));
}

/** A key under which equal values of a type meet: GROUP BY, DISTINCT, PARTITION BY, unique keys. NULLs are one value. */
export function groupKey(type: SqlType): (value: Value) => string {
  if (isText(type)) {
    const name = comparableName(type.collation);
    return (value) => (value === null ? 'null' : `=${collationKey(String(value), name)}`);
  }
  return (value) => (value === null ? 'null' : Buffer.isBuffer(value) ? `=${value.toString('hex')}` : `=${value}`);
}

export function rowKey(types: readonly SqlType[]): (values: readonly Value[]) => string {
  const keys = types.map(groupKey);
  return (values) => JSON.stringify(values.map((value, index) => keys[index]?.(value)));
}

/** Members by key, in the order of their first member. */
export function grouped<T>(members: readonly T[], keyOf: (member: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const member of members) {
    const key = keyOf(member);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [member]);
    else group.push(member);
  }
  return groups;
}
