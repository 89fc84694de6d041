/** A preview finds what the run then does, and writes nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsqlDialect } from '../../cli/src/conformance/dialects/tsql.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { stepSpecification } from '../../cli/src/conformance/specification.ts';
import { CaseTables } from '../../cli/src/conformance/tables.ts';
import type { ChangeCounts } from '../../protocol/counts.ts';
import type { PatternName } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import type { GeneratedLoad } from '../../server/src/generate/types.ts';
import { conformanceCases } from '../support/cases.ts';
import { duckdbSettings, openMemorySession } from '../support/engine.ts';
import { lastLoad } from '../support/prepared-load.ts';

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

const patterns: readonly PatternName[] = [
  'satellite',
  'hub',
  'scd0',
  'scd1',
  'scd2',
  'scd2_day',
  'scd2_cdc',
  'scd3',
  'scd6',
  'persistent_staging',
  'inactivation',
  'ma_satellite',
  'eff_satellite',
  'link',
  'nh_link',
  'reference_table',
  'status_tracking_satellite',
  'record_tracking_satellite',
  'xts',
  'ghost_records',
  'scd2_timestamp',
  'pit',
  'bridge',
  'hash',
  'stage_null_keys',
];
const settings = duckdbSettings('separate');
const chosen = patterns.flatMap((pattern) =>
  conformanceCases
    .filter((one) => one.pattern === pattern && one.steps.every((step) => step.expect_error === undefined))
    .slice(0, 6),
);

test.each(chosen.map((one) => ({ id: one.id, one })))('$id', async ({ one }) => {
  const tables = await CaseTables.create(one, `pv_${one.id.toLowerCase().replaceAll('-', '_')}_`, session, settings);
  for (const [index, step] of one.steps.entries()) {
    const before = await tables.prepare(step);
    const former = one.steps[index - 1]?.stage_columns;
    const added =
      former === undefined
        ? []
        : (step.stage_columns ?? Object.keys(one.tables.stage)).filter((name) => !former.includes(name));
    const specification = stepSpecification(one, step, added, tables.names, settings, tables.schema);
    const { value } = generateLoad({ specification, tables: tables.catalog(step), style: defaultStyle });
    if (value?.preview === undefined || value.preview === null) throw new Error(`${one.id} has no preview`);
    const previewed = await session.runLoad(asLoad(value), step.now);
    expect(previewed.error).toBeNull();
    expect(sorted(await tables.targetRows())).toEqual(sorted(before));
    const run = await session.runLoad(value, step.now);
    expect(run.error).toBeNull();
    expect(previewed.counts).toEqual(run.counts satisfies ChangeCounts);
    await tables.targetRows();
  }
});

function asLoad(load: GeneratedLoad): GeneratedLoad {
  return { ...load, batches: load.preview?.().batches ?? [] };
}

function sorted(rows: readonly object[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

test('numbers the rows before and after a change by what finds them, so that their numbers agree', async () => {
  const owner = conformanceCases.find(({ id }) => id === 'CDC-22');
  if (owner === undefined) throw new Error('no case');
  const platform = { name: 'sqlserver', version: 2019 } as const;
  const { load } = await lastLoad(owner, { ...settings, platform, dialect: tsqlDialect(platform) });
  const text =
    load
      .preview?.()
      .batches.map((batch) => batch.text)
      .join('\n') ?? '';
  const numbers = [...text.matchAll(/ROW_NUMBER\(\) OVER \((.*)\) AS \[sample_no\]/g)].map(([, by]) => by);
  const found = 'ORDER BY c.[stored_id], c.[stored_from]';
  expect(numbers.slice(0, 3)).toEqual([found, found, found]);
});
