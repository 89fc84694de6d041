import { expect, test } from 'vitest';
import { lineStartsAfter, lineStartsOf } from '../../server/src/syntax/inspect.ts';
import { seededRandom } from '../support/random.ts';

test('line starts after an edit are those of the new text, whatever line breaks the edit joins or parts', () => {
  const random = seededRandom(7);
  const piece = (length: number) => Array.from({ length }, () => random.oneOf(['\r', '\n', '\r\n', 'a'])).join('');
  let text = piece(20);
  let starts = lineStartsOf(text);
  for (let round = 0; round < 2000; round += 1) {
    const start = random.below(text.length + 1);
    const end = Math.min(text.length, start + random.below(5));
    const put = piece(random.below(4));
    text = text.slice(0, start) + put + text.slice(end);
    starts = lineStartsAfter(starts, { start, end, length: put.length }, text);
    expect(starts, JSON.stringify({ text, start, end, put })).toEqual(lineStartsOf(text));
  }
});
