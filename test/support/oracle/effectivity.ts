/** Effectivity satellites: the delivered partners of a driving key are its open ones; closing is a row that bears the end. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import type { Model, OracleLoad } from './load.ts';
import { digest, distinctRows, groupBy, lastOf, storedKey, targetRow } from './values.ts';

interface Delivery {
  readonly driver: string;
  readonly row: TextRow;
}

export const effectivity: Model = (load, staged) => {
  const { options } = load;
  const loadTs = options.load_ts ?? 'load_ts';
  const timeOf = (row: TextRow): string => row[loadTs] ?? '';
  const deliveries: readonly Delivery[] = distinctRows(staged).map((row) => ({
    driver: String(digest(options.driving_key ?? [], row, 'hash_key', load)),
    row: targetRow(row, load),
  }));
  let target = load.target;
  for (const [, batch] of [...groupBy(deliveries, ({ row }) => timeOf(row))].sort(([a], [b]) => (a < b ? -1 : 1))) {
    target = options.auto_end_dating
      ? derivedEnds(target, batch, load, timeOf)
      : deliveredEnds(target, batch, load, timeOf);
  }
  return { target };
};

/** The newest row of each relation. */
function newestRows(
  target: readonly TextRow[],
  load: OracleLoad,
  timeOf: (row: TextRow) => string,
): ReadonlyMap<string, TextRow> {
  const end = load.options.end ?? 'end_ts';
  const newest = new Map<string, TextRow>();
  for (const [link, rows] of groupBy(target, (row) => storedKey(row, load))) {
    // A closing row of the same load time comes after the opening one.
    const ordered = [...rows].sort((a, b) => {
      if (timeOf(a) !== timeOf(b)) return timeOf(a) < timeOf(b) ? -1 : 1;
      return (a[end] ?? '') > (b[end] ?? '') ? -1 : 1;
    });
    const row = lastOf(ordered);
    if (row !== undefined) newest.set(link, row);
  }
  return newest;
}

function derivedEnds(
  target: readonly TextRow[],
  batch: readonly Delivery[],
  load: OracleLoad,
  timeOf: (row: TextRow) => string,
): readonly TextRow[] {
  const {
    start = 'start_ts',
    end = 'end_ts',
    effective_from: from = 'eff_from',
    open_end: openEnd = null,
  } = load.options;
  const drivingHash = hashColumnOf(load.options.driving_key ?? [], load);
  const open = [...newestRows(target, load, timeOf).values()].filter((row) => row[end] === openEnd);
  const added: TextRow[] = [];
  for (const [driver, delivered] of groupBy(batch, (delivery) => delivery.driver)) {
    const partners = open.filter((row) => row[drivingHash] === driver);
    const links = new Set(delivered.map(({ row }) => storedKey(row, load)));
    for (const { row } of delivered) {
      const isOpen = partners.some((partner) => storedKey(partner, load) === storedKey(row, load));
      if (!isOpen) added.push({ ...row, [start]: row[from] ?? null, [end]: openEnd });
    }
    const [first] = delivered;
    for (const partner of partners) {
      if (first === undefined || links.has(storedKey(partner, load))) continue;
      const effective = first.row[from] ?? null;
      const loadTs = load.options.load_ts ?? 'load_ts';
      added.push({ ...partner, [end]: effective, [from]: effective, [loadTs]: first.row[loadTs] ?? null });
    }
  }
  return [...target, ...added];
}

/** Start and end come with the row; a relation whose newest row has both already is known. */
function deliveredEnds(
  target: readonly TextRow[],
  batch: readonly Delivery[],
  load: OracleLoad,
  timeOf: (row: TextRow) => string,
): readonly TextRow[] {
  const { start = 'start_ts', end = 'end_ts' } = load.options;
  const newest = newestRows(target, load, timeOf);
  const added = batch
    .map(({ row }) => row)
    .filter((row) => {
      const known = newest.get(storedKey(row, load));
      return known === undefined || known[start] !== row[start] || known[end] !== row[end];
    });
  return [...target, ...added];
}

function hashColumnOf(columns: readonly string[], load: OracleLoad): string {
  const found = Object.entries(load.options.hash_key ?? {}).find(([, inputs]) => inputs.join() === columns.join());
  if (found === undefined) throw new Error(`no hash column over ${columns.join(', ')}`);
  return found[0];
}
