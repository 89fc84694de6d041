/** What vault loads do beyond the conformance cases: late and contradicting deliveries, limits, keys of several columns. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CaseOptions, CaseRow, ConformanceCase, NeutralColumns } from '../../cli/src/conformance/format.ts';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { dropTables } from '../../cli/src/conformance/tables.ts';
import { conformanceCases } from '../support/cases.ts';
import { duckdbSettings, openMemorySession } from '../support/engine.ts';
import { prepareLastLoad } from '../support/prepared-load.ts';

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

type Step = ConformanceCase['steps'][number];
const time = 'timestamp(6)';
const day = (n: number): string => `2024-05-0${n} 00:00:00`;
const hash = (columns: CaseRow) => ({ $hash: columns });
const counts = (inserted: number, unchanged: number, inactivated?: number): Step['expected_counts'] => ({
  inserted,
  updated: 0,
  expired: 0,
  deleted: 0,
  unchanged,
  ...(inactivated === undefined ? {} : { inactivated }),
});

function step(stage: readonly CaseRow[], target: readonly CaseRow[], expected: Step['expected_counts']): Step {
  return { now: day(9), stage_rows: [...stage], expected_target_rows: [...target], expected_counts: expected };
}

/** A step that the load refuses: the target stays as it was. */
function refused(stage: readonly CaseRow[], target: readonly CaseRow[], code: string): Step {
  // The codes of cases are fewer than those of loads.
  return { ...step(stage, target, counts(0, 0)), expect_error: code as NonNullable<Step['expect_error']> };
}

async function difference(
  pattern: ConformanceCase['pattern'],
  config: CaseOptions,
  stage: NeutralColumns,
  target: NeutralColumns,
  steps: readonly Step[],
): Promise<string | null> {
  const owner: ConformanceCase = {
    id: `test ${pattern}`,
    title: pattern,
    pattern,
    config,
    tables: { stage: { ...stage }, target: { ...target } },
    steps: [...steps],
  };
  const outcome = await runCase(owner, session, duckdbSettings('separate'));
  return outcome.difference;
}

const technical = { load_ts: 'load_ts', record_source: 'record_source' };
const vaultColumns: NeutralColumns = { load_ts: time, record_source: 'string' };

describe('non-historised link', () => {
  const config: CaseOptions = {
    keys: ['tx'],
    target_key: ['hk'],
    hash_key: { hk: ['tx'] },
    target_identity: ['hk'],
    ...technical,
    duplicates: 'collapse_identical',
    null_keys: 'skip',
  };
  const stage: NeutralColumns = { tx: 'string', amount: 'int', ...vaultColumns };
  const target: NeutralColumns = { hk: 'hash', amount: 'int', ...vaultColumns };
  const row = (amount: number, on: number): CaseRow => ({ tx: 'T1', amount, load_ts: day(on), record_source: 'POS' });
  const stored = (amount: number, on: number): CaseRow => ({
    hk: hash({ tx: 'T1' }),
    amount,
    load_ts: day(on),
    record_source: 'POS',
  });

  test('of two deliveries that wait in one stage the first one counts, as if they came one after the other', async () => {
    const steps = [step([row(9, 2), row(1, 1)], [stored(1, 1)], counts(1, 0))];
    expect(await difference('nh_link', config, stage, target, steps)).toBeNull();
  });

  test('two contents at the first load time stop the load', async () => {
    const steps = [refused([row(9, 1), row(1, 1)], [], 'duplicate_key')];
    expect(await difference('nh_link', config, stage, target, steps)).toBeNull();
  });

  test('contents of a stored key are not judged', async () => {
    const steps = [
      step([row(1, 1)], [stored(1, 1)], counts(1, 0)),
      step([row(8, 2), row(9, 2)], [stored(1, 1)], counts(0, 1)),
    ];
    expect(await difference('nh_link', config, stage, target, steps)).toBeNull();
  });
});

describe('warnings', () => {
  test.each([
    ['NHL-04', 'stored_row_kept', '1 staged rows contradict stored transactions, which are kept'],
    ['REF-01', 'stored_row_kept', '1 staged rows contradict stored codes, which are kept'],
    ['SNK-03', 'stand_in_delivered', '1 staged rows have cust -1, the stand-in for a missing key'],
    ['EFF-06', 'null_key', '2 staged rows without a key were skipped'],
  ])('%s tells %s', async (id, code, message) => {
    const owner = conformanceCases.find((one) => one.id === id);
    if (owner === undefined) throw new Error(`there is no case ${id}`);
    const { load, now } = await prepareLastLoad(owner, session, duckdbSettings('separate'));
    const { warnings } = await session.runLoad(load, now);
    await dropTables('prepared_', session, duckdbSettings('separate').dialect);
    expect(warnings).toEqual([{ code, message }]);
  });
});

