import type { Dialect } from '../../server/src/syntax/dialect.ts';
import { tokenize } from '../../server/src/syntax/tokenizer.ts';
import { tokenKind } from '../../server/src/syntax/tokens.ts';

/** A number generator with a seed: the same seed gives the same numbers (mulberry32). Numbers are below 1. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export const mutationKinds = [
  'delete',
  'duplicate',
  'swap',
  'keyword',
  'paren-drop',
  'paren-add',
  'comma-drop',
  'comma-add',
  'truncate',
] as const;
export type MutationKind = (typeof mutationKinds)[number];

export interface Mutant {
  readonly kind: MutationKind;
  readonly text: string;
}

/** A text with one token changed at a place that the generator picks; null where the kind has no place in the text. */
export function mutate(text: string, dialect: Dialect, kind: MutationKind, random: () => number): Mutant | null {
  const tokens = tokenize(text, dialect);
  const places = tokens
    .map((_, index) => index)
    .filter((index) => fits(tokens[index]?.word ?? '', tokens[index]?.kind, kind));
  const place = places[Math.floor(random() * places.length)];
  const token = place === undefined ? undefined : tokens[place];
  if (place === undefined || token === undefined) return null;
  const own = text.slice(token.start, token.end);
  const replaced = (replacement: string): Mutant => ({
    kind,
    text: text.slice(0, token.start) + replacement + text.slice(token.end),
  });
  switch (kind) {
    case 'delete':
    case 'paren-drop':
    case 'comma-drop':
      return replaced(' ');
    case 'duplicate':
      return replaced(`${own} ${own} `);
    case 'keyword':
      return replaced('zq7');
    case 'paren-add':
      return replaced(random() < 0.5 ? `(${own} ` : `${own} )`);
    case 'comma-add':
      return replaced(`${own} ,`);
    case 'truncate':
      return { kind, text: text.slice(0, token.end) };
    case 'swap': {
      const next = tokens[place + 1];
      if (next === undefined) return null;
      const between = text.slice(token.end, next.start);
      const other = text.slice(next.start, next.end);
      return { kind, text: `${text.slice(0, token.start)}${other} ${between}${own} ${text.slice(next.end)}` };
    }
  }
}

function fits(word: string, kind: number | undefined, mutation: MutationKind): boolean {
  if (kind === tokenKind.separator) return false;
  switch (mutation) {
    case 'keyword':
      return /^[A-Z]/.test(word);
    case 'paren-drop':
      return word === '(' || word === ')';
    case 'comma-drop':
      return word === ',';
    default:
      return true;
  }
}
