/** Kinds of tokens. Keywords and punctuation carry their text in `words`, all others the empty string. */
export const tokenKind = {
  /** End of the text. */
  end: 0,
  /** A GO line. */
  separator: 1,
  /** A name without quotes, maybe a keyword that may serve as a name. */
  word: 2,
  /** A keyword that may not serve as a name. */
  reserved: 3,
  bracketed: 4,
  doubleQuoted: 5,
  backticked: 6,
  string: 7,
  nationalString: 8,
  number: 9,
  money: 10,
  binary: 11,
  /** `@x`, `@@x`, `:x`, `?`, `$1`, `${x}`. */
  variable: 12,
  punctuation: 13,
  /** A character that begins no token. */
  unknown: 14,
  /** A line for the SQLCMD processor. */
  sqlcmd: 15,
} as const;
export type TokenKind = (typeof tokenKind)[keyof typeof tokenKind];

/** A token as the outside sees it. Offsets are offsets in the file. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** Upper case for keywords, the characters for punctuation, '' for all others. */
  readonly word: string;
  /** A string, comment or quoted name that the text ends in. */
  readonly unterminated: boolean;
}

/** How often the batch before a separator runs: the number behind GO, else once. */
export function separatorCount(separator: string): number {
  const count = /^\s*go\s+(\d+)/i.exec(separator);
  return count?.[1] === undefined ? 1 : Number(count[1]);
}
