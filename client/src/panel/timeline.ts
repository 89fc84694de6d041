import type { Timeline, TimelineFault, TimelineVersion } from '../../../protocol/panel.ts';
import type { VersionsPlan } from '../../../protocol/requests.ts';
import type { CellValue, ResultSet } from '../../../protocol/run.ts';

/** Which columns of a result set say what about a version. */
export type VersionColumns = Pick<VersionsPlan, 'keyColumns' | 'start' | 'end' | 'tracked' | 'closingGap'>;

/** Ends that mean "still open" in the houses that write no NULL. */
const openEndYear = 4000;

/** Orders the versions of one key, names what changed between neighbours, and finds gaps and overlaps. */
export function buildTimeline(table: string, connection: string, rows: ResultSet, columns: VersionColumns): Timeline {
  const at = (row: readonly CellValue[], name: string): CellValue =>
    row[rows.columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase())] ?? null;
  const ordered = [...rows.rows].sort((a, b) => compare(String(at(a, columns.start)), String(at(b, columns.start))));
  const first = ordered[0];
  const versions = ordered.map((row, index): TimelineVersion => {
    const before = ordered[index - 1];
    const next = ordered[index + 1];
    const end = columns.end === null ? (next === undefined ? null : at(next, columns.start)) : at(row, columns.end);
    return {
      start: String(at(row, columns.start)),
      end: end === null || yearOf(String(end)) >= openEndYear ? null : String(end),
      values: columns.tracked.map((column) => ({ column, value: at(row, column) })),
      changes:
        before === undefined
          ? []
          : columns.tracked
              .filter((column) => at(before, column) !== at(row, column))
              .map((column) => ({ column, before: at(before, column), after: at(row, column) })),
    };
  });
  return {
    table,
    connection,
    key: first === undefined ? [] : columns.keyColumns.map((column) => ({ column, value: at(first, column) })),
    businessKey: [],
    versions,
    faults: columns.end === null ? [] : faults(versions, columns.closingGap),
  };
}

/** A gap is longer than the house's closing rule leaves; an overlap is any moment that two versions claim. */
function faults(versions: readonly TimelineVersion[], closingGap: number): TimelineFault[] {
  return versions.flatMap((version, index): TimelineFault[] => {
    const next = versions[index + 1];
    if (next === undefined) return [];
    if (version.end === null) return [{ kind: 'overlap', start: next.start, end: next.end }];
    const distance = instant(next.start) - instant(version.end);
    if (distance > closingGap) return [{ kind: 'gap', start: version.end, end: next.start }];
    return distance < 0 ? [{ kind: 'overlap', start: next.start, end: version.end }] : [];
  });
}

function instant(text: string): number {
  const full = text.includes(':') ? text.replace(' ', 'T').replace(/(\.\d{3})\d+/, '$1') : `${text}T00:00:00`;
  return Date.parse(/Z$|[+-]\d{2}:?\d{2}$/.test(full) ? full : `${full}Z`);
}

function yearOf(text: string): number {
  return Number(/^(\d{4,})-/.exec(text)?.[1] ?? 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
