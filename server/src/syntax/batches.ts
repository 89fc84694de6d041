import type { PlatformName } from '../../../protocol/platform.ts';
import type { Batch } from '../../../protocol/run.ts';
import { dialectOf } from './dialect.ts';
import { lineStartsOf, positionOf } from './inspect.ts';
import { Tokenizer } from './tokenizer.ts';
import { separatorCount, tokenKind } from './tokens.ts';

/**
 * The batches of a script as a client has to send them: the text between GO lines, byte for byte, without batches that
 * hold nothing but blanks and comments. Platforms without GO send the script as one batch.
 * `GO 0` sends nothing.
 */
export function splitBatches(text: string, platform: PlatformName): readonly Batch[] {
  const lineStarts = lineStartsOf(text);
  const batches: Batch[] = [];
  const tokenizer = new Tokenizer(text, dialectOf(platform));
  let start = 0;
  let filled = false;
  const add = (end: number, repeat: number): void => {
    if (!filled || repeat === 0) return;
    const batch = { text: text.slice(start, end), line: positionOf(lineStarts, start).line };
    batches.push(repeat === 1 ? batch : { ...batch, repeat });
  };
  for (;;) {
    tokenizer.next();
    if (tokenizer.kind === tokenKind.end) break;
    if (tokenizer.kind !== tokenKind.separator) {
      filled = filled || tokenizer.kind !== tokenKind.sqlcmd;
      continue;
    }
    add(endBefore(text, lineStarts, tokenizer.start), separatorCount(text.slice(tokenizer.start, tokenizer.end)));
    start = lineStarts[positionOf(lineStarts, tokenizer.end).line + 1] ?? text.length;
    filled = false;
  }
  add(text.length, 1);
  return batches;
}

/** A batch ends where the line of its GO starts, or at GO itself where the end of a comment stands before it. */
function endBefore(text: string, lineStarts: readonly number[], separator: number): number {
  const lineStart = lineStarts[positionOf(lineStarts, separator).line] ?? separator;
  return text.slice(lineStart, separator).trim() === '' ? lineStart : separator;
}
