import type { CatalogTable } from '../../protocol/catalog.ts';
import type { PlatformName } from '../../protocol/platform.ts';

/** A table of the catalog with nothing but columns: no schema, no keys, no roles, everything nullable. */
export function bareTable(
  table: string,
  columns: Readonly<Record<string, string>>,
  platform: PlatformName = 'duckdb',
): CatalogTable {
  const position = { line: 0, character: 0 };
  const range = { start: position, end: position };
  return {
    name: { database: null, schema: null, table },
    platform,
    role: 'unknown',
    confidence: 0,
    reasons: [],
    file: '',
    range,
    columns: Object.entries(columns).map(([name, type]) => ({
      name,
      type,
      nullable: true,
      role: 'attribute',
      identity: false,
      computed: false,
      default: null,
      collation: null,
      range,
    })),
    keys: [],
    options: {},
  };
}
