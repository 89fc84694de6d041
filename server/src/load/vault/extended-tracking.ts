import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import { fitsPattern } from '../../model/names.ts';

/** The column of an extended tracking satellite that says which satellite a row is about. */
export function satelliteNameColumn(target: CatalogTable): CatalogColumn | undefined {
  return columnLike(target, ['satellite_name', '*sat*name*', 'satellite']);
}

/** The column of an extended tracking satellite that holds the tracked satellite's hashdiff. */
export function trackedHashdiffColumn(target: CatalogTable): CatalogColumn | undefined {
  return (
    target.columns.find((of) => of.role === 'hashdiff') ??
    columnLike(target, ['hashdiff', 'hash_diff', 'hd_*', '*_hashdiff'])
  );
}

/** The first column that fits the earliest pattern. */
function columnLike(target: CatalogTable, patterns: readonly string[]): CatalogColumn | undefined {
  return patterns.flatMap((pattern) => target.columns.find((of) => fitsPattern(of.name, [pattern])) ?? [])[0];
}
