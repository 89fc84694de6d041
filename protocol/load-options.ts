import type { LoadOptions, PatternName } from './specification.ts';

/** What values an option takes; the command line, the JSON schema and the help text are made from it. */
export type OptionType =
  | { readonly kind: 'text' }
  | { readonly kind: 'text-or-null' }
  | { readonly kind: 'number' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'names' }
  /** Two texts: the current flag's values. */
  | { readonly kind: 'pair' }
  | { readonly kind: 'map-of-text' }
  | { readonly kind: 'map-of-names' }
  | { readonly kind: 'group'; readonly fields: Readonly<Record<string, OptionType>> };

export interface OptionDescription {
  readonly type: OptionType;
  readonly description: string;
  /** Patterns that know the option; null = all. */
  readonly patterns: readonly PatternName[] | null;
}

const text = { kind: 'text' } as const;
const number = { kind: 'number' } as const;
const boolean = { kind: 'boolean' } as const;
const names = { kind: 'names' } as const;
const mapOfText = { kind: 'map-of-text' } as const;
const mapOfNames = { kind: 'map-of-names' } as const;
const choice = (...values: readonly string[]): OptionType => ({ kind: 'choice', values });

const vault = [
  'satellite',
  'ma_satellite',
  'eff_satellite',
  'status_tracking_satellite',
  'record_tracking_satellite',
  'xts',
  'hub',
  'link',
  'nh_link',
  'ghost_records',
  'satellite_end_dating_view',
] as const satisfies readonly PatternName[];
const rebuilt = ['pit', 'bridge', 'hash', 'stage_null_keys'] as const satisfies readonly PatternName[];
const versions = [
  'scd2',
  'scd2_timestamp',
  'scd2_cdc',
  'scd2_day',
  'scd6',
  'inactivation',
] as const satisfies readonly PatternName[];
const compared = [
  ...versions,
  'scd0',
  'scd1',
  'scd3',
  'persistent_staging',
  'reference_table',
  'satellite',
] as const satisfies readonly PatternName[];
const feeds = ['scd1', 'scd2_cdc', 'persistent_staging'] as const satisfies readonly PatternName[];
const deletes = [
  'scd1',
  'scd2',
  'scd2_timestamp',
  'scd2_day',
  'inactivation',
  'persistent_staging',
  'status_tracking_satellite',
] as const satisfies readonly PatternName[];

