/** What a pattern does where its specification says nothing: the house defaults. A stated option always goes first. */
import type { LoadOptions, LoadSpecification, PatternName } from '../../../protocol/specification.ts';

const everywhere: LoadOptions = { null_keys: 'skip' };

const versioned: LoadOptions = {
  duplicates: 'fail',
  compare_mode: 'exact',
  untracked_mode: 'keep_old',
  hard_deletes: 'ignore',
  load: 'delta',
  on_empty_stage: 'skip',
  max_inactivation_pct: 20,
};

const satellite: LoadOptions = {
  duplicates: 'collapse_identical',
  same_ts_conflict: 'fail',
  out_of_order: 'fail',
};

const sighting: LoadOptions = { duplicates: 'collapse_identical' };

const byPattern: Readonly<Record<PatternName, LoadOptions>> = {
  satellite,
  ma_satellite: satellite,
  eff_satellite: { same_ts_conflict: 'fail', out_of_order: 'fail', auto_end_dating: true },
  status_tracking_satellite: { load: 'full', on_empty_stage: 'skip', max_inactivation_pct: 20 },
  record_tracking_satellite: sighting,
  xts: sighting,
  hub: sighting,
  link: sighting,
  nh_link: sighting,
  reference_table: sighting,
  ghost_records: {},
  pit: { kind: 'rebuild' },
  bridge: { kind: 'rebuild' },
  satellite_end_dating_view: { kind: 'view' },
  stage_null_keys: { kind: 'stage' },
  hash: { kind: 'hash' },
  scd0: { ...versioned, strategy: 'type0' },
  scd1: { ...versioned, strategy: 'type1' },
  scd2: { ...versioned, strategy: 'check', grain: 'load', closing: 'half-open' },
  scd2_timestamp: { ...versioned, strategy: 'timestamp', closing: 'half-open' },
  scd2_cdc: {
    load: 'cdc',
    null_keys: 'fail',
    null_sequence: 'fail',
    same_sequence_conflict: 'fail',
    out_of_order: 'repair',
    repeated_value: 'keep_first_start',
  },
  scd2_day: { ...versioned, strategy: 'check', grain: 'day', closing: 'half-open' },
  scd3: { ...versioned, strategy: 'type3' },
  scd6: { ...versioned, strategy: 'type6', type1_scope: 'all' },
  persistent_staging: { duplicates: 'keep_if_changed', load: 'delta', on_empty_stage: 'skip' },
  inactivation: { ...versioned, strategy: 'check', load: 'full', hard_deletes: 'invalidate' },
};

/** The options of a specification with every default of its pattern filled in; what is stated stays. */
export function resolveOptions({ pattern, options }: Pick<LoadSpecification, 'pattern' | 'options'>): LoadOptions {
  return { ...everywhere, ...byPattern[pattern], ...options };
}

/** Options that depart from the defaults of the pattern: what a script's header has to name. */
export function departingOptions(pattern: PatternName, options: LoadOptions): LoadOptions {
  const defaults: Readonly<Record<string, unknown>> = { ...everywhere, ...byPattern[pattern] };
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => JSON.stringify(defaults[name]) !== JSON.stringify(value)),
  );
}
