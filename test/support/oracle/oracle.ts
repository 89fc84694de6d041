/**
 * The oracle: for every pattern the target, the counts and the error that one load must leave. Rules that hold for all
 * patterns stand here (missing keys, counts), the rest in one model per family of patterns.
 */
import { countsBetween, rowText } from '../../../cli/src/conformance/rows.ts';
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import type { PatternName } from '../../../protocol/specification.ts';
import { typeOneFeed, typeTwoFeed } from './change-feed.ts';
import { dayGrain } from './day-grain.ts';
import { bridge, endDatingView, hashColumns, nullKeyStage, pointInTime } from './derived.ts';
import { effectivity } from './effectivity.ts';
import { firstSighting, tracking } from './first-sighting.ts';
import { type Model, type OracleLoad, type OracleOutcome, Refusal } from './load.ts';
import { multiActive } from './multi-active.ts';
import { overwriting } from './overwriting.ts';
import { persistentStaging } from './persistent-staging.ts';
import { satellite } from './satellite.ts';
import { statusTracking } from './status-tracking.ts';
import { typeSix } from './type-six.ts';
import { typeTwo } from './type-two.ts';
import { groupBy, keyPart, stagedKey, storedKey } from './values.ts';

const models: Readonly<Record<PatternName, Model>> = {
  satellite,
  ghost_records: satellite,
  ma_satellite: multiActive,
  eff_satellite: effectivity,
  status_tracking_satellite: statusTracking,
  record_tracking_satellite: tracking,
  xts: tracking,
  hub: firstSighting,
  link: firstSighting,
  nh_link: firstSighting,
  reference_table: firstSighting,
  pit: pointInTime,
  bridge,
  satellite_end_dating_view: endDatingView,
  stage_null_keys: nullKeyStage,
  hash: hashColumns,
  scd0: overwriting,
  scd1: (load, staged) => (load.options.load === 'cdc' ? typeOneFeed : overwriting)(load, staged),
  scd3: overwriting,
  scd2: typeTwo,
  scd2_timestamp: typeTwo,
  scd2_cdc: typeTwoFeed,
  scd2_day: dayGrain,
  scd6: typeSix,
  persistent_staging: persistentStaging,
  inactivation: (load, staged) => (load.options.strategy === 'type1' ? overwriting : typeTwo)(load, staged),
};

const nothing = { inserted: 0, updated: 0, expired: 0, deleted: 0, unchanged: 0, skipped: 0, inactivated: 0 };

/** One load of a pattern. A refused load leaves the target as it was and counts nothing. */
export function oracleLoad(pattern: PatternName, load: OracleLoad): OracleOutcome {
  try {
    const { staged, skipped } = withKeys(load);
    const { target, inactivated = 0, events = load.events } = models[pattern](load, staged);
    const openEnd = load.options.open_end ?? null;
    const counts = countsBetween(load.target, target, load.options, openEnd);
    const touched = touchedKeys(load.target, target, load);
    const keys = load.options.kind === undefined ? new Set(staged.map((row) => stagedKey(row, load))) : new Set();
    const unchanged = [...keys].filter((key) => !touched.has(String(key))).length;
    return { target, counts: { ...counts, unchanged, skipped, inactivated }, error: null, events };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { target: load.target, counts: nothing, error: error.code, events: load.events };
  }
}

/** Staged rows that have every needed key part, after what `null_keys` does about the others. */
function withKeys(load: OracleLoad): { readonly staged: readonly TextRow[]; readonly skipped: number } {
  const { options, tables } = load;
  if (options.kind !== undefined) return { staged: load.stage, skipped: 0 };
  const needed = options.not_null ?? options.keys ?? [];
  const isMissing = (row: TextRow, column: string): boolean =>
    keyPart(row[column] ?? null, tables.stage[column] ?? 'string', load) === null;
  const truncates = (row: TextRow): boolean =>
    options.op_column !== undefined && (options.truncate_values ?? []).includes(row[options.op_column] ?? '');
  const lacksKey = (row: TextRow): boolean => !truncates(row) && needed.some((column) => isMissing(row, column));
  switch (options.null_keys) {
    case 'fail':
      if (load.stage.some(lacksKey)) throw new Refusal('null_key');
      return { staged: load.stage, skipped: 0 };
    case 'map': {
      const mapped = load.stage.map((row) => standIns(row, load, isMissing));
      const staged = mapped.filter((row) => !lacksKey(row));
      return { staged, skipped: mapped.length - staged.length };
    }
    case 'skip': {
      const staged = load.stage.filter((row) => !lacksKey(row));
      return { staged, skipped: load.stage.length - staged.length };
    }
    default:
      return { staged: load.stage, skipped: 0 };
  }
}

function standIns(row: TextRow, load: OracleLoad, isMissing: (row: TextRow, column: string) => boolean): TextRow {
  const map = load.options.null_key_map ?? {};
  const replaced = Object.entries(map).filter(([column]) => isMissing(row, column));
  return { ...row, ...Object.fromEntries(replaced) };
}

/** Keys of rows that came, went or changed. */
function touchedKeys(before: readonly TextRow[], after: readonly TextRow[], load: OracleLoad): ReadonlySet<string> {
  const lasting = groupBy(before, rowText);
  const arrived = groupBy(after, rowText);
  const changed = [...new Set([...lasting.keys(), ...arrived.keys()])].filter(
    (text) => lasting.get(text)?.length !== arrived.get(text)?.length,
  );
  return new Set(
    changed.flatMap((text) => {
      const [row] = lasting.get(text) ?? arrived.get(text) ?? [];
      return row === undefined ? [] : [storedKey(row, load)];
    }),
  );
}
