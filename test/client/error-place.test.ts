import { expect, test } from 'vitest';
import { errorPlace } from '../../client/src/runs/error-place.ts';

const text = 'SELECT 1;\n  UPDATE dbo.Tabel SET x = 1;\nGO';

test.each([
  ['the token that the message quotes', 1, "Invalid object name 'dbo.Tabel'.", 9, 18],
  ['the line without its indentation', 1, 'Something went wrong.', 2, 29],
  ['the whole line when the token is not there', 0, "Invalid column 'zzz'.", 0, 9],
])('an error stands on %s', (_, line, message, from, to) => {
  expect(errorPlace(text, line, message)).toEqual({ start: { line, character: from }, end: { line, character: to } });
});

test('a line behind the end, no line and an empty text are no trouble', () => {
  expect(errorPlace(text, 99, 'x').start.line).toBe(2);
  expect(errorPlace(text, null, 'x').start.line).toBe(0);
  expect(errorPlace('', 0, 'x')).toEqual({ start: { line: 0, character: 0 }, end: { line: 0, character: 1 } });
});
