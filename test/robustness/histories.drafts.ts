/** The loads that exhaustive histories are run through: one draft case per pattern and variant. */
import type { CaseOptions, CaseRow, NeutralColumns } from '../../cli/src/conformance/format.ts';
import type { PatternName } from '../../protocol/specification.ts';
import { allHistories, type History, permutations, stageOf } from '../support/histories.ts';
import type { DraftCase } from '../support/oracle/draft.ts';
import {
  days,
  daysWithRepeat,
  satelliteOptions,
  satelliteTables,
  typeOneOptions,
  typeOneTables,
  type Variant,
  variants,
} from './histories.variants.ts';

/**
 * Every history of four loads of one attribute, and the fourth load once more. The batch time goes on, as it does when a
 * load is run again.
 */
export function singleAttributeDrafts(): readonly DraftCase[] {
  const histories = allHistories(4);
  return variants.map((variant) => {
    const times = variant.config.grain === 'day' ? daysWithRepeat : days;
    const stages = [0, 1, 2, 3].map((load) =>
      stageOf(histories, load, (key, values) => variant.row(key, values, times[load] ?? '')),
    );
    return draftOf(variant, [...stages, stages[3] ?? []], times);
  });
}

/** Every history of three loads of two attributes, for the patterns that compare columns one by one or by one digest. */
export function twoAttributeDrafts(): readonly DraftCase[] {
  const histories = allHistories(3, undefined, 2);
  const wide = (columns: NeutralColumns): NeutralColumns => ({ ...columns, city: 'string' });
  const chosen = [
    'satellite',
    'scd1',
    'scd2',
    'inactivation new_record',
    'scd2_day',
    'persistent staging of full extracts',
  ];
  return variants
    .filter(({ id }) => chosen.includes(id))
    .map((narrow): DraftCase => {
      const variant: Variant = {
        ...narrow,
        id: `${narrow.id}, two attributes`,
        stage: wide(narrow.stage),
        target: wide(narrow.target),
        config: {
          ...narrow.config,
          ...(narrow.config.hashdiff === undefined ? {} : { hashdiff: { hashdiff: ['name', 'city'] } }),
          ...(narrow.config.compare === undefined ? {} : { compare: ['name', 'city'] }),
        },
        row: (key, values, now) => ({ ...narrow.row(key, values, now), city: values[1] ?? null }),
      };
      const times = variant.config.grain === 'day' ? daysWithRepeat : days;
      const stages = [0, 1, 2].map((load) =>
        stageOf(histories, load, (key, values) => variant.row(key, values, times[load] ?? '')),
      );
      return draftOf(variant, stages, times);
    });
}

/**
 * Late rows: every history of four loads over two values, its load dates in every order, with the timeline check; and the
 * same rows in one delivery.
 */
export function lateRowDrafts(): readonly DraftCase[] {
  const orders = permutations(4);
  const histories = allHistories(4, ['a', 'b']).flatMap((history) => orders.map((order) => ({ history, order })));
  const variant: Variant = {
    id: 'satellite, late rows',
    pattern: 'satellite',
    config: { ...satelliteOptions, out_of_order: 'timeline_check' },
    ...satelliteTables,
  };
  const plain: readonly History[] = histories.map(({ history }) => history);
  const stages = [0, 1, 2, 3].map((load) =>
    stageOf(plain, load, (key, values, i) => variant.row(key, values, days[histories[i]?.order[load] ?? 0] ?? '')),
  );
  const lateDays = ['2024-02-01', '2024-02-02', '2024-02-03', '2024-02-04'].map((day) => `${day} 00:00:00`);
  return [
    draftOf(variant, stages, lateDays),
    draftOf(
      { ...variant, id: 'satellite, late rows in two deliveries' },
      [
        [...(stages[0] ?? []), ...(stages[1] ?? [])],
        [...(stages[2] ?? []), ...(stages[3] ?? [])],
      ],
      lateDays,
    ),
  ];
}

