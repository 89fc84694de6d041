import { expect, test } from 'vitest';
import { RowCache } from '../../client/webview/row-cache.ts';

test('asks once for a block, gives its rows, and forgets the block that was not used for the longest time', () => {
  const asked: number[] = [];
  const cache = new RowCache((from) => asked.push(from), 2);
  expect(cache.row(5)).toBeUndefined();
  expect(cache.row(6)).toBeUndefined();
  expect(asked).toEqual([0]);
  const block = (from: number) => Array.from({ length: 200 }, (_, index) => [from + index]);
  cache.store(0, block(0));
  expect(cache.row(5)).toEqual([5]);
  for (const from of [200, 400]) {
    cache.row(from);
    if (from === 400) cache.row(5);
    cache.store(from, block(from));
  }
  expect(cache.row(5)).toEqual([5]);
  expect(cache.row(200)).toBeUndefined();
  expect(asked).toEqual([0, 200, 400, 200]);
});