describe('satellite', () => {
  const config: CaseOptions = {
    keys: ['region', 'no'],
    target_key: ['hk'],
    hash_key: { hk: ['region', 'no'] },
    hashdiff: { hd: ['city'] },
    target_identity: ['hk', 'load_ts'],
    ...technical,
    same_ts_conflict: 'fail',
    out_of_order: 'fail',
    null_keys: 'skip',
  };
  const stage: NeutralColumns = { region: 'string', no: 'int', city: 'string', ...vaultColumns };
  const target: NeutralColumns = { hk: 'hash', hd: 'hash', city: 'string', ...vaultColumns };
  const row = (region: string, no: number, city: string, n: number): CaseRow => ({
    region,
    no,
    city,
    load_ts: day(n),
    record_source: 'crm',
  });
  const stored = (region: string, no: number, city: string, n: number): CaseRow => ({
    hk: hash({ region, no: String(no) }),
    hd: hash({ city }),
    city,
    load_ts: day(n),
    record_source: 'crm',
  });

  test('all spellings of a key whose digest is one are read again, and found among equal numbers', async () => {
    const first = [row('EU', 1, 'Rome', 1), row('EU', 2, 'Oslo', 1), row('US', 1, 'Reno', 1)];
    const kept = [stored('EU', 1, 'Rome', 1), stored('EU', 2, 'Oslo', 1), stored('US', 1, 'Reno', 1)];
    const folding: CaseOptions = { ...config, hash_rules: { trim: true, case: 'upper' } };
    const second = [
      row(' eu', 1, 'Rome', 2),
      row('EU ', 1, 'Pisa', 3),
      row('EU', 2, 'Oslo', 2),
      row('US', 1, 'Reno', 2),
    ];
    expect(
      await difference('satellite', folding, stage, target, [
        step(first, kept, counts(3, 0)),
        step(second, [...kept, stored('EU', 1, 'Pisa', 3)], counts(1, 2)),
      ]),
    ).toBeNull();
  });

  test('a guard names the business key, not its digest', async () => {
    const both = [row('EU', 1, 'Rome', 1), row('EU', 1, 'Oslo', 1)];
    expect(await difference('satellite', config, stage, target, [step(both, [], counts(0, 0))])).toContain(
      'same_timestamp_conflict: EU/1',
    );
    const late = [row('EU', 1, 'Rome', 1)];
    const kept = [stored('EU', 1, 'Oslo', 2)];
    expect(
      await difference('satellite', config, stage, target, [
        step([row('EU', 1, 'Oslo', 2)], kept, counts(1, 0)),
        step(late, kept, counts(0, 0)),
      ]),
    ).toContain('late_row: EU/1');
    expect(
      await difference('satellite', { ...config, duplicates: 'fail' }, stage, target, [
        step([row('EU', 1, 'Rome', 1), row('EU', 1, 'Rome', 1)], [], counts(0, 0)),
      ]),
    ).toContain('duplicate_key: EU/1');
  });
});

describe('multi-active satellite', () => {
  const config: CaseOptions = {
    keys: ['id'],
    target_key: ['hk'],
    hash_key: { hk: ['id'] },
    cdk: ['phone'],
    hashdiff: { hashdiff: ['label'] },
    target_identity: ['hk', 'load_ts', 'phone'],
    ...technical,
    not_null: ['id', 'phone'],
    null_keys: 'skip',
    same_ts_conflict: 'fail',
  };
  const stage: NeutralColumns = { id: 'string', phone: 'string', label: 'string', ...vaultColumns };
  const target: NeutralColumns = { hk: 'hash', phone: 'string', hashdiff: 'hash', label: 'string', ...vaultColumns };
  const row = (phone: string, label: string, on: number): CaseRow => ({
    id: 'K',
    phone,
    label,
    load_ts: day(on),
    record_source: 'CRM',
  });
  const stored = (phone: string, label: string, on: number): CaseRow => ({
    hk: hash({ id: 'K' }),
    phone,
    hashdiff: hash({ label }),
    label,
    load_ts: day(on),
    record_source: 'CRM',
  });
  const first = step([row('1', 'a', 1), row('2', 'b', 1)], [stored('1', 'a', 1), stored('2', 'b', 1)], counts(2, 0));
  const second = step(
    [row('1', 'a', 3)],
    [stored('1', 'a', 1), stored('2', 'b', 1), stored('1', 'a', 3)],
    counts(1, 0),
  );
  const kept = second.expected_target_rows;

  test('the set in force at its load time is known, though it is late', async () => {
    const again = step([row('1', 'a', 2), row('2', 'b', 2)], kept, counts(0, 1));
    expect(await difference('ma_satellite', config, stage, target, [first, second, again])).toBeNull();
  });

  test.each([
    ['a member less', [row('1', 'a', 2)]],
    ['another content', [row('1', 'a', 2), row('2', 'B', 2)]],
  ])('a late set stops the load: %s', async (_, late) => {
    const steps = [first, second, refused(late, kept, 'late_row')];
    expect(await difference('ma_satellite', config, stage, target, steps)).toBeNull();
  });

  test('late sets are left out by option', async () => {
    const steps = [first, second, step([row('1', 'x', 2)], kept, counts(0, 1))];
    const ignoring: CaseOptions = { ...config, out_of_order: 'ignore' };
    expect(await difference('ma_satellite', ignoring, stage, target, steps)).toBeNull();
  });

  test('another content at the newest stored load time stops the load', async () => {
    const steps = [first, second, refused([row('1', 'x', 3)], kept, 'same_timestamp_conflict')];
    expect(await difference('ma_satellite', config, stage, target, steps)).toBeNull();
  });
});

