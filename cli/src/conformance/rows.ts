/** Comparison of whole tables, and the counts that the rows before and after a load speak of. */
import type { CaseOptions } from './format.ts';
import type { TextRow } from './values.ts';

export interface RowCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly expired: number;
  readonly deleted: number;
}

/**
 * The first difference between two tables in words, undefined when they hold the same rows as often. Texts are compared
 * code point by code point. Rows of the same `identity` are compared column by column, so that the words stay short.
 */
export function firstDifference(
  actual: readonly TextRow[],
  expected: readonly TextRow[],
  identity: readonly string[],
): string | undefined {
  const missing = without(expected, actual);
  const surplus = without(actual, expected);
  const wanted = missing[0];
  if (wanted === undefined) {
    const extra = surplus[0];
    return extra === undefined ? undefined : `row too many: ${shown(extra)}`;
  }
  const twin = surplus.find((row) => identity.every((column) => row[column] === wanted[column]));
  if (twin === undefined) {
    const other = surplus[0];
    return `row missing: ${shown(wanted)}${other === undefined ? '' : `; instead there is ${shown(other)}`}`;
  }
  const column = Object.keys(wanted).find((name) => wanted[name] !== twin[name]) ?? '';
  const where = identity.map((name) => shownValue(wanted[name])).join(', ');
  return `row (${where}): ${column} is ${shownValue(twin[column])}, expected ${shownValue(wanted[column])}`;
}

/**
 * Counts by the rules of the case format: rows are identified by `target_identity`; a row that leaves its open end is
 * expired, whatever else changed.
 */
export function countsBetween(
  before: readonly TextRow[],
  after: readonly TextRow[],
  config: CaseOptions,
  openEnd: string | null,
): RowCounts {
  const identityOf = (row: TextRow): string =>
    JSON.stringify(config.target_identity.map((column) => row[column] ?? null));
  const removed = new Map<string, TextRow[]>();
  for (const row of without(before, after)) {
    const identity = identityOf(row);
    removed.set(identity, [...(removed.get(identity) ?? []), row]);
  }
  const counts = { inserted: 0, updated: 0, expired: 0, deleted: 0 };
  for (const row of without(after, before)) {
    const former = removed.get(identityOf(row))?.pop();
    const end = config.valid_to;
    if (former === undefined) counts.inserted += 1;
    else if (end !== undefined && former[end] === openEnd && row[end] !== openEnd) counts.expired += 1;
    else counts.updated += 1;
  }
  for (const rows of removed.values()) counts.deleted += rows.length;
  return counts;
}

/** The rows of `from` that `other` does not hold, as often as it lacks them. */
function without(from: readonly TextRow[], other: readonly TextRow[]): readonly TextRow[] {
  const left = new Map<string, number>();
  for (const row of other) {
    const key = rowText(row);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  return from.filter((row) => {
    const key = rowText(row);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    return count === 0;
  });
}

/** Texts of rows that were compared before: rows never change, and most of them meet several tables. */
const rowTexts = new WeakMap<TextRow, string>();

/** Columns in the order of the last row, and sorted: nearly always those of the next row too. */
let lastColumns: { readonly given: readonly string[]; readonly sorted: readonly string[]; readonly text: string } = {
  given: [],
  sorted: [],
  text: '',
};

/** A row as one text, equal for equal rows, whatever the order of their columns. */
export function rowText(row: TextRow): string {
  const known = rowTexts.get(row);
  if (known !== undefined) return known;
  const given = Object.keys(row);
  if (given.length !== lastColumns.given.length || given.some((name, i) => name !== lastColumns.given[i])) {
    const sorted = [...given].sort();
    lastColumns = { given, sorted, text: JSON.stringify(sorted) };
  }
  const text = lastColumns.text + JSON.stringify(lastColumns.sorted.map((name) => row[name]));
  rowTexts.set(row, text);
  return text;
}

function shown(row: TextRow): string {
  return `(${Object.entries(row)
    .map(([name, value]) => `${name}=${shownValue(value)}`)
    .join(', ')})`;
}

/** Long texts are cut for the eye; the end stays, because that is where near-equal texts differ. */
function shownValue(value: string | null | undefined): string {
  if (value === null || value === undefined) return 'NULL';
  const text = value.length > 48 ? `${value.slice(0, 16)}…${value.slice(-8)} (${value.length})` : value;
  return JSON.stringify(text);
}
