/** Two runs of one load at once leave what one run leaves, or one of them fails by name. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCaseSession } from '../../cli/src/conformance/connect.ts';
import { firstDifference } from '../../cli/src/conformance/rows.ts';
import { conformanceCases } from '../support/cases.ts';
import { duckdbSettings, shapes } from '../support/engine.ts';
import { prepareLastLoad } from '../support/prepared-load.ts';

const ids = [
  'SAT-13',
  'SCD2-03',
  'INA-07',
  'INA-29',
  'DAY-06',
  'SCD1-01',
  'CDC-27',
  'EFF-12',
  'PSA-07',
  'MAS-09',
  'HUB-06',
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-simultaneous-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each(shapes)('simultaneous loads, shape %s', (shape) => {
  test.each(ids)('%s', async (id) => {
    const owner = conformanceCases.find((one) => one.id === id);
    if (owner === undefined) throw new Error(`no case ${id}`);
    const settings = duckdbSettings(shape);
    for (let round = 0; round < 5; round += 1) {
      const address = `duckdb:${join(folder, `${round}.duckdb`)}`;
      const first = await openCaseSession(address);
      const second = await openCaseSession(address);
      const { load, now, tables } = await prepareLastLoad(owner, first, settings);
      const results = await Promise.all([first.runLoad(load, now), second.runLoad(load, now)]);
      expect(results.some(({ status }) => status === 'done')).toBe(true);
      for (const { status, error } of results) if (status !== 'done') expect(error?.code).toBe('concurrent_load');
      const step = owner.steps.at(-1);
      if (step === undefined) throw new Error('no step');
      const rows = await tables.targetRows();
      expect(firstDifference(rows, tables.expectedRows(step), owner.config.target_identity)).toBeUndefined();
      await second.close();
      await first.close();
    }
  });
});
