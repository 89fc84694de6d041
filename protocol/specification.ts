import type { TableName } from './catalog.ts';

/** Load patterns, by the file names of the conformance cases. */
export const patternNames = [
  'satellite',
  'ma_satellite',
  'eff_satellite',
  'status_tracking_satellite',
  'record_tracking_satellite',
  'xts',
  'hub',
  'link',
  'nh_link',
  'reference_table',
  'ghost_records',
  'pit',
  'bridge',
  'satellite_end_dating_view',
  'stage_null_keys',
  'hash',
  'scd0',
  'scd1',
  'scd2',
  'scd2_timestamp',
  'scd2_cdc',
  'scd2_day',
  'scd3',
  'scd6',
  'persistent_staging',
  'inactivation',
] as const;
export type PatternName = (typeof patternNames)[number];

export const formNames = ['script', 'procedure', 'dynamic-procedure', 'pyspark', 'scala', 'pipeline'] as const;
export type FormName = (typeof formNames)[number];

/** `separate` = UPDATE + INSERT in one transaction; `merge` = one MERGE. */
export type Shape = 'separate' | 'merge';

/** How hash texts are built (handbook, "Hash rule"). Absent fields take the preset's value. */
export interface HashRules {
  readonly preset?: 'default' | 'legacy-concat' | 'automate-dv' | 'datavault4dbt' | 'binary-checksum';
  readonly algorithm?: 'sha256' | 'sha1' | 'md5';
  readonly delimiter?: string;
  readonly null_token?: string;
  readonly trim?: boolean;
  readonly case?: 'upper' | 'as_is' | 'upper_keys_only';
  readonly empty_as_null?: boolean;
  readonly column_order?: 'declared' | 'alphabetical';
  readonly escape?: boolean;
  readonly trailing_nulls?: 'kept' | 'dropped';
  /** Literal text put before the values (preset `legacy-concat` uses `0` for hashdiffs). */
  readonly prefix?: string;
}

export interface GhostRules {
  readonly enabled?: boolean;
  readonly style?: 'unknown_and_error';
  readonly load_ts?: string;
  readonly error_load_ts?: string;
  readonly record_source?: string;
  readonly error_record_source?: string;
}

/**
 * Options of a load, under the names that `--set`, `mergewright.json` and the conformance cases use.
 * An absent option takes the pattern's default; a conformance run states every option itself.
 */
