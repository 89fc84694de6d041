import type { NodeBase } from '../../syntax/tree.ts';

/** A piece of a statement's text that something else takes the place of. Offsets as in `NodeBase`. */
export interface Edit extends NodeBase {
  readonly text: string;
}

/** The text between two offsets of a statement, with the edits that lie inside. Edits do not overlap. */
export function edited(text: string, offset: number, start: number, end: number, edits: readonly Edit[]): string {
  const inside = edits.filter((edit) => edit.start >= start && edit.end <= end);
  let result = '';
  let at = start;
  for (const edit of [...inside].sort((left, right) => left.start - right.start)) {
    if (edit.start < at) continue;
    result += text.slice(offset + at, offset + edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(offset + at, offset + end);
}
