/** Type 2 with one version per key and calendar day, as the handbook's timeline tells it. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { absentRows } from './absence.ts';
import { oneRowPerKey } from './duplicates.ts';
import { type Model, type OracleLoad, Refusal } from './load.ts';
import { currentFlag, isOpen, versionOf } from './type-two.ts';
import { groupBy, sameValue, storedKey } from './values.ts';

export const dayGrain: Model = (load, staged) => {
  const { inactive_at: inactive = '', initial_valid_from: initial, valid_from: from = '' } = load.options;
  const today = `${load.now.slice(0, 10)} 00:00:00`;
  const delivered = oneRowPerKey(staged, load);
  const versions = groupBy(load.target, (row) => storedKey(row, load));
  const open = load.target.filter((row) => isOpen(row, load));
  const absent = absentRows(
    open.filter((row) => (row[inactive] ?? null) === null),
    staged,
    load,
  );
  const openByKey = new Map(open.map((row) => [storedKey(row, load), row]));
  const removed = new Set<TextRow>();
  const added: TextRow[] = [];
  const replace = (row: TextRow, next: TextRow): void => {
    removed.add(row);
    if (row[from] === today) added.push(next);
    else added.push(closedBefore(row, today, load), next);
  };
  for (const [key, fresh] of delivered) {
    const current = openByKey.get(key);
    const version = withoutInactive(versionOf(fresh, today, load), inactive);
    if (current === undefined) {
      added.push({ ...version, [from]: versions.has(key) ? today : (initial ?? today) });
    } else if (isChanged(current, fresh, load)) {
      replace(current, version);
    }
  }
  for (const row of absent) replace(row, { ...row, [inactive]: today, [from]: today });
  return { target: [...load.target.filter((row) => !removed.has(row)), ...added], inactivated: absent.length };
};

function isChanged(current: TextRow, fresh: TextRow, load: OracleLoad): boolean {
  const { compare = [], inactive_at: inactive = '' } = load.options;
  if ((current[inactive] ?? null) !== null) return true;
  return compare.some(
    (column) =>
      !sameValue(current[column] ?? null, fresh[column] ?? null, load.tables.target[column] ?? 'string', load),
  );
}

/** Half open: the end is the start of today; else 3 ms before it, as tables of type `datetime` live. */
function closedBefore(row: TextRow, today: string, load: OracleLoad): TextRow {
  const { valid_from: from = '', valid_to: to = '', closing } = load.options;
  if ((row[from] ?? '') >= today) throw new Refusal('batch_time_not_after_current');
  const yesterday = new Date(Date.parse(`${today.slice(0, 10)}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
  const end = closing === 'minus-3-ms' ? `${yesterday} 23:59:59.997` : today;
  return { ...row, [to]: end, ...currentFlag(false, load) };
}

function withoutInactive(row: TextRow, inactive: string): TextRow {
  return inactive in row ? { ...row, [inactive]: null } : row;
}
