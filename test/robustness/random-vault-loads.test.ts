import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { duckdbSettings, openMemorySession, shapesOf } from '../support/engine.ts';
import { filledCase } from '../support/oracle/draft.ts';
import { randomVaultDraft } from './random-vault-loads.drafts.ts';

/** Every run takes the same seeds; `SEED` and `SEEDS` (how many from there) go elsewhere. */
const firstSeed = Number(process.env['SEED'] ?? 1);
const seedCount = Number(process.env['SEEDS'] ?? (process.env['SEED'] === undefined ? 200 : 1));
const seeds = Array.from({ length: seedCount }, (_, i) => firstSeed + i);

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

test('random vault loads: each leaves what the oracle says, in each shape that it has', async () => {
  const failures: string[] = [];
  for (const draft of seeds.map(randomVaultDraft)) {
    const owner = filledCase(draft);
    for (const shape of await shapesOf(owner)) {
      const outcome = await runCase(owner, session, duckdbSettings(shape));
      if (outcome.status !== 'passed')
        failures.push(`${draft.id}, shape ${shape}, step ${outcome.step}: ${outcome.difference}`);
    }
    if (failures.length >= 8) break;
  }
  expect(failures).toEqual([]);
});
