/** Type 2 by comparison or by change time, with deletes found by absence; half-open intervals. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { absentRows } from './absence.ts';
import { oneRowPerKey } from './duplicates.ts';
import { type Model, type OracleLoad, Refusal } from './load.ts';
import { markedAlive, markedDeleted } from './overwriting.ts';
import { groupBy, lastOf, sameValue, storedKey, targetRow } from './values.ts';

export const typeTwo: Model = (load, staged) => {
  const delivered = oneRowPerKey(staged, load);
  const versions = groupBy(load.target, (row) => storedKey(row, load));
  const open = load.target.filter((row) => isOpen(row, load));
  const absent = absentRows(
    open.filter((row) => !isFlagged(row, load)),
    staged,
    load,
  );
  const openByKey = new Map(open.map((row) => [storedKey(row, load), row]));
  const removed = new Set<TextRow>();
  const added: TextRow[] = [];
  for (const [key, fresh] of delivered) {
    const current = openByKey.get(key);
    if (current === undefined) {
      added.push(versionOf(fresh, firstStart(fresh, versions.get(key) ?? [], load), load));
    } else if (isChanged(current, fresh, load)) {
      const start = startOf(fresh, load);
      removed.add(current);
      added.push(closed(current, start, load), versionOf(fresh, start, load));
    } else {
      const refreshed = inPlace(current, fresh, load);
      removed.add(current);
      added.push(refreshed);
    }
  }
  for (const row of absent) {
    removed.add(row);
    added.push(...afterAbsence(row, load));
  }
  return { target: [...load.target.filter((row) => !removed.has(row)), ...added], inactivated: absent.length };
};

/** The open row of a vanished key, as each delete variant leaves it. */
function afterAbsence(row: TextRow, load: OracleLoad): readonly TextRow[] {
  const { valid_from: from = '', valid_to: to = '', open_end: openEnd = null } = load.options;
  switch (load.options.hard_deletes) {
    case 'physical':
      return [];
    case 'flag':
      return [{ ...row, ...markedDeleted(load) }];
    case 'new_record':
      return [
        closed(row, load.now, load),
        { ...row, ...markedDeleted(load), [from]: load.now, [to]: openEnd, ...currentFlag(true, load) },
      ];
    default:
      return [closed(row, load.now, load)];
  }
}

function isChanged(current: TextRow, fresh: TextRow, load: OracleLoad): boolean {
  const { options, tables } = load;
  if (isFlagged(current, load)) return true;
  if (options.strategy === 'timestamp') {
    return (fresh[options.updated_at ?? 'updated_at'] ?? '') > (current[options.valid_from ?? ''] ?? '');
  }
  const backfilled = options.on_new_column === 'backfill_current' ? load.newColumns : [];
  return (options.compare ?? [])
    .filter((column) => column in fresh && !backfilled.includes(column))
    .some(
      (column) => !sameValue(current[column] ?? null, fresh[column] ?? null, tables.target[column] ?? 'string', load),
    );
}

/** What an unchanged key's open row takes without a new version. */
function inPlace(current: TextRow, fresh: TextRow, { options, newColumns }: OracleLoad): TextRow {
  const columns = [
    ...(options.on_new_column === 'backfill_current' ? newColumns : []),
    ...(options.untracked_mode === 'update_current' ? (options.untracked ?? []) : []),
  ].filter((column) => column in fresh && column in current);
  return { ...current, ...Object.fromEntries(columns.map((column) => [column, fresh[column] ?? null])) };
}

/** The start of a key's version that has no open one before it. */
function firstStart(fresh: TextRow, former: readonly TextRow[], load: OracleLoad): string {
  const { initial_valid_from: initial, initial_valid_from_scope: scope, valid_to: to = '' } = load.options;
  if (initial !== undefined && (scope === 'first_load' ? load.target.length === 0 : former.length === 0))
    return initial;
  const start = startOf(fresh, load);
  if (load.options.revive_start === undefined) return start;
  const ends = former.map((row) => row[to] ?? '');
  return lastOf([...ends, start].sort()) ?? start;
}

function startOf(fresh: TextRow, { options, now }: OracleLoad): string {
  const source = options.valid_from_source ?? 'now';
  return source === 'now' ? now : (fresh[source] ?? '');
}

export function versionOf(fresh: TextRow, start: string, load: OracleLoad): TextRow {
  const { valid_from: from = '', valid_to: to = '', open_end: openEnd = null } = load.options;
  return { ...targetRow(fresh, load), ...markedAlive(load), [from]: start, [to]: openEnd, ...currentFlag(true, load) };
}

function closed(row: TextRow, end: string, load: OracleLoad): TextRow {
  const { valid_from: from = '', valid_to: to = '' } = load.options;
  if (end <= (row[from] ?? '')) throw new Refusal('batch_time_not_after_current');
  return { ...row, [to]: end, ...currentFlag(false, load) };
}

export function currentFlag(current: boolean, { options }: OracleLoad): TextRow {
  if (options.is_current === undefined) return {};
  const [yes, no] = options.current_values ?? ['true', 'false'];
  return { [options.is_current]: current ? yes : no };
}

export function isOpen(row: TextRow, { options }: OracleLoad): boolean {
  return row[options.valid_to ?? ''] === (options.open_end ?? null);
}

function isFlagged(row: TextRow, { options }: OracleLoad): boolean {
  return options.deleted_flag !== undefined && row[options.deleted_flag] === 'true';
}
