/** What a platform stores a staged type as, where it has no column of that type. */
import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Platform, PlatformName } from '../../../protocol/platform.ts';
import type { Problem } from '../../../protocol/problem.ts';
import { originOf } from '../load/language.ts';
import type { ProposedColumn, ProposedTable } from '../load/propose.ts';

/**
 * The documented alternatives by type name without lengths; null where the documentation names none. What stands in no list
 * is the platform's own, or the printer's to name.
 */
const alternatives: Partial<Record<PlatformName, Readonly<Record<string, string | null>>>> = {
  synapse: {
    xml: 'varchar(max)',
    image: 'varbinary(max)',
    text: 'varchar(max)',
    ntext: 'nvarchar(max)',
    geography: 'varbinary(max)',
    geometry: 'varbinary(max)',
    hierarchyid: 'nvarchar(4000)',
    json: 'nvarchar(max)',
    sql_variant: null,
    vector: null,
  },
  fabric: {
    image: 'varbinary(max)',
    geography: 'varbinary(max)',
    geometry: 'varbinary(max)',
    json: 'varchar(max)',
    xml: null,
    hierarchyid: null,
    sql_variant: null,
    vector: null,
  },
};

/** The columns as the platform can store them, with an error for each that it can't. */
export function storableColumns(
  table: ProposedTable,
  source: CatalogTable,
  platform: Platform,
): { readonly columns: readonly ProposedColumn[]; readonly problems: readonly Problem[] } {
  const known = alternatives[platform.name];
  if (known === undefined || originOf(source.platform) !== 'tsql') return { columns: table.columns, problems: [] };
  const problems: Problem[] = [];
  const columns = table.columns.map((column): ProposedColumn => {
    const base = column.type.replace(/\(.*/, '');
    // A type with a schema is one that users have made.
    const stored = base.includes('.') ? null : known[base];
    if (stored === null) {
      problems.push({
        code: 'unsupported',
        severity: 'error',
        message: `unsupported: ${column.type} of column ${column.name} on ${platform.name}, which has no type for it; stage its text or bytes as varchar or varbinary, or leave the column out of the stage.`,
      });
    }
    if (platform.name === 'fabric' && base === 'binary')
      return { ...column, type: column.type.replace('binary', 'varbinary') };
    return typeof stored === 'string' ? { ...column, type: stored } : column;
  });
  return { columns, problems };
}
