/** Patterns and their variants for exhaustive histories: options, tables, and how a delivery becomes a staged row. */
import type { CaseOptions, CaseRow, NeutralColumns } from '../../cli/src/conformance/format.ts';
import type { PatternName } from '../../protocol/specification.ts';

/** A pattern with its options, and how a delivery becomes a staged row. */
export interface Variant {
  readonly id: string;
  readonly pattern: PatternName;
  readonly config: CaseOptions;
  readonly stage: NeutralColumns;
  readonly target: NeutralColumns;
  readonly row: (key: string, values: readonly (string | null)[], now: string) => CaseRow;
}

export const days = ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-04', '2024-01-05'].map(
  (day) => `${day} 06:00:00`,
);
/** The second and third load fall on one day. */
export const daysWithRepeat = [
  '2024-03-01 06:00:00',
  '2024-03-02 06:00:00',
  '2024-03-02 18:00:00',
  '2024-03-03 06:00:00',
  '2024-03-05 06:00:00',
];

export const satelliteOptions: CaseOptions = {
  keys: ['id'],
  target_key: ['hk'],
  hash_key: { hk: ['id'] },
  hashdiff: { hashdiff: ['name'] },
  target_identity: ['hk', 'load_ts', 'hashdiff'],
  load_ts: 'load_ts',
  record_source: 'record_source',
  load: 'delta',
  null_keys: 'skip',
  duplicates: 'collapse_identical',
  same_ts_conflict: 'fail',
  hash_rules: { escape: true },
};
export const satelliteTables = {
  stage: { id: 'string', name: 'string', load_ts: 'timestamp(6)', record_source: 'string' },
  target: { hk: 'hash', hashdiff: 'hash', name: 'string', load_ts: 'timestamp(6)', record_source: 'string' },
  row: (id: string, [name = null]: readonly (string | null)[], now: string): CaseRow => ({
    id,
    name,
    load_ts: now,
    record_source: 'SRC',
  }),
};

export const typeOneTables = {
  stage: { id: 'string', name: 'string' },
  target: { id: 'string', name: 'string' },
  row: (id: string, [name = null]: readonly (string | null)[]): CaseRow => ({ id, name }),
};
const flaggedTables = {
  ...typeOneTables,
  target: { id: 'string', name: 'string', is_deleted: 'boolean', deleted_at: 'timestamp(6)' },
};
const typeTwoTables = {
  ...typeOneTables,
  target: { id: 'string', name: 'string', valid_from: 'timestamp(6)', valid_to: 'timestamp(6)', is_current: 'boolean' },
};
const tombstoneTables = {
  ...typeOneTables,
  target: { ...typeTwoTables.target, is_deleted: 'boolean', deleted_at: 'timestamp(6)' },
};
const dayTables = {
  ...typeOneTables,
  target: {
    id: 'string',
    name: 'string',
    source_inactive: 'timestamp(6)',
    eff_start: 'timestamp(6)',
    eff_end: 'timestamp(6)',
    current_yn: 'string',
  },
};

