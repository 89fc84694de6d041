/** Patterns, their options and technical columns for random loads. */
import type { CaseOptions, CaseRow, NeutralColumns } from '../../cli/src/conformance/format.ts';
import type { PatternName } from '../../protocol/specification.ts';
import type { Random } from '../support/random.ts';

/** Key columns and attributes, name → neutral type. */
export interface Schema {
  readonly keys: NeutralColumns;
  readonly attributes: NeutralColumns;
}

/** What a pattern needs besides keys and attributes, and its options. */
export interface PatternDraft {
  readonly pattern: PatternName;
  readonly config: (schema: Schema, random: Random) => CaseOptions;
  /** Technical columns of the stage, then of the target. */
  readonly staged: NeutralColumns;
  readonly stored: NeutralColumns;
  readonly technical: (now: string, row: number) => CaseRow;
  /** Faults whose outcome the definitions fix. */
  readonly faults: readonly Fault[];
}

/** At most one kind of fault a run, so that there is one reason to refuse it. */
export type Fault = 'none' | 'null key' | 'repeated row' | 'repeated key';
const allFaults: readonly Fault[] = ['none', 'none', 'null key', 'repeated row', 'repeated key'];

const validity: NeutralColumns = { valid_from: 'timestamp(6)', valid_to: 'timestamp(6)' };

export const randomPatterns: readonly PatternDraft[] = [
  {
    pattern: 'satellite',
    config: ({ keys, attributes }, random) => ({
      keys: Object.keys(keys),
      target_key: ['hk'],
      hash_key: { hk: Object.keys(keys) },
      hashdiff: { hashdiff: Object.keys(attributes) },
      target_identity: ['hk', 'load_ts', 'hashdiff'],
      load_ts: 'load_ts',
      load: 'delta',
      null_keys: 'skip',
      duplicates: 'collapse_identical',
      same_ts_conflict: 'fail',
      hwm: random.chance(0.2),
      idempotent_rerun: random.chance(0.3),
      hash_rules: {
        escape: true,
        column_order: random.oneOf(['declared', 'alphabetical'] as const),
      },
    }),
    staged: { load_ts: 'timestamp(6)' },
    stored: { hk: 'hash', hashdiff: 'hash', load_ts: 'timestamp(6)' },
    technical: (now) => ({ load_ts: now }),
    faults: allFaults,
  },
  {
    pattern: 'hub',
    config: ({ keys }) => ({
      keys: Object.keys(keys),
      target_key: ['hk'],
      hash_key: { hk: Object.keys(keys) },
      target_identity: ['hk'],
      load_ts: 'load_ts',
      load: 'delta',
      null_keys: 'skip',
      insert_only: true,
      tie_break: ['load_ts'],
      hash_rules: { escape: true },
    }),
    staged: { load_ts: 'timestamp(6)' },
    stored: { hk: 'hash', load_ts: 'timestamp(6)' },
    technical: (now) => ({ load_ts: now }),
    // Which of two first sightings of one load time is stored is left open.
    faults: ['none', 'null key', 'repeated row'],
  },
  {
    pattern: 'scd1',
    config: ({ keys, attributes }, random) => ({
      ...typeOne(keys, attributes, random),
      strategy: 'type1',
      null_keys: random.oneOf(['skip', 'match'] as const),
    }),
    staged: {},
    stored: {},
    technical: () => ({}),
    faults: allFaults,
  },
  {
    pattern: 'scd2',
    config: ({ keys, attributes }, random) => {
      const columns = Object.keys(attributes);
      const tracked = columns.slice(0, 1 + random.below(columns.length));
      return {
        ...typeOne(keys, attributes, random),
        ...typeTwo(keys, random),
        compare: tracked,
        untracked: columns.slice(tracked.length),
        untracked_mode: random.oneOf(['keep_old', 'update_current'] as const),
        ...random.oneOf([
          {},
          { initial_valid_from: '1900-01-01 00:00:00' },
          { initial_valid_from: '1900-01-01 00:00:00', initial_valid_from_scope: 'first_load' as const },
        ]),
        null_keys: random.oneOf(['skip', 'fail'] as const),
      };
    },
    staged: {},
    stored: validity,
    technical: () => ({}),
    faults: allFaults,
  },
  {
    pattern: 'inactivation',
    config: ({ keys, attributes }, random) => ({
      ...typeOne(keys, attributes, random),
      ...typeTwo(keys, random),
      ...random.oneOf([
        { load: 'full' as const },
        { load: 'partition' as const, scope: Object.keys(keys).slice(0, 1) },
      ]),
      on_empty_stage: random.oneOf(['skip', 'apply', 'fail'] as const),
      hard_deletes: random.oneOf(['ignore', 'invalidate', 'new_record'] as const),
      deleted_flag: 'is_deleted',
      max_inactivation_pct: random.oneOf([30, 100]),
      null_keys: 'skip',
      key_compare: 'exact',
    }),
    staged: {},
    stored: { ...validity, is_deleted: 'boolean' },
    technical: () => ({}),
    faults: allFaults,
  },
  {
    pattern: 'persistent_staging',
    config: ({ keys, attributes }) => ({
      keys: Object.keys(keys),
      target_key: Object.keys(keys),
      target_identity: [...Object.keys(keys), 'load_ts', 'row_no'],
      compare: Object.keys(attributes),
      compare_mode: 'exact',
      op_column: 'op',
      op_derived: true,
      insert_op: 'I',
      update_op: 'U',
      delete_op: 'D',
      load: 'full',
      on_empty_stage: 'skip',
      load_ts: 'load_ts',
      order_within_batch: ['row_no'],
      null_keys: 'skip',
      duplicates: 'keep_if_changed',
      insert_only: true,
    }),
    staged: { row_no: 'int' },
    stored: { op: 'string', load_ts: 'timestamp(6)', row_no: 'int' },
    technical: (_now, row) => ({ row_no: row + 1 }),
    faults: allFaults,
  },
];

function typeOne(keys: NeutralColumns, attributes: NeutralColumns, random: Random): CaseOptions {
  return {
    keys: Object.keys(keys),
    target_key: Object.keys(keys),
    target_identity: Object.keys(keys),
    compare: Object.keys(attributes),
    compare_mode: random.oneOf(['exact', 'trim'] as const),
    empty_as_null: random.chance(0.3),
    load: 'delta',
    duplicates: random.oneOf(['fail', 'collapse_identical'] as const),
  };
}

function typeTwo(keys: NeutralColumns, random: Random): Omit<CaseOptions, 'target_key'> {
  return {
    strategy: 'check',
    target_identity: [...Object.keys(keys), 'valid_from'],
    valid_from: 'valid_from',
    valid_to: 'valid_to',
    valid_from_source: 'now',
    open_end: random.oneOf([null, '9999-12-31 00:00:00']),
  };
}
