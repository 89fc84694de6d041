/**
 * A number with its noun: `1 table`, `3 tables`.
 *
 * @param shown the number as it is written; absent: plain digits
 */
export function counted(count: number, noun: string, shown: string = String(count)): string {
  return `${shown} ${noun}${count === 1 ? '' : 's'}`;
}
