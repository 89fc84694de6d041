/** What was found in one list, kept for the list that follows it after an edit. */
interface Answer {
  readonly under: unknown;
  readonly found: readonly number[];
}

interface State {
  readonly answers: Map<object, Answer>;
  /** The list before the edit: how many items at its start and at its end are the same ones. */
  former: {
    readonly answers: Map<object, Answer>;
    readonly length: number;
    readonly prefix: number;
    readonly suffix: number;
  } | null;
}

/**
 * Finds items of long lists of which an edit replaces a few: statements of a file, steps of a body. What was found in
 * the list before is taken over for the items that both share, so a key costs as much as it changes.
 */
export class Succession<T extends object> {
  private readonly states = new WeakMap<readonly T[], State>();
  /** By its first and by its last item, the newest list that has it there. */
  private readonly newest = new WeakMap<T, readonly T[]>();

  /**
   * Indices of the items that fit, in their order.
   * @param question stands for `fits`: the same object asks the same
   * @param under what the answer depends on besides the item; another object asks again
   */
  where(list: readonly T[], question: object, under: unknown, fits: (item: T) => boolean): readonly number[] {
    const state = this.stateOf(list);
    const known = state.answers.get(question);
    if (known !== undefined && known.under === under) return known.found;
    const { former } = state;
    const before = former?.answers.get(question);
    const found: number[] = [];
    let [from, to] = [0, list.length];
    const taken =
      former != null && before !== undefined && before.under === under ? { former, found: before.found } : null;
    if (taken !== null) {
      from = taken.former.prefix;
      to = list.length - taken.former.suffix;
      for (const index of taken.found) if (index < from) found.push(index);
    }
    for (let index = from; index < to; index += 1) {
      const item = list[index];
      if (item !== undefined && fits(item)) found.push(index);
    }
    if (taken !== null) {
      const { length, suffix } = taken.former;
      const shift = list.length - length;
      for (const index of taken.found) if (index >= length - suffix) found.push(index + shift);
    }
    state.answers.set(question, { under, found });
    return found;
  }

  private stateOf(list: readonly T[]): State {
    const known = this.states.get(list);
    if (known !== undefined) return known;
    const [first, last] = [list[0], list.at(-1)];
    const before = (first && this.newest.get(first)) ?? (last && this.newest.get(last));
    const former = before === undefined ? undefined : this.states.get(before);
    const state: State = { answers: new Map(), former: null };
    if (before !== undefined && former !== undefined) {
      state.former = { answers: former.answers, length: before.length, ...sharedEnds(before, list) };
      // Only the last list is needed; a chain of all former ones would grow with every key.
      former.former = null;
    }
    this.states.set(list, state);
    if (first !== undefined) this.newest.set(first, list);
    if (last !== undefined) this.newest.set(last, list);
    return state;
  }
}

function sharedEnds<T>(
  before: readonly T[],
  after: readonly T[],
): { readonly prefix: number; readonly suffix: number } {
  const shorter = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < shorter && before[prefix] === after[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < shorter - prefix && before[before.length - 1 - suffix] === after[after.length - 1 - suffix])
    suffix += 1;
  return { prefix, suffix };
}
