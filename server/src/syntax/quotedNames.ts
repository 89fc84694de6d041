import { type TokenKind, tokenKind } from './tokens.ts';
import type { Quote } from './tree.ts';

/** What stands around names of each kind of token; words have nothing. */
export const quotes: Readonly<Partial<Record<TokenKind, Quote>>> = {
  [tokenKind.bracketed]: 'bracket',
  [tokenKind.doubleQuoted]: 'double',
  [tokenKind.backticked]: 'backtick',
  [tokenKind.string]: 'double',
};

/** The name between quotes; the closing one, which lacks at the end of a text, stands doubled inside. */
export function unquoted(text: string, from: number, to: number): string {
  const closing = text[from] === '[' ? ']' : (text[from] as string);
  const closed = to - from > 1 && text[to - 1] === closing;
  const name = text.slice(from + 1, closed ? to - 1 : to);
  return name.includes(closing) ? name.replaceAll(closing + closing, closing) : name;
}
