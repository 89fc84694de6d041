/** Types 0, 1 and 3: one row per key, overwritten or kept; absent keys flagged or removed. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { absentRows } from './absence.ts';
import { oneRowPerKey } from './duplicates.ts';
import type { Model, OracleLoad } from './load.ts';
import { groupBy, sameValue, stagedKey, storedKey, targetRow } from './values.ts';

export const overwriting: Model = (load, staged) => {
  const { options } = load;
  const flag = options.deleted_flag;
  // Under plain equality a NULL key never matches a stored row and never repeats another staged one.
  const matchable = (key: string): boolean => options.null_keys !== 'insert' || !key.includes('null');
  const plainNulls = staged.filter((row) => !matchable(stagedKey(row, load)));
  const delivered = oneRowPerKey(
    staged.filter((row) => matchable(stagedKey(row, load))),
    load,
  );
  const stored = groupBy(load.target, (row) => storedKey(row, load));
  const alive = load.target.filter((row) => flag === undefined || row[flag] !== 'true');
  const absent = absentRows(alive, staged, load);
  const remaining = load.target.flatMap((row) => {
    const key = storedKey(row, load);
    const fresh = matchable(key) ? delivered.get(key) : undefined;
    if (fresh !== undefined) return [overwritten(row, fresh, load)];
    if (!absent.includes(row)) return [row];
    return options.hard_deletes === 'physical' ? [] : [{ ...row, ...markedDeleted(load) }];
  });
  const added = [...delivered].filter(([key]) => !stored.has(key)).map(([, row]) => row);
  return {
    target: [
      ...remaining,
      ...[...added, ...plainNulls].map((row) => ({ ...targetRow(row, load), ...markedAlive(load) })),
    ],
    inactivated: absent.length,
  };
};

function overwritten(old: TextRow, fresh: TextRow, load: OracleLoad): TextRow {
  const { options, tables } = load;
  const compare = (options.compare ?? []).filter((column) => column in fresh);
  const changed = compare.filter(
    (column) => !sameValue(old[column] ?? null, fresh[column] ?? null, tables.target[column] ?? 'string', load),
  );
  if (options.strategy === 'type0') {
    if (!options.type0_fill_null_once) return old;
    const filled = changed.filter((column) => old[column] === null);
    return { ...old, ...Object.fromEntries(filled.map((column) => [column, fresh[column] ?? null])) };
  }
  const returns = options.deleted_flag !== undefined && old[options.deleted_flag] === 'true';
  if (changed.length === 0 && !returns) return old;
  const shifted = Object.entries(options.previous ?? {})
    .filter(([column]) => changed.includes(column))
    .map(([column, previous]) => [previous, old[column] ?? null]);
  const written = Object.keys(old).filter((column) => column in fresh && !options.target_key.includes(column));
  return {
    ...old,
    ...Object.fromEntries(written.map((column) => [column, fresh[column] ?? null])),
    ...Object.fromEntries(shifted),
    ...(options.changed_at === undefined ? {} : { [options.changed_at]: load.now }),
    ...markedAlive(load),
  };
}

export function markedAlive({ options }: OracleLoad): TextRow {
  return {
    ...(options.deleted_flag === undefined ? {} : { [options.deleted_flag]: 'false' }),
    ...(options.deleted_at === undefined ? {} : { [options.deleted_at]: null }),
  };
}

export function markedDeleted({ options, now }: OracleLoad): TextRow {
  return {
    ...(options.deleted_flag === undefined ? {} : { [options.deleted_flag]: 'true' }),
    ...(options.deleted_at === undefined ? {} : { [options.deleted_at]: now }),
  };
}
