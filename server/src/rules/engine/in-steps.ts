/** Work that can be left and taken up again between any two of its many small steps. */
export type InSteps<T> = Generator<undefined, T>;

/** Does the work in one piece. */
export function finish<T>(work: InSteps<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
