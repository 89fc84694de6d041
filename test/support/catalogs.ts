import type { CatalogTable } from '../../protocol/catalog.ts';
import type { PlatformName } from '../../protocol/platform.ts';
import { buildCatalog, type TableCatalog } from '../../server/src/model/catalog.ts';
import type { Conventions } from '../../server/src/model/conventions.ts';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { readDefinitions } from '../../server/src/model/definitions.ts';
import { parse } from '../../server/src/syntax/parse.ts';

/** The catalog of some DDL, as one file. */
export function catalogFrom(
  ddl: string,
  platform: PlatformName = 'sqlserver',
  conventions: Conventions = defaultConventions,
): TableCatalog {
  return buildCatalog([readDefinitions(parse(ddl, { platform }), 'ddl.sql')], () => conventions);
}

/** The table of a name; fails when there is none. */
export function tableIn(catalog: Pick<TableCatalog, 'tables'>, name: string): CatalogTable {
  const table = catalog.tables.find((candidate) => candidate.name.table === name);
  if (table === undefined)
    throw new Error(`no table ${name} in ${catalog.tables.map((each) => each.name.table).join(', ')}`);
  return table;
}

/** `name role` of each column. */
export function columnRolesOf(table: CatalogTable): Readonly<Record<string, string>> {
  return Object.fromEntries(table.columns.map((column) => [column.name, column.role]));
}
