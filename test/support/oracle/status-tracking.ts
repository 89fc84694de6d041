/** Status tracking satellites, and satellites that record a source delete as a flagged row with the last values. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { type Model, type OracleLoad, Refusal } from './load.ts';
import { groupBy, lastOf, storedKey, targetRow } from './values.ts';

/** Each load time in the stage is one load of its own, replayed in order. */
export const statusTracking: Model = (load, staged) => {
  const loadTs = load.options.load_ts ?? 'load_ts';
  if (staged.length === 0 && load.options.on_empty_stage === 'fail') throw new Refusal('empty_stage');
  let target = load.target;
  const vanished = new Set<string>();
  const times = groupBy(staged, (row) => row[loadTs] ?? '');
  for (const time of [...times.keys()].sort()) {
    const delivered = groupBy(
      (times.get(time) ?? []).map((row) => targetRow(row, load)),
      (row) => storedKey(row, load),
    );
    const added: TextRow[] = [];
    const newest = newestRows(target, load, loadTs);
    for (const [key, [row]] of delivered) {
      const known = newest.get(key);
      if (row !== undefined && (known === undefined || isDead(known, load) || differs(known, row, load))) {
        added.push({ ...row, ...status(true, load) });
      }
    }
    if (load.options.load === 'full') {
      for (const [key, known] of newest) {
        if (delivered.has(key) || isDead(known, load)) continue;
        vanished.add(key);
        added.push({ ...lastValues(known, load), ...status(false, load), ...bySystem(time, load) });
      }
    }
    target = [...target, ...added];
  }
  return { target, inactivated: vanished.size };
};

function newestRows(target: readonly TextRow[], load: OracleLoad, loadTs: string): ReadonlyMap<string, TextRow> {
  const newest = new Map<string, TextRow>();
  for (const [key, rows] of groupBy(target, (row) => storedKey(row, load))) {
    const last = lastOf([...rows].sort((a, b) => ((a[loadTs] ?? '') < (b[loadTs] ?? '') ? -1 : 1)));
    if (last !== undefined) newest.set(key, last);
  }
  return newest;
}

const keepsValues = ({ options }: OracleLoad): boolean => options.strategy === 'logical_delete_row';

function isDead(row: TextRow, load: OracleLoad): boolean {
  const { status_column: column = '', deleted_flag: flag = '' } = load.options;
  return keepsValues(load) ? row[flag] === 'true' : row[column] === '0';
}

function differs(known: TextRow, row: TextRow, load: OracleLoad): boolean {
  return Object.keys(load.options.hashdiff ?? {}).some((hashdiff) => known[hashdiff] !== row[hashdiff]);
}

function status(alive: boolean, load: OracleLoad): TextRow {
  const { status_column: column = '', deleted_flag: flag = '' } = load.options;
  return keepsValues(load) ? { [flag]: alive ? 'false' : 'true' } : { [column]: alive ? '1' : '0' };
}

function lastValues(known: TextRow, load: OracleLoad): TextRow {
  if (keepsValues(load)) return known;
  const keys = Object.keys(load.options.hash_key ?? {});
  return Object.fromEntries(
    Object.keys(known).map((name) => [name, keys.includes(name) ? (known[name] ?? null) : null]),
  );
}

function bySystem(time: string, { options }: OracleLoad): TextRow {
  return {
    [options.load_ts ?? 'load_ts']: time,
    ...(options.record_source === undefined ? {} : { [options.record_source]: options.system_source ?? null }),
  };
}
