import { expect, test } from 'vitest';
import { parse } from '../../../server/src/syntax/parse.ts';

/** Twice the text may take this many times the work. */
const limit = 2.3;
/** Other programs on the machine disturb a measurement, so the best of several counts. */
const attempts = 20;

/** Processor time of one parse in microseconds: the least of several, since the collector's work comes in lumps. */
function cost(text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 8; run += 1) {
    const before = process.cpuUsage();
    parse(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

test.each<[string, (size: number) => string]>([
  ['statements', (size) => 'MERGE t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b;\n'.repeat(size * 4)],
  ['batches', (size) => 'SELECT a FROM t WHERE b = 1\nGO\n'.repeat(size * 8)],
  [
    'columns',
    (size) =>
      `CREATE TABLE t (${Array.from({ length: size * 10 }, (_, i) => `c${i} varchar(10) NOT NULL`).join(', ')})`,
  ],
  ['nesting', (size) => `SELECT ${'(1 + '.repeat(size * 20)}1${')'.repeat(size * 20)};`.repeat(4)],
  ['rows of VALUES', (size) => `INSERT INTO t (a, b) VALUES ${"(1, 'x'), ".repeat(size * 12)}(1, 'y')`],
  ['lengths of a comment', (size) => `/* ${'x '.repeat(size * 400)} */ SELECT 1;\n`.repeat(8)],
  ['mistakes', (size) => 'CREATE TABLE t (a int NOT, b (int, c int);\nSELECT FROM t WHERE;\n'.repeat(size * 4)],
  ['unclosed lists', (size) => 'INSERT INTO t (a, b VALUES (1, 2)\n'.repeat(size * 4)],
])('work grows with the number of %s, not faster', (_, make) => {
  const size = 100;
  // The first runs are those of cold code.
  cost(make(size * 4));
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && ratio > limit; attempt += 1) {
    ratio = Math.min(ratio, cost(make(size * 2)) / cost(make(size)));
  }
  expect(ratio).toBeLessThanOrEqual(limit);
});