export interface LoadOptions {
  readonly keys?: readonly string[];
  readonly target_key?: readonly string[];
  readonly target_identity?: readonly string[];
  readonly not_null?: readonly string[];
  readonly kind?: 'hash' | 'stage' | 'view' | 'rebuild';
  readonly strategy?:
    | 'check'
    | 'timestamp'
    | 'type0'
    | 'type1'
    | 'type1_cdc'
    | 'type3'
    | 'type6'
    | 'logical_delete_row';
  readonly compare?: readonly string[];
  readonly untracked?: readonly string[];
  readonly untracked_mode?: 'keep_old' | 'update_current';
  readonly compare_mode?: 'exact' | 'ci' | 'trim';
  readonly empty_as_null?: boolean;
  readonly key_compare?: 'exact' | 'trim' | 'ci';
  readonly valid_from?: string;
  readonly valid_to?: string;
  readonly valid_from_source?: string;
  readonly open_end?: string | null;
  readonly initial_valid_from?: string;
  readonly initial_valid_from_scope?: 'first_load';
  readonly time_type?: 'date';
  readonly grain?: 'load' | 'day';
  readonly closing?: 'half-open' | 'minus-1-day' | 'minus-3-ms' | 'minus-unit';
  readonly current_values?: readonly [string, string];
  readonly inactive_at?: string;
  readonly inserted_at?: string;
  readonly updated_at?: string;
  readonly revive_start?: string;
  readonly is_current?: string;
  readonly deleted_flag?: string;
  readonly deleted_at?: string;
  readonly changed_at?: string;
  readonly status_column?: string;
  readonly hard_deletes?: 'ignore' | 'invalidate' | 'new_record' | 'flag' | 'physical';
  readonly load?: 'full' | 'delta' | 'partition' | 'cdc';
  readonly scope?: readonly string[];
  /** Values of the scope columns that this run covers (every combination); absent: the combinations in the stage. */
  readonly scope_values?: Readonly<Record<string, readonly (string | null)[]>>;
  readonly detection_source?: 'key_list';
  readonly on_empty_stage?: 'skip' | 'apply' | 'fail';
  readonly max_inactivation_pct?: number;
  readonly null_keys?: 'skip' | 'fail' | 'insert' | 'match' | 'map';
  readonly null_key_map?: Readonly<Record<string, string>>;
  readonly duplicates?: 'fail' | 'collapse_identical' | 'keep_if_changed';
  readonly on_new_column?: 'new_version' | 'backfill_current';
  readonly on_missing_column?: 'ignore';
  /** Staged columns that earlier loads did not have; what happens to them says `on_new_column`. */
  readonly new_columns?: readonly string[];
  readonly sequence_by?: string;
  readonly op_column?: string;
  readonly delete_values?: readonly string[];
  readonly truncate_values?: readonly string[];
  readonly out_of_order?: 'repair' | 'latest_wins' | 'timeline_check' | 'ignore' | 'fail';
  readonly null_sequence?: 'fail';
  readonly same_sequence_conflict?: 'fail';
  readonly repeated_value?: 'keep_first_start';
  readonly ignore_null_updates?: boolean;
  /** Target hash key → its inputs in order: stage columns, or a load parameter marked by `@` (`@SourceSystem`). */
  readonly hash_key?: Readonly<Record<string, readonly string[]>>;
  readonly hashdiff?: Readonly<Record<string, readonly string[]>>;
  readonly hash_columns?: Readonly<Record<string, readonly string[]>>;
  readonly hash_role?: 'hash_key' | 'hashdiff';
  readonly hash_rules?: HashRules;
  readonly load_ts?: string;
  readonly record_source?: string;
  readonly system_source?: string;
  readonly hwm?: boolean;
  readonly ghost_load_ts?: string;
  readonly idempotent_rerun?: boolean;
  readonly same_ts_conflict?: 'insert_all' | 'fail';
  readonly ghost?: GhostRules;
  readonly cdk?: readonly string[];
  readonly driving_key?: readonly string[];
  readonly secondary_key?: readonly string[];
  readonly auto_end_dating?: boolean;
  readonly effective_from?: string;
  readonly start?: string;
  readonly end?: string;
  readonly tie_break?: readonly string[];
  readonly satellites?: Readonly<Record<string, readonly string[]>>;
  readonly as_of?: string;
  readonly end_offset?: string;
  readonly required?: Readonly<Record<string, string>>;
  readonly optional?: Readonly<Record<string, string>>;
  readonly keep_original_suffix?: string;
  readonly previous?: Readonly<Record<string, string>>;
  readonly current_columns?: Readonly<Record<string, string>>;
  readonly type1?: readonly string[];
  readonly type1_scope?: 'current' | 'all';
  readonly type0_fill_null_once?: boolean;
  readonly op_derived?: boolean;
  readonly insert_op?: string;
  readonly update_op?: string;
  readonly delete_op?: string;
  readonly order_within_batch?: readonly string[];
  readonly insert_only?: boolean;
  /** `generate inactivation`: also run the type 2 load (with one clock, in one transaction). */
  readonly with_load?: boolean;
  /** Target columns into which values of a wider stage type may go; elsewhere a narrowing stops the generation. */
  readonly accept_narrowing?: readonly string[];
  /** Target column → stage column, where names alone do not match. */
  readonly mapping?: Readonly<Record<string, string>>;
  /** Target column → name of a load parameter that fills it (LoadProcess, RecordSource …). */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Name of the load's procedure, without its schema. */
  readonly procedure?: string;
}

/**
 * One load: what is read, what is written, how. Inferred from two DDLs and the conventions, shown before anything is
 * written, kept in `mergewright.json` where the user departs from what is inferred, and named in a script's header.
 */
export interface LoadSpecification {
  readonly version: 1;
  readonly pattern: PatternName;
  readonly source: TableName;
  readonly target: TableName;
  /** Further tables by role: `key_list`, `hub`, `link`, a satellite's name … */
  readonly extra?: Readonly<Record<string, TableName>>;
  /** `sqlserver:2016` …; see `parsePlatform`. */
  readonly platform: string;
  readonly form: FormName;
  readonly shape: Shape;
  readonly options: LoadOptions;
}