/** Every option of a load, in the order in which help lists them. */
export const loadOptions: Readonly<Record<keyof LoadOptions, OptionDescription>> = {
  keys: { type: names, description: 'Stage columns that identify a row.', patterns: null },
  target_key: { type: names, description: 'Target columns that hold the key.', patterns: null },
  target_identity: { type: names, description: 'Target columns that identify a stored row.', patterns: null },
  not_null: { type: names, description: 'Stage columns that must be present (default: keys).', patterns: null },
  mapping: { type: mapOfText, description: 'Target column → stage column, where names do not agree.', patterns: null },
  parameters: { type: mapOfText, description: 'Target column → load parameter that fills it.', patterns: null },
  accept_narrowing: {
    type: names,
    description: 'Target columns that may be narrower than their stage columns.',
    patterns: null,
  },
  procedure: {
    type: text,
    description: 'Name of the procedure, without its schema (default: Load_ and the target table).',
    patterns: null,
  },
  load: { type: choice('full', 'delta', 'partition', 'cdc'), description: 'What the stage holds.', patterns: null },
  null_keys: {
    type: choice('skip', 'fail', 'insert', 'match', 'map'),
    description: 'What happens to rows with a missing key.',
    patterns: null,
  },
  null_key_map: { type: mapOfText, description: 'Stand-in values for missing keys (null_keys: map).', patterns: null },
  duplicates: {
    type: choice('fail', 'collapse_identical', 'keep_if_changed'),
    description: 'What happens to several stage rows of one key.',
    patterns: null,
  },
  key_compare: { type: choice('exact', 'trim', 'ci'), description: 'How keys are compared.', patterns: null },
  hash_key: {
    type: mapOfNames,
    description: 'Target hash key → stage columns, or parameters marked by @.',
    patterns: [...vault, ...rebuilt],
  },
  hashdiff: { type: mapOfNames, description: 'Target hashdiff → stage columns.', patterns: [...vault, ...versions] },
  hash_columns: { type: mapOfNames, description: 'Target hash column → stage columns.', patterns: ['hash'] },
  hash_role: { type: choice('hash_key', 'hashdiff'), description: 'Rules of the hash columns.', patterns: ['hash'] },
  hash_rules: {
    type: {
      kind: 'group',
      fields: {
        preset: choice('default', 'legacy-concat', 'automate-dv', 'datavault4dbt', 'binary-checksum'),
        algorithm: choice('sha256', 'sha1', 'md5'),
        delimiter: text,
        null_token: text,
        trim: boolean,
        case: choice('upper', 'as_is', 'upper_keys_only'),
        empty_as_null: boolean,
        column_order: choice('declared', 'alphabetical'),
        escape: boolean,
        trailing_nulls: choice('kept', 'dropped'),
        prefix: text,
      },
    },
    description: 'How hash texts are built.',
    patterns: [...vault, ...rebuilt, ...versions],
  },
  load_ts: { type: text, description: 'Target column of the load date.', patterns: [...vault, 'persistent_staging'] },
  record_source: { type: text, description: 'Target column of the record source.', patterns: vault },
  system_source: {
    type: text,
    description: 'Record source of rows that the load invents.',
    patterns: ['status_tracking_satellite'],
  },
  hwm: { type: boolean, description: 'Read only rows later than the newest stored load date.', patterns: vault },
  ghost_load_ts: {
    type: text,
    description: 'Load date of ghost rows, left out of the high-water mark.',
    patterns: vault,
  },
  idempotent_rerun: {
    type: boolean,
    description: 'Rows at or before the newest stored load date of their key are known.',
    patterns: ['satellite', 'ma_satellite'],
  },
  same_ts_conflict: {
    type: choice('insert_all', 'fail'),
    description: 'Two contents of one key at one load date.',
    patterns: ['satellite'],
  },
  out_of_order: {
    type: choice('repair', 'latest_wins', 'timeline_check', 'ignore', 'fail'),
    description: 'What happens to late rows.',
    patterns: ['satellite', 'ma_satellite', 'scd1', 'scd2_cdc'],
  },
  tie_break: {
    type: names,
    description: 'Which of several first sightings is stored.',
    patterns: ['hub', 'link', 'nh_link'],
  },
  insert_only: {
    type: boolean,
    description: 'The load may only add rows.',
    patterns: [...vault, 'reference_table', 'persistent_staging'],
  },
  ghost: {
    type: {
      kind: 'group',
      fields: {
        enabled: boolean,
        style: choice('unknown_and_error'),
        load_ts: text,
        error_load_ts: text,
        record_source: text,
        error_record_source: text,
      },
    },
    description: 'Ghost records.',
    patterns: ['ghost_records', 'hub', 'satellite', 'pit'],
  },
  cdk: { type: names, description: 'Dependent child key.', patterns: ['ma_satellite'] },
  driving_key: { type: names, description: 'Key that drives the relationship.', patterns: ['eff_satellite'] },
  secondary_key: { type: names, description: 'The other keys of the relationship.', patterns: ['eff_satellite'] },
  auto_end_dating: { type: boolean, description: 'Close the former relationship.', patterns: ['eff_satellite'] },
  effective_from: { type: text, description: 'Stage column of the effective time.', patterns: ['eff_satellite'] },
  start: { type: text, description: 'Target column of the relationship’s start.', patterns: ['eff_satellite'] },
  end: { type: text, description: 'Target column of the relationship’s end.', patterns: ['eff_satellite'] },
  status_column: {
    type: text,
    description: 'Target column that says whether the key was there.',
    patterns: ['status_tracking_satellite'],
  },
  satellites: { type: mapOfNames, description: 'Satellite → its columns.', patterns: ['xts', 'pit'] },
  as_of: { type: text, description: 'Date column of the snapshot.', patterns: ['pit', 'bridge'] },
  end_offset: {
    type: text,
    description: 'Virtual end before the next start: 0 or 1 microsecond.',
    patterns: ['satellite_end_dating_view'],
  },
  kind: {
    type: choice('hash', 'stage', 'view', 'rebuild'),
    description: 'Kind of a pattern that is no incremental load.',
    patterns: [...rebuilt, 'satellite_end_dating_view'],
  },
  required: { type: mapOfText, description: 'Key column → value that replaces NULL.', patterns: ['stage_null_keys'] },
  optional: {
    type: mapOfText,
    description: 'Optional key column → value that replaces NULL.',
    patterns: ['stage_null_keys'],
  },
  keep_original_suffix: {
    type: text,
    description: 'Suffix of columns that keep the staged value.',
    patterns: ['stage_null_keys'],
  },
  strategy: {
    type: choice('check', 'timestamp', 'type0', 'type1', 'type1_cdc', 'type3', 'type6', 'logical_delete_row'),
    description: 'How changes are found.',
    patterns: [...compared, 'status_tracking_satellite'],
  },
  compare: { type: names, description: 'Tracked columns.', patterns: compared },
  untracked: {
    type: names,
    description: 'Columns whose changes open no version; for satellites: stage columns that are left out knowingly.',
    patterns: compared,
  },
  untracked_mode: {
    type: choice('keep_old', 'update_current'),
    description: 'What happens to untracked columns.',
    patterns: compared,
  },
  compare_mode: {
    type: choice('exact', 'ci', 'trim'),
    description: 'How tracked texts are compared.',
    patterns: compared,
  },
  empty_as_null: { type: boolean, description: 'An empty text counts as NULL.', patterns: compared },
  valid_from: { type: text, description: 'Target column of a version’s start.', patterns: versions },
  valid_to: {
    type: text,
    description: 'Target column of a version’s end.',
    patterns: [...versions, 'satellite_end_dating_view'],
  },
  valid_from_source: {
    type: text,
    description: '`now` or the stage column that starts a version.',
    patterns: versions,
  },
  open_end: {
    type: { kind: 'text-or-null' },
    description: 'End of open versions; null or a constant.',
    patterns: [...versions, 'eff_satellite', 'bridge', 'satellite_end_dating_view'],
  },
  initial_valid_from: { type: text, description: 'Start of each key’s first version.', patterns: versions },
  initial_valid_from_scope: {
    type: choice('first_load'),
    description: 'Only in the load that fills an empty table.',
    patterns: versions,
  },
  time_type: { type: choice('date'), description: 'Validity columns are dates.', patterns: versions },
  grain: { type: choice('load', 'day'), description: 'One version per load or per day.', patterns: versions },
  closing: {
    type: choice('half-open', 'minus-1-day', 'minus-3-ms', 'minus-unit'),
    description: 'Where a closed version ends.',
    patterns: versions,
  },
  is_current: {
    type: text,
    description: 'Target column of the current flag.',
    patterns: [...versions, 'satellite_end_dating_view'],
  },
  current_values: {
    type: { kind: 'pair' },
    description: 'Values of the current flag: current, not current.',
    patterns: versions,
  },
  inactive_at: {
    type: text,
    description: 'Target column of the day on which a key was found absent.',
    patterns: versions,
  },
  inserted_at: { type: text, description: 'Target column of the time a row was stored.', patterns: null },
  updated_at: { type: text, description: 'Stage column of a row’s last change.', patterns: ['scd2_timestamp'] },
  revive_start: { type: text, description: 'Start of a returning key’s version.', patterns: ['scd2_timestamp'] },
  deleted_flag: { type: text, description: 'Target column that marks deleted keys.', patterns: deletes },
  deleted_at: { type: text, description: 'Target column of the time of deletion.', patterns: deletes },
  changed_at: { type: text, description: 'Target column of the last change.', patterns: ['scd3'] },
  hard_deletes: {
    type: choice('ignore', 'invalidate', 'new_record', 'flag', 'physical'),
    description: 'What happens to absent keys.',
    patterns: deletes,
  },
  scope: { type: names, description: 'Columns inside which absence is judged.', patterns: deletes },
  scope_values: {
    type: mapOfNames,
    description: 'Values of the scope columns that this run covers.',
    patterns: deletes,
  },
  detection_source: { type: choice('key_list'), description: 'Where existence is read from.', patterns: deletes },
  on_empty_stage: {
    type: choice('skip', 'apply', 'fail'),
    description: 'What an empty stage means.',
    patterns: deletes,
  },
  max_inactivation_pct: {
    type: number,
    description: 'Highest share of keys that one run may inactivate, in per cent.',
    patterns: deletes,
  },
  with_load: {
    type: boolean,
    description: 'Also run the type 2 load, with one clock and in one transaction.',
    patterns: ['inactivation'],
  },
  on_new_column: {
    type: choice('new_version', 'backfill_current'),
    description: 'What a new stage column does.',
    patterns: versions,
  },
  on_missing_column: { type: choice('ignore'), description: 'What a missing stage column does.', patterns: versions },
  new_columns: { type: names, description: 'Staged columns that earlier loads did not have.', patterns: versions },
  sequence_by: { type: text, description: 'Stage column that orders events.', patterns: feeds },
  op_column: { type: text, description: 'Column of the operation code.', patterns: feeds },
  delete_values: {
    type: names,
    description: "Operation codes of deletes, each as it is spelled: the column's collation compares them.",
    patterns: feeds,
  },
  truncate_values: {
    type: names,
    description: "Operation codes of truncates, each as it is spelled: the column's collation compares them.",
    patterns: feeds,
  },
  null_sequence: { type: choice('fail'), description: 'What an event without a sequence does.', patterns: feeds },
  same_sequence_conflict: {
    type: choice('fail'),
    description: 'Two contents of one key at one sequence.',
    patterns: feeds,
  },
  repeated_value: {
    type: choice('keep_first_start'),
    description: 'What an event without a change does.',
    patterns: feeds,
  },
  ignore_null_updates: { type: boolean, description: 'NULL in an update keeps the old value.', patterns: feeds },
  op_derived: { type: boolean, description: 'The load finds the operation itself.', patterns: ['persistent_staging'] },
  insert_op: { type: text, description: 'Code of inserts.', patterns: ['persistent_staging'] },
  update_op: { type: text, description: 'Code of updates.', patterns: ['persistent_staging'] },
  delete_op: {
    type: text,
    description: "Code of deletes; a staged one is compared by the column's collation.",
    patterns: ['persistent_staging'],
  },
  order_within_batch: {
    type: names,
    description: 'Order of several rows of one key.',
    patterns: ['persistent_staging'],
  },
  previous: { type: mapOfText, description: 'Tracked column → column of the value before.', patterns: ['scd3'] },
  current_columns: {
    type: mapOfText,
    description: 'Tracked column → column of the current value.',
    patterns: ['scd6'],
  },
  type1: { type: names, description: 'Columns that are overwritten.', patterns: ['scd6', 'scd2'] },
  type1_scope: {
    type: choice('current', 'all'),
    description: 'Versions in which type 1 columns are overwritten.',
    patterns: ['scd6', 'scd2'],
  },
  type0_fill_null_once: { type: boolean, description: 'A first NULL may be filled once.', patterns: ['scd0'] },
};

