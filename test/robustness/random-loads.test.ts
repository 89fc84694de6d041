import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { duckdbSettings, openMemorySession, shapes } from '../support/engine.ts';
import { type DraftCase, filledCase } from '../support/oracle/draft.ts';
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

async function failureOf(draft: DraftCase, shape: (typeof shapes)[number]): Promise<string | undefined> {
  const outcome = await runCase(filledCase(draft), session, duckdbSettings(shape));
  return outcome.status === 'passed' ? undefined : `${draft.id}, step ${outcome.step}: ${outcome.difference}`;
}

/** What went wrong in words, at most five of it: each names its seed. */
async function failuresOf(drafts: readonly DraftCase[], shape: (typeof shapes)[number]): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const draft of drafts) {
    const failure = await failureOf(draft, shape);
    if (failure !== undefined) failures.push(failure);
    if (failures.length === 5) break;
  }
  return failures;
}

describe.each(shapes)('random tables and deliveries, shape %s', (shape) => {
  test('each load leaves what the oracle says', async () => {
    expect(await failuresOf(seeds.map(randomDraft), shape)).toEqual([]);
  });

  test('the order of rows and columns is irrelevant', async () => {
    const pairs = seeds.slice(0, 60).map((seed) => {
      const draft = randomDraft(seed);
      return { draft, reordered: reorderedDraft(draft, seed) };
    });
    for (const { draft, reordered } of pairs) expect(finalRows(reordered), draft.id).toEqual(finalRows(draft));
    expect(
      await failuresOf(
        pairs.map(({ reordered }) => reordered),
        shape,
      ),
    ).toEqual([]);
  });

  test('one delivery is the same as its two halves', async () => {
    const halved = seeds.flatMap((seed) => halvedDraft(randomDraft(seed)) ?? []).slice(0, 60);
    expect(halved.length).toBeGreaterThan(0);
    for (const { whole, halves } of halved) expect(finalRows(halves), whole.id).toEqual(finalRows(whole));
    expect(
      await failuresOf(
        halved.map(({ halves }) => halves),
        shape,
      ),
    ).toEqual([]);
  });
});

/** The target at the end, as a sorted list of rows whose columns are sorted too. */
function finalRows(draft: DraftCase): readonly string[] {
  const rows = filledCase(draft).steps.at(-1)?.expected_target_rows ?? [];
  return rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
}
