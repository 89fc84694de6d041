/** Seeded choices: the same seed gives the same run everywhere. */
export interface Random {
  /** At least 0, below `limit`. */
  readonly below: (limit: number) => number;
  readonly oneOf: <T>(choices: readonly T[]) => T;
  readonly chance: (probability: number) => boolean;
  readonly shuffled: <T>(items: readonly T[]) => readonly T[];
}

/** Mulberry32, which is small and even enough to choose test data. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    oneOf: (choices) => {
      const choice = choices[below(choices.length)];
      if (choice === undefined) throw new RangeError('nothing to choose from');
      return choice;
    },
    shuffled: (items) => {
      const left = [...items];
      return items.flatMap(() => left.splice(below(left.length), 1));
    },
  };
}
