import { type ChangeCounts, type CountName, countNames, unknownCounts } from '../../protocol/counts.ts';
import { sampleColumns } from '../../protocol/preview.ts';
import type { PreviewResult, ResultSet, RunWarning, SampleKind, SampleRow } from '../../protocol/run.ts';

/**
 * The change counts of a load: its last result set, if that is one row whose column names are among the seven counts;
 * null for every count that it does not name. Driver totals are never used, since triggers and reads count there too.
 */
export function countsOf(last: ResultSet | undefined): ChangeCounts {
  return last !== undefined && isCounts(last) ? countsOfRow(last) : unknownCounts;
}

/** Warnings stand right before the counts: in one result set, or in one for each as T-SQL gives them. */
export function warningsOf(before: readonly ResultSet[], last: ResultSet | undefined): readonly RunWarning[] {
  if (last === undefined || !isCounts(last)) return [];
  return before.flatMap(({ rows }) =>
    rows.map(([code, message]) => ({ code: String(code ?? ''), message: String(message ?? '') })),
  );
}

/** Rows of a preview by kind of change: plain rows where a change has no row before it, else both sides. */
export function samplesOf(sets: readonly ResultSet[]): PreviewResult['samples'] {
  const samples: Partial<Record<SampleKind, Map<string, Sides>>> = {};
  for (const set of sets.filter(isSamples)) {
    const names = set.columns.slice(sampleColumns.length).map(({ name }) => name);
    for (const [kind, number, side, ...values] of set.rows) {
      const known = sampleKinds.find((candidate) => candidate === kind);
      if (known === undefined) continue;
      const changes = samples[known] ?? new Map<string, Sides>();
      samples[known] = changes;
      const row = Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
      const key = String(number);
      changes.set(key, { ...(changes.get(key) ?? { before: null, after: null }), [String(side)]: row });
    }
  }
  return Object.fromEntries(
    sampleKinds.flatMap((kind) => {
      const changes = samples[kind];
      if (changes === undefined) return [];
      const rows = [...changes.values()].map(({ before, after }) =>
        kind === 'inserted' && before === null && after !== null ? after : { before, after },
      );
      return [[kind, rows] as const];
    }),
  );
}

/** Whether a result set holds sample rows of a preview: its first columns say kind, number and side. */
export function isSamples(set: ResultSet): boolean {
  return sampleColumns.every((name, index) => set.columns[index]?.name.toLowerCase() === name);
}

interface Sides {
  readonly before: SampleRow | null;
  readonly after: SampleRow | null;
}

const sampleKinds = [
  'inserted',
  'updated',
  'expired',
  'inactivated',
  'deleted',
] as const satisfies readonly SampleKind[];

function isCounts(set: ResultSet): boolean {
  const names = set.columns.map(({ name }) => name.toLowerCase());
  return (
    set.rowCount === 1 &&
    names.length > 0 &&
    new Set(names).size === names.length &&
    names.every((name) => countNames.some((count) => count === name)) &&
    (set.rows[0] ?? []).every((value) => value === null || Number.isInteger(Number(value)))
  );
}

export function isWarnings(set: ResultSet): boolean {
  return set.columns.map(({ name }) => name.toLowerCase()).join() === 'warning_code,message';
}

function countsOfRow(set: ResultSet): ChangeCounts {
  const named = set.columns.map(({ name }, index): readonly [string, number | null] => {
    const value = set.rows[0]?.[index] ?? null;
    return [name.toLowerCase(), value === null ? null : Number(value)];
  });
  const found = new Map(named);
  const count = (name: CountName) => found.get(name) ?? null;
  return {
    inserted: count('inserted'),
    updated: count('updated'),
    expired: count('expired'),
    inactivated: count('inactivated'),
    deleted: count('deleted'),
    unchanged: count('unchanged'),
    skipped: count('skipped'),
  };
}
