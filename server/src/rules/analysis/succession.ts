/** How a list follows from the one before an edit: so many items at its start and at its end are the same ones. */
interface Link<T> {
  readonly before: readonly T[];
  readonly prefix: number;
  readonly suffix: number;
}

/**
 * Knows which list follows which, for long lists of which an edit replaces a few items: statements of a file, steps of
 * a body. What was worked out for the list before is taken over for the items that both share.
 */
export class Succession<T extends object> {
  private readonly links = new WeakMap<readonly T[], { link: Link<T> | null }>();
  /** By its first and by its last item, the newest list that has it there. */
  private readonly newest = new WeakMap<T, readonly T[]>();

  /** Null for a list that follows none. */
  linkOf(list: readonly T[]): Link<T> | null {
    const known = this.links.get(list);
    if (known !== undefined) return known.link;
    const [first, last] = [list[0], list.at(-1)];
    const before = (first && this.newest.get(first)) ?? (last && this.newest.get(last));
    const link = before === undefined ? null : { before, ...sharedEnds(before, list) };
    this.links.set(list, { link });
    // Only the last list is needed; a chain of all former ones would grow with every key.
    const former = before === undefined ? undefined : this.links.get(before);
    if (former !== undefined) former.link = null;
    if (first !== undefined) this.newest.set(first, list);
    if (last !== undefined) this.newest.set(last, list);
    return link;
  }
}

/**
 * Makes a question about the items of lists: gives the indices of those that fit, in their order. An answer depends on
 * the item and on `under` alone; another `under` asks all items again.
 */
export function makeFilter<T extends object, U>(
  succession: Succession<T>,
): (list: readonly T[], under: U, fits: (item: T) => boolean) => readonly number[] {
  const answers = new WeakMap<readonly T[], { readonly under: U; readonly found: readonly number[] }>();
  return (list, under, fits) => {
    const known = answers.get(list);
    if (known !== undefined && known.under === under) return known.found;
    const link = succession.linkOf(list);
    const before = link === null ? undefined : answers.get(link.before);
    const taken = link !== null && before !== undefined && before.under === under ? { ...link, ...before } : null;
    const from = taken?.prefix ?? 0;
    const to = list.length - (taken?.suffix ?? 0);
    const fresh: number[] = [];
    for (let index = from; index < to; index += 1) {
      const item = list[index];
      if (item !== undefined && fits(item)) fresh.push(index);
    }
    const found =
      taken === null
        ? fresh
        : replaced(taken.found, fresh, from, taken.before.length - taken.suffix, list.length - taken.before.length);
    answers.set(list, { under, found });
    return found;
  };
}

/** Indices with those from `from` to before `to` replaced and the later ones moved; the same list where all stay. */
function replaced(
  found: readonly number[],
  fresh: readonly number[],
  from: number,
  to: number,
  shift: number,
): readonly number[] {
  const [first, last] = [countBelow(found, from), countBelow(found, to)];
  const isSame = last - first === fresh.length && fresh.every((index, at) => found[first + at] === index);
  if (isSame && (shift === 0 || last === found.length)) return found;
  return [...found.slice(0, first), ...fresh, ...found.slice(last).map((index) => index + shift)];
}

/** How many numbers of an ascending list are below a limit. */
function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the items of a list give one after the other. */
interface Flat<R> {
  readonly values: readonly R[];
  /** For each item how many values it and those before it give. */
  readonly ends: readonly number[];
}

/** Makes a `flatMap` whose function depends on the item alone. */
export function makeFlatMap<T extends object, R>(
  succession: Succession<T>,
  give: (item: T) => readonly R[],
): (list: readonly T[]) => Flat<R> {
  const answers = new WeakMap<readonly T[], Flat<R>>();
  return (list) => {
    const known = answers.get(list);
    if (known !== undefined) return known;
    const link = succession.linkOf(list);
    const before = link === null ? undefined : answers.get(link.before);
    const flat = link === null || before === undefined ? spread(list, give) : respread(list, give, link, before);
    answers.set(list, flat);
    return flat;
  };
}

function spread<T, R>(items: readonly T[], give: (item: T) => readonly R[]): Flat<R> {
  const values: R[] = [];
  const ends: number[] = [];
  for (const item of items) {
    for (const value of give(item)) values.push(value);
    ends.push(values.length);
  }
  return { values, ends };
}

function respread<T, R>(
  list: readonly T[],
  give: (item: T) => readonly R[],
  { before, prefix, suffix }: Link<T>,
  flat: Flat<R>,
): Flat<R> {
  const middle = spread(list.slice(prefix, list.length - suffix), give);
  const start = flat.ends[prefix - 1] ?? 0;
  const former = flat.ends[before.length - suffix - 1] ?? 0;
  const shift = start + middle.values.length - former;
  // An edit inside a statement leaves the counts as they are; long lists are not made again for it.
  const isCountSame =
    list.length === before.length && middle.ends.every((end, at) => flat.ends[prefix + at] === start + end);
  const ends = isCountSame
    ? flat.ends
    : [
        ...flat.ends.slice(0, prefix),
        ...middle.ends.map((end) => start + end),
        ...flat.ends.slice(before.length - suffix).map((end) => end + shift),
      ];
  if (former === start && middle.values.length === 0) return { values: flat.values, ends };
  return { values: [...flat.values.slice(0, start), ...middle.values, ...flat.values.slice(former)], ends };
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