/** Change feeds: every history of deliveries over upserts and deletes, its sequences in every order. */
export function changeFeedDrafts(): readonly DraftCase[] {
  const feed: CaseOptions = {
    keys: ['id'],
    target_key: ['id'],
    target_identity: ['id', 'start_at'],
    sequence_by: 'seq',
    op_column: 'op',
    delete_values: ['D'],
    compare: ['name'],
    untracked: [],
    valid_from: 'start_at',
    valid_to: 'end_at',
    open_end: null,
    load: 'cdc',
    out_of_order: 'repair',
    null_keys: 'fail',
    null_sequence: 'fail',
    repeated_value: 'keep_first_start',
    same_sequence_conflict: 'fail',
  };
  const typeOneFeed: CaseOptions = {
    ...typeOneOptions,
    strategy: 'type1_cdc',
    hard_deletes: 'ignore',
    load: 'cdc',
    null_keys: 'fail',
    sequence_by: 'seq',
    op_column: 'op',
    delete_values: ['D'],
    out_of_order: 'latest_wins',
  };
  const stage: NeutralColumns = { id: 'string', name: 'string', op: 'string', seq: 'bigint' };
  const versions: NeutralColumns = { id: 'string', name: 'string', start_at: 'bigint', end_at: 'bigint' };
  const { target: single } = typeOneTables;
  return [
    feedDraft('scd2_cdc', 'scd2_cdc', feed, stage, versions, 4, ['D', 'a']),
    feedDraft('scd2_cdc with NULL states', 'scd2_cdc', feed, stage, versions, 3, ['D', 'a', 'A', null]),
    feedDraft('scd1 from a change feed', 'scd1', typeOneFeed, stage, single, 4, ['D', 'a']),
  ];
}

function feedDraft(
  id: string,
  pattern: PatternName,
  config: CaseOptions,
  stage: NeutralColumns,
  target: NeutralColumns,
  loads: number,
  values: readonly (string | null)[],
): DraftCase {
  const ordered = allHistories(loads, values).flatMap((history) =>
    permutations(loads).map((order) => ({ history, order })),
  );
  const histories = ordered.map(({ history }) => history);
  const steps = Array.from({ length: loads }, (_, load) => ({
    now: days[load] ?? '',
    stage: stageOf(histories, load, (key, [name = null], i) => ({
      id: key,
      name: name === 'D' ? null : name,
      op: name === 'D' ? 'D' : 'U',
      seq: 10 * ((ordered[i]?.order[load] ?? 0) + 1),
    })),
  }));
  // The last delivery comes again: everything in it is known.
  const again = steps.slice(-1).map((step) => ({ ...step, now: days[4] ?? '' }));
  return { id, pattern, config, tables: { stage: { ...stage }, target: { ...target } }, steps: [...steps, ...again] };
}

/** Multi-active satellites: every history of three sets over two members, each missing or with one of two contents. */
export function memberSetDrafts(): readonly DraftCase[] {
  const contents = [null, 'a', 'b'];
  const sets = contents.flatMap((x) => contents.map((y) => [x, y]));
  const histories = sets.flatMap((one) => sets.flatMap((two) => sets.map((three) => [one, two, three])));
  const stages = [0, 1, 2].map((load) =>
    histories.flatMap((history, i) =>
      (history[load] ?? []).flatMap((label, member): readonly CaseRow[] =>
        label === null
          ? []
          : [{ id: `K${i}`, phone: `${member}`, label, load_ts: days[load] ?? '', record_source: 'SRC' }],
      ),
    ),
  );
  return [
    {
      id: 'ma_satellite',
      pattern: 'ma_satellite',
      config: {
        keys: ['id'],
        target_key: ['hk'],
        hash_key: { hk: ['id'] },
        cdk: ['phone'],
        hashdiff: { hashdiff: ['label'] },
        target_identity: ['hk', 'load_ts', 'phone'],
        load_ts: 'load_ts',
        record_source: 'record_source',
        load: 'delta',
        not_null: ['id', 'phone'],
        null_keys: 'skip',
        duplicates: 'collapse_identical',
        hash_rules: { escape: true },
      },
      tables: {
        stage: { id: 'string', phone: 'string', label: 'string', load_ts: 'timestamp(6)', record_source: 'string' },
        target: {
          hk: 'hash',
          phone: 'string',
          hashdiff: 'hash',
          label: 'string',
          load_ts: 'timestamp(6)',
          record_source: 'string',
        },
      },
      steps: stages.map((stage, i) => ({ now: days[i] ?? '', stage })),
    },
  ];
}

function draftOf(variant: Variant, stages: readonly (readonly CaseRow[])[], times: readonly string[]): DraftCase {
  return {
    id: variant.id,
    pattern: variant.pattern,
    config: variant.config,
    tables: { stage: { ...variant.stage }, target: { ...variant.target } },
    steps: stages.map((stage, i) => ({ now: times[i] ?? '', stage })),
  };
}
