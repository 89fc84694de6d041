/**
 * Exhaustive small histories: every way in which one key can fare over a few loads, each as a key of its own, all in the
 * same loads. So one run of a few loads checks a pattern completely for short histories.
 */
import type { CaseRow } from '../../cli/src/conformance/format.ts';

/** What a load delivers for a key: nothing, or one value per attribute. */
type Delivery = readonly (string | null)[] | 'absent';

/** One delivery per load. */
export type History = readonly Delivery[];

/** Absent, NULL, the empty text, and letters that differ in case only. */
const textValues: readonly (string | null)[] = [null, '', 'a', 'A', 'b'];

/** Every sequence of `loads` deliveries with `attributes` attributes over `values`. */
export function allHistories(
  loads: number,
  values: readonly (string | null)[] = textValues,
  attributes = 1,
): readonly History[] {
  const contents = product(Array.from({ length: attributes }, () => values));
  const deliveries: readonly Delivery[] = ['absent', ...contents];
  return product(Array.from({ length: loads }, () => deliveries));
}

/** The stage rows of one load: a row for each history that delivers something in it. */
export function stageOf(
  histories: readonly History[],
  load: number,
  row: (key: string, values: readonly (string | null)[], history: number) => CaseRow,
): readonly CaseRow[] {
  return histories.flatMap((history, i) => {
    const delivery = history[load];
    return delivery === undefined || delivery === 'absent' ? [] : [row(`K${i}`, delivery, i)];
  });
}

/** Every order of `0 … length - 1`. */
export function permutations(length: number): readonly (readonly number[])[] {
  if (length === 0) return [[]];
  return permutations(length - 1).flatMap((shorter) =>
    Array.from({ length }, (_, at) => [...shorter.slice(0, at), length - 1, ...shorter.slice(at)]),
  );
}

function product<T>(choices: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return choices.reduce<readonly (readonly T[])[]>(
    (made, options) => made.flatMap((prefix) => options.map((option) => [...prefix, option])),
    [[]],
  );
}
