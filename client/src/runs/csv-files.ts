import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import { dotted } from './load-target.ts';

/** CSV files of one folder that fit tables by their names. */
export interface CsvFolder {
  /** URI of the folder. */
  readonly uri: string;
  readonly files: readonly { readonly uri: string; readonly table: TableName }[];
}

/**
 * Groups CSV files by folder, in natural order of the folders' names, and leaves out files whose name is that of no
 * table, or of two.
 */
export function csvFolders(files: readonly string[], tables: readonly CatalogTable[]): readonly CsvFolder[] {
  const folders = new Map<string, CsvFolder['files'][number][]>();
  for (const uri of files) {
    const split = uri.lastIndexOf('/');
    const name = decodeURIComponent(uri.slice(split + 1)).replace(/\.csv$/i, '');
    const [table, ...others] = tables.filter((candidate) => isNamed(candidate.name, name));
    if (table === undefined || others.length > 0) continue;
    const folder = uri.slice(0, split);
    folders.set(folder, [...(folders.get(folder) ?? []), { uri, table: table.name }]);
  }
  return [...folders]
    .map(([uri, found]) => ({ uri, files: found }))
    .sort((a, b) => a.uri.localeCompare(b.uri, 'en', { numeric: true }));
}

/** A file may leave out the leading parts of the table's name. */
function isNamed(table: TableName, file: string): boolean {
  const full = dotted(table).toLowerCase();
  return full === file.toLowerCase() || full.endsWith(`.${file.toLowerCase()}`);
}
