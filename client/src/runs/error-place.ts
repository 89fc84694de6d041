import type { Range } from '../../../protocol/position.ts';

/**
 * Where an error of the engine stands in a text: the token that its message quotes, else the line without its
 * indentation. Engines give a line and no column.
 *
 * @param line zero-based; null stands for the first line
 */
export function errorPlace(text: string, line: number | null, message: string): Range {
  const lines = text.split(/\r\n|\n|\r/);
  const number = Math.min(line ?? 0, lines.length - 1);
  const content = lines[number] ?? '';
  for (const [, single, double] of message.matchAll(/'([^']+)'|"([^"]+)"/g)) {
    const token = single ?? double ?? '';
    const start = content.toLowerCase().indexOf(token.toLowerCase());
    if (start >= 0) return span(number, start, start + token.length);
  }
  const start = content.length - content.trimStart().length;
  return span(number, start, Math.max(content.trimEnd().length, start + 1));
}

function span(line: number, from: number, to: number): Range {
  return { start: { line, character: from }, end: { line, character: to } };
}
