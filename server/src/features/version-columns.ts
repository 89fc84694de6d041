import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import type { TableRole } from '../../../protocol/roles.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { sameIdentifier } from '../model/names.ts';

/** Which columns of a table that keeps versions say what about a version. */
export interface VersionedTable {
  readonly table: CatalogTable;
  /** What the versions are versions of: the key without its time. */
  readonly keys: readonly CatalogColumn[];
  readonly start: CatalogColumn;
  /** Null where a version ends with the start of the next one, as in a satellite. */
  readonly end: CatalogColumn | null;
  /** Columns whose change makes a version. */
  readonly tracked: readonly CatalogColumn[];
  /** Milliseconds between a version's end and the next start in houses that close early; 0 for half-open intervals. */
  readonly closingGap: number;
}

const milliseconds = { 'half-open': 0, 'minus-3-ms': 3, 'minus-1-day': 86_400_000 } as const;

/**
 * Reads a table as one that keeps versions; undefined when its DDL shows no key or no beginning of a version.
 *
 * @param loads the folder's loads, of which those into this table say how it closes versions
 */
export function versionedTable(table: CatalogTable, loads: readonly LoadSpecification[]): VersionedTable | undefined {
  const withRole = (...roles: readonly CatalogColumn['role'][]) =>
    table.columns.filter((column) => roles.includes(column.role));
  const start = withRole('effective-start')[0] ?? withRole('load-date')[0];
  const key = table.keys.find((candidate) => candidate.columns.length > 1) ?? table.keys[0];
  if (start === undefined || key === undefined) return undefined;
  const times = withRole('effective-start', 'effective-end', 'load-date', 'sequence', 'insert-date');
  const keys = key.columns.flatMap((name) => {
    const column = table.columns.find((candidate) => sameIdentifier(candidate.name, name));
    return column === undefined || times.includes(column) ? [] : [column];
  });
  if (keys.length === 0) return undefined;
  return {
    table,
    keys,
    start,
    end: withRole('effective-end')[0] ?? null,
    tracked: withRole('attribute', 'inactive-date').filter((column) => !keys.includes(column)),
    closingGap: closingGapOf(table, start, loads),
  };
}

/** The table of one of these roles that the versions' only hash key points to. */
export function parentOf(
  { table, keys }: VersionedTable,
  catalog: readonly CatalogTable[],
  roles: readonly TableRole[],
): { readonly parent: CatalogTable; readonly key: CatalogColumn } | undefined {
  const [key, ...more] = keys.filter((part) => part.role === 'hash-key');
  if (key === undefined || more.length > 0) return undefined;
  const parent = catalog.find(
    (candidate) =>
      candidate !== table &&
      roles.includes(candidate.role) &&
      candidate.columns.some((part) => part.role === 'hash-key' && sameIdentifier(part.name, key.name)),
  );
  return parent === undefined ? undefined : { parent, key };
}

function closingGapOf(table: CatalogTable, start: CatalogColumn, loads: readonly LoadSpecification[]): number {
  const closing = loads.find((load) => sameIdentifier(load.target.table, table.name.table) && load.options.closing)
    ?.options.closing;
  if (closing === undefined) return 0;
  if (closing !== 'minus-unit') return milliseconds[closing];
  return start.type === 'date' ? milliseconds['minus-1-day'] : 1;
}