describe('effectivity satellite', () => {
  const config: CaseOptions = {
    keys: ['shop', 'order_no', 'clerk'],
    driving_key: ['shop', 'order_no'],
    secondary_key: ['clerk'],
    target_key: ['hk'],
    hash_key: { hk: ['shop', 'order_no', 'clerk'], shop_hk: ['shop'], order_hk: ['order_no'], clerk_hk: ['clerk'] },
    target_identity: ['hk', 'load_ts', 'end_ts'],
    auto_end_dating: true,
    start: 'start_ts',
    end: 'end_ts',
    open_end: null,
    ...technical,
    null_keys: 'skip',
  };
  const stage: NeutralColumns = { shop: 'string', order_no: 'string', clerk: 'string', ...vaultColumns };
  const target: NeutralColumns = {
    hk: 'hash',
    shop_hk: 'hash',
    order_hk: 'hash',
    clerk_hk: 'hash',
    start_ts: time,
    end_ts: time,
    ...vaultColumns,
  };
  const row = (shop: string, clerk: string, on: number): CaseRow => ({
    shop,
    order_no: 'O1',
    clerk,
    load_ts: day(on),
    record_source: 'POS',
  });
  const stored = (shop: string, clerk: string, from: number, to: number | null, on: number): CaseRow => ({
    hk: hash({ shop, order_no: 'O1', clerk }),
    shop_hk: hash({ shop }),
    order_hk: hash({ order_no: 'O1' }),
    clerk_hk: hash({ clerk }),
    start_ts: day(from),
    end_ts: to === null ? null : day(to),
    load_ts: day(on),
    record_source: 'POS',
  });
  const opened = [stored('N', 'Zoe', 1, null, 1), stored('S', 'Zoe', 1, null, 1)];
  const first = step([row('N', 'Zoe', 1), row('S', 'Zoe', 1)], opened, counts(2, 0));
  const changed = [...opened, stored('N', 'Wim', 3, null, 3), stored('N', 'Zoe', 1, 3, 3)];
  const second = step([row('N', 'Wim', 3)], changed, counts(2, 0));

  test('several hash keys may make up the driving key; the load time is the effective time where there is no other', async () => {
    expect(await difference('eff_satellite', config, stage, target, [first, second])).toBeNull();
  });

  test('an unknown relationship before the newest stored one of its driving key stops the load', async () => {
    const steps = [first, second, refused([row('N', 'Ada', 2)], changed, 'late_row')];
    expect(await difference('eff_satellite', config, stage, target, steps)).toBeNull();
  });
});

describe('status tracking satellite', () => {
  const config: CaseOptions = {
    keys: ['id'],
    target_key: ['hk'],
    hash_key: { hk: ['id'] },
    target_identity: ['hk', 'load_ts'],
    load: 'full',
    status_column: 'status',
    system_source: 'SYSTEM',
    current_values: ['A', 'D'],
    max_inactivation_pct: 50,
    ...technical,
    null_keys: 'skip',
  };
  const stage: NeutralColumns = { id: 'string', ...vaultColumns };
  const target: NeutralColumns = { hk: 'hash', status: 'string', ...vaultColumns };
  const rows = (on: number, ...ids: readonly string[]): readonly CaseRow[] =>
    ids.map((id) => ({ id, load_ts: day(on), record_source: 'CRM' }));
  const stored = (id: string, status: string, on: number): CaseRow => ({
    hk: hash({ id }),
    status,
    load_ts: day(on),
    record_source: status === 'A' ? 'CRM' : 'SYSTEM',
  });
  const begun = [stored('A', 'A', 1), stored('B', 'A', 1), stored('C', 'A', 1), stored('D', 'A', 1)];
  const first = step(rows(1, 'A', 'B', 'C', 'D'), begun, counts(4, 0, 0));

  test('half of the keys may vanish under a limit of 50 per cent', async () => {
    const gone = [...begun, stored('C', 'D', 2), stored('D', 'D', 2)];
    const steps = [first, step(rows(2, 'A', 'B'), gone, counts(2, 2, 2))];
    expect(await difference('status_tracking_satellite', config, stage, target, steps)).toBeNull();
  });

  test('more than the limit stop the load, in any of the loads that wait in the stage', async () => {
    const steps = [first, refused([...rows(2, 'A', 'B', 'C', 'D'), ...rows(3, 'A')], begun, 'inactivation_threshold')];
    expect(await difference('status_tracking_satellite', config, stage, target, steps)).toBeNull();
  });
});
