/** Satellites, with or without ghost rows: a version wherever the hashdiff leaves what was true before. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { missingGhosts } from './ghosts.ts';
import { type Model, type OracleLoad, Refusal } from './load.ts';
import { distinctRows, groupBy, lastOf, storedKey, targetRow } from './values.ts';

export const satellite: Model = (load, staged) => {
  const loadTs = load.options.load_ts ?? 'load_ts';
  const timeOf = (row: TextRow): string => row[loadTs] ?? '';
  const [hashdiff = 'hashdiff'] = Object.keys(load.options.hashdiff ?? {});
  const stored = groupBy(load.target, (row) => storedKey(row, load));
  const mark = highWaterMark(load, timeOf);
  const candidates = distinctRows(staged.map((row) => targetRow(row, load))).filter((row) => timeOf(row) > mark);
  const added: TextRow[] = [];
  for (const [key, rows] of groupBy(candidates, (row) => storedKey(row, load))) {
    const history = [...(stored.get(key) ?? [])].sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
    const newest = history.length === 0 ? '' : timeOf(lastOf(history) ?? {});
    const unknown = rows.filter((row) => !(load.options.idempotent_rerun && timeOf(row) <= newest));
    const fresh = withoutKnownStates(unknown, history, timeOf, hashdiff, load);
    added.push(...newVersions(fresh, history, timeOf, hashdiff, load));
  }
  return { target: [...load.target, ...missingGhosts(load), ...added] };
};

/** The newest stored load time, ghost times left out; rows at or before it are not read under `hwm`. */
function highWaterMark(load: OracleLoad, timeOf: (row: TextRow) => string): string {
  const { hwm, ghost, ghost_load_ts: ghostTime } = load.options;
  if (!hwm) return '';
  const ghostTimes = [ghost?.load_ts, ghost?.error_load_ts, ghostTime];
  const times = load.target.map(timeOf).filter((time) => !ghostTimes.includes(time));
  return lastOf(times.sort()) ?? '';
}

/** A row equal to the stored one of its load time is known; another one is a conflict, in the stage as well. */
function withoutKnownStates(
  rows: readonly TextRow[],
  history: readonly TextRow[],
  timeOf: (row: TextRow) => string,
  hashdiff: string,
  { options }: OracleLoad,
): readonly TextRow[] {
  const fresh = rows.filter(
    (row) => !history.some((old) => timeOf(old) === timeOf(row) && old[hashdiff] === row[hashdiff]),
  );
  if (options.same_ts_conflict === 'fail') {
    const contents = groupBy([...fresh, ...history], timeOf);
    const clash = [...contents.values()].some((same) => new Set(same.map((row) => row[hashdiff])).size > 1);
    if (clash) throw new Refusal('same_timestamp_conflict');
  }
  return fresh;
}

/**
 * Walks along the key's time line. A row after the newest stored one is a version when it differs from the state before
 * it. A late row is refused, ignored or, with `timeline_check`, stored when it differs from both neighbours.
 */
function newVersions(
  rows: readonly TextRow[],
  history: readonly TextRow[],
  timeOf: (row: TextRow) => string,
  hashdiff: string,
  { options }: OracleLoad,
): readonly TextRow[] {
  const newest = history.length === 0 ? '' : timeOf(lastOf(history) ?? {});
  const isLate = (row: TextRow): boolean => timeOf(row) < newest;
  if (rows.some(isLate) && options.out_of_order === 'fail') throw new Refusal('late_row');
  const admitted = options.out_of_order === 'ignore' ? rows.filter((row) => !isLate(row)) : rows;
  const line = [...history, ...admitted].sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0));
  const kept: TextRow[] = [];
  for (const row of line) {
    const isStored = history.includes(row);
    if (isStored || lastOf(kept)?.[hashdiff] !== row[hashdiff]) kept.push(row);
  }
  return kept.filter((row, i) => {
    if (history.includes(row)) return false;
    const next = kept[i + 1];
    const repeatsLater = next !== undefined && history.includes(next) && next[hashdiff] === row[hashdiff];
    return !(isLate(row) && repeatsLater);
  });
}
