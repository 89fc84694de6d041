import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { duckdbSettings, openMemorySession, shapesOf } from '../support/engine.ts';
import { filledCase } from '../support/oracle/draft.ts';
import { halvedDraft, randomDraft, reorderedDraft } from './random-loads.drafts.ts';

/** Every run takes the same seeds; `SEED` and `SEEDS` (how many from there) go elsewhere. */
const firstSeed = Number(process.env['SEED'] ?? 1);
const seedCount = Number(process.env['SEEDS'] ?? (process.env['SEED'] === undefined ? 250 : 1));
const seeds = Array.from({ length: seedCount }, (_, i) => firstSeed + i);

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

/** What went wrong in words, in each shape that the load has, at most five of it: each names its seed. */
async function failuresOf(owners: readonly ConformanceCase[]): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const owner of owners) {
    for (const shape of await shapesOf(owner)) {
      const outcome = await runCase(owner, session, duckdbSettings(shape));
      if (outcome.status !== 'passed')
        failures.push(`${owner.id}, shape ${shape}, step ${outcome.step}: ${outcome.difference}`);
    }
    if (failures.length >= 5) break;
  }
  return failures;
}

test('random tables and deliveries: each load leaves what the oracle says', async () => {
  expect(await failuresOf(seeds.map((seed) => filledCase(randomDraft(seed))))).toEqual([]);
});

test('the order of rows and columns is irrelevant', async () => {
  const pairs = seeds.slice(0, 60).map((seed) => {
    const draft = randomDraft(seed);
    return { owner: filledCase(draft), reordered: filledCase(reorderedDraft(draft, seed)) };
  });
  for (const { owner, reordered } of pairs) expect(finalRows(reordered), owner.id).toEqual(finalRows(owner));
  expect(await failuresOf(pairs.map(({ reordered }) => reordered))).toEqual([]);
});

test('one delivery is the same as its two halves', async () => {
  const halved = seeds
    .flatMap((seed) => halvedDraft(randomDraft(seed)) ?? [])
    .slice(0, 60)
    .map(({ whole, halves }) => ({ whole: filledCase(whole), halves: filledCase(halves) }));
  expect(halved.length).toBeGreaterThan(0);
  for (const { whole, halves } of halved) expect(finalRows(halves), whole.id).toEqual(finalRows(whole));
  expect(await failuresOf(halved.map(({ halves }) => halves))).toEqual([]);
});

/** The target at the end, as a sorted list of rows whose columns are sorted too. */
function finalRows({ steps }: ConformanceCase): readonly string[] {
  const rows = steps.at(-1)?.expected_target_rows ?? [];
  return rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
}