export const typeOneOptions: CaseOptions = {
  keys: ['id'],
  target_key: ['id'],
  target_identity: ['id'],
  strategy: 'type1',
  compare: ['name'],
  compare_mode: 'exact',
  load: 'delta',
  null_keys: 'skip',
  duplicates: 'fail',
};
const typeTwoOptions: CaseOptions = {
  ...typeOneOptions,
  target_identity: ['id', 'valid_from'],
  strategy: 'check',
  valid_from: 'valid_from',
  valid_to: 'valid_to',
  valid_from_source: 'now',
  is_current: 'is_current',
  open_end: null,
};
const absenceOptions: CaseOptions = { ...typeTwoOptions, load: 'full', on_empty_stage: 'skip', key_compare: 'exact' };
const dayOptions: CaseOptions = {
  keys: ['id'],
  target_key: ['id'],
  target_identity: ['id', 'eff_start'],
  strategy: 'check',
  compare: ['name'],
  compare_mode: 'exact',
  valid_from: 'eff_start',
  valid_to: 'eff_end',
  valid_from_source: 'now',
  initial_valid_from: '1900-01-01 00:00:00',
  open_end: '4000-01-01 00:00:00',
  is_current: 'current_yn',
  current_values: ['Y', 'N'],
  inactive_at: 'source_inactive',
  grain: 'day',
  closing: 'minus-3-ms',
  hard_deletes: 'new_record',
  load: 'full',
  on_empty_stage: 'skip',
  null_keys: 'skip',
  duplicates: 'fail',
  key_compare: 'exact',
};
const logOptions: CaseOptions = {
  keys: ['id'],
  target_key: ['id'],
  target_identity: ['id', 'load_ts', 'row_no'],
  compare: ['name'],
  op_column: 'op',
  load_ts: 'load_ts',
  load: 'delta',
  order_within_batch: ['row_no'],
  null_keys: 'skip',
  duplicates: 'keep_if_changed',
  compare_mode: 'exact',
  insert_only: true,
};
const logTarget = { id: 'string', name: 'string', op: 'string', load_ts: 'timestamp(6)', row_no: 'int' };
const effectivityOptions: CaseOptions = {
  keys: ['order_no', 'clerk'],
  driving_key: ['order_no'],
  secondary_key: ['clerk'],
  target_key: ['link_hk'],
  hash_key: { link_hk: ['order_no', 'clerk'], order_hk: ['order_no'], clerk_hk: ['clerk'] },
  target_identity: ['link_hk', 'load_ts', 'end_ts'],
  auto_end_dating: true,
  effective_from: 'eff_from',
  start: 'start_ts',
  end: 'end_ts',
  open_end: '9999-12-31 00:00:00',
  load_ts: 'load_ts',
  record_source: 'record_source',
  load: 'delta',
  null_keys: 'skip',
  not_null: ['order_no', 'clerk'],
  duplicates: 'collapse_identical',
  insert_only: true,
  hash_rules: { escape: true },
};

const statusOptions: CaseOptions = {
  keys: ['id'],
  target_key: ['hk'],
  hash_key: { hk: ['id'] },
  target_identity: ['hk', 'load_ts'],
  load: 'full',
  on_empty_stage: 'skip',
  load_ts: 'load_ts',
  record_source: 'record_source',
  system_source: 'SYSTEM',
  null_keys: 'skip',
  hash_rules: { escape: true },
};

