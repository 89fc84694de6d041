/** Work that can be left and taken up again between any two of its many small steps. */
export type InSteps<T> = Generator<undefined, T>;

/** Does the work in one piece. */
export function finish<T>(work: InSteps<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** As `map` of an array, one item to a step. */
export function* mapInSteps<T, R>(items: readonly T[], work: (item: T, index: number) => R): InSteps<readonly R[]> {
  const made: R[] = [];
  for (const [index, item] of items.entries()) {
    made.push(work(item, index));
    yield;
  }
  return made;
}

/** Does the work in slices of so many milliseconds, and lets others through between them. */
export async function finishInSlices<T>(
  work: InSteps<T>,
  milliseconds: number,
  pause: () => Promise<void>,
): Promise<T> {
  for (;;) {
    const end = performance.now() + milliseconds;
    do {
      const { done, value } = work.next();
      if (done === true) return value;
    } while (performance.now() < end);
    await pause();
  }
}