/** The options that a pattern knows, in the order of help. */
export function optionsOfPattern(pattern: PatternName): readonly (readonly [string, OptionDescription])[] {
  return Object.entries(loadOptions).filter(
    ([, option]) => option.patterns === null || option.patterns.includes(pattern),
  );
}

/** What is wrong with a value, as the end of a sentence ("expects …"); null when nothing is. */
function optionMismatch(value: unknown, type: OptionType): string | null {
  switch (type.kind) {
    case 'text':
      return typeof value === 'string' ? null : 'a text';
    case 'text-or-null':
      return value === null || typeof value === 'string' ? null : 'a text or null';
    case 'number':
      return typeof value === 'number' ? null : 'a number';
    case 'boolean':
      return typeof value === 'boolean' ? null : 'true or false';
    case 'choice':
      return typeof value === 'string' && type.values.includes(value) ? null : `one of ${type.values.join(', ')}`;
    case 'names':
      return isNames(value) ? null : `a list of names, as in ${asNames(value)}`;
    case 'pair':
      return isNames(value) && value.length === 2 ? null : 'two texts: current and not current';
    case 'map-of-text':
      return isRecord(value) && Object.values(value).every((item) => typeof item === 'string')
        ? null
        : 'an object of texts';
    case 'map-of-names':
      return isRecord(value) && Object.values(value).every((item) => isNames(item))
        ? null
        : 'an object of lists of names';
    case 'group': {
      if (!isRecord(value)) return 'an object';
      for (const [name, item] of Object.entries(value)) {
        const field = type.fields[name];
        if (field === undefined) return `only ${Object.keys(type.fields).join(', ')} in it`;
        const mismatch = optionMismatch(item, field);
        if (mismatch !== null) return `${mismatch} for "${name}"`;
      }
      return null;
    }
  }
}

/** Options whose names and values are right, with a sentence for each that is not. */
export function checkOptions(values: Readonly<Record<string, unknown>>): {
  readonly options: LoadOptions;
  readonly complaints: readonly string[];
} {
  const complaints: string[] = [];
  const known: Readonly<Record<string, OptionDescription>> = loadOptions;
  const right = Object.entries(values).filter(([name, value]) => {
    const option = known[name];
    if (option === undefined) {
      complaints.push(`there is no option "${name}"; "mergewright generate PATTERN --help" lists them.`);
      return false;
    }
    const mismatch = optionMismatch(value, option.type);
    if (mismatch !== null) complaints.push(`option "${name}" expects ${mismatch}.`);
    return mismatch === null;
  });
  return { options: Object.fromEntries(right), complaints };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The list that a text without brackets most likely means. */
function asNames(value: unknown): string {
  const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : ['name'];
  return JSON.stringify(names);
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