export const variants: readonly Variant[] = [
  { id: 'satellite', pattern: 'satellite', config: satelliteOptions, ...satelliteTables },
  {
    id: 'satellite trimmed and folded',
    pattern: 'satellite',
    config: { ...satelliteOptions, hash_rules: { trim: true, case: 'upper', empty_as_null: true } },
    ...satelliteTables,
  },
  { id: 'scd1', pattern: 'scd1', config: typeOneOptions, ...typeOneTables },
  { id: 'scd1 ci', pattern: 'scd1', config: { ...typeOneOptions, compare_mode: 'ci' }, ...typeOneTables },
  { id: 'scd2', pattern: 'scd2', config: typeTwoOptions, ...typeTwoTables },
  {
    id: 'scd2 far end, folded',
    pattern: 'scd2',
    config: { ...typeTwoOptions, open_end: '9999-12-31 00:00:00', compare_mode: 'ci', empty_as_null: true },
    ...typeTwoTables,
  },
  {
    id: 'inactivation ignore',
    pattern: 'inactivation',
    config: { ...absenceOptions, hard_deletes: 'ignore' },
    ...typeTwoTables,
  },
  {
    id: 'inactivation invalidate',
    pattern: 'inactivation',
    config: { ...absenceOptions, hard_deletes: 'invalidate' },
    ...typeTwoTables,
  },
  {
    id: 'inactivation new_record',
    pattern: 'inactivation',
    config: { ...absenceOptions, hard_deletes: 'new_record', deleted_flag: 'is_deleted', deleted_at: 'deleted_at' },
    ...tombstoneTables,
  },
  {
    id: 'inactivation flag on type 2',
    pattern: 'inactivation',
    config: { ...absenceOptions, hard_deletes: 'flag', deleted_flag: 'is_deleted', deleted_at: 'deleted_at' },
    ...tombstoneTables,
  },
  {
    id: 'inactivation flag on type 1',
    pattern: 'inactivation',
    config: {
      ...typeOneOptions,
      load: 'full',
      on_empty_stage: 'skip',
      key_compare: 'exact',
      hard_deletes: 'flag',
      deleted_flag: 'is_deleted',
      deleted_at: 'deleted_at',
    },
    ...flaggedTables,
  },
  {
    id: 'inactivation physical on type 1',
    pattern: 'inactivation',
    config: { ...typeOneOptions, load: 'full', on_empty_stage: 'skip', key_compare: 'exact', hard_deletes: 'physical' },
    ...typeOneTables,
  },
  { id: 'scd2_day', pattern: 'scd2_day', config: dayOptions, ...dayTables },
  { id: 'scd2_day half-open', pattern: 'scd2_day', config: { ...dayOptions, closing: 'half-open' }, ...dayTables },
  {
    id: 'scd2_day without deletes',
    pattern: 'scd2_day',
    config: { ...dayOptions, hard_deletes: 'ignore', load: 'delta' },
    ...dayTables,
  },
  {
    id: 'persistent staging of a change feed',
    pattern: 'persistent_staging',
    config: logOptions,
    stage: { id: 'string', name: 'string', op: 'string', row_no: 'int' },
    target: logTarget,
    row: (id, [name = null]) => ({ id, name, op: name === 'b' ? 'D' : 'U', row_no: Number(id.slice(1)) + 1 }),
  },
  {
    id: 'persistent staging of full extracts',
    pattern: 'persistent_staging',
    config: {
      ...logOptions,
      load: 'full',
      on_empty_stage: 'skip',
      op_derived: true,
      insert_op: 'I',
      update_op: 'U',
      delete_op: 'D',
    },
    stage: { id: 'string', name: 'string', row_no: 'int' },
    target: logTarget,
    row: (id, [name = null]) => ({ id, name, row_no: Number(id.slice(1)) + 1 }),
  },
  {
    id: 'scd0 fill once',
    pattern: 'scd0',
    config: { ...typeOneOptions, strategy: 'type0', type0_fill_null_once: true },
    ...typeOneTables,
  },
  {
    id: 'scd3',
    pattern: 'scd3',
    config: { ...typeOneOptions, strategy: 'type3', previous: { name: 'former' }, changed_at: 'changed_at' },
    ...typeOneTables,
    target: { id: 'string', name: 'string', former: 'string', changed_at: 'timestamp(6)' },
  },
  {
    id: 'scd6',
    pattern: 'scd6',
    config: { ...typeTwoOptions, strategy: 'type6', current_columns: { name: 'current_name' }, type1: ['label'] },
    stage: { id: 'string', name: 'string', label: 'string' },
    target: { ...typeTwoTables.target, current_name: 'string', label: 'string' },
    row: (id, [name = null], now) => ({ id, name, label: now < (days[2] ?? '') ? 'early' : name }),
  },
  {
    id: 'status tracking',
    pattern: 'status_tracking_satellite',
    config: { ...statusOptions, status_column: 'is_active' },
    ...satelliteTables,
    target: { hk: 'hash', is_active: 'int', load_ts: 'timestamp(6)', record_source: 'string' },
  },
  {
    id: 'logical delete rows',
    pattern: 'status_tracking_satellite',
    config: {
      ...statusOptions,
      strategy: 'logical_delete_row',
      hashdiff: { hashdiff: ['name'] },
      deleted_flag: 'is_deleted',
    },
    ...satelliteTables,
    target: { ...satelliteTables.target, is_deleted: 'boolean' },
  },
  {
    id: 'eff_satellite',
    pattern: 'eff_satellite',
    config: effectivityOptions,
    stage: {
      order_no: 'string',
      clerk: 'string',
      eff_from: 'timestamp(6)',
      load_ts: 'timestamp(6)',
      record_source: 'string',
    },
    target: {
      link_hk: 'hash',
      order_hk: 'hash',
      clerk_hk: 'hash',
      start_ts: 'timestamp(6)',
      end_ts: 'timestamp(6)',
      eff_from: 'timestamp(6)',
      load_ts: 'timestamp(6)',
      record_source: 'string',
    },
    row: (id, [clerk = null], now) => ({ order_no: id, clerk, eff_from: now, load_ts: now, record_source: 'SRC' }),
  },
];
