/** A position in a text: zero-based line, zero-based UTF-16 code unit in the line, as in LSP. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** A half-open stretch of a text, as in LSP. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}
