import type { CatalogTable, TableName } from '../../protocol/catalog.ts';
import { parseTableName } from '../../server/src/model/names.ts';
import { writtenTableName } from '../../server/src/model/written-names.ts';
import type { Folder } from '../../server/src/workspace/folder.ts';
import { UsageError } from './command.ts';

/** The one table that a name means; none or several are one clear line. */
export function findTable(folder: Folder, text: string | undefined, option: string): CatalogTable {
  if (text === undefined) throw new UsageError(`Name the table with ${option} T.`);
  const name = parseTableName(text);
  if (name === undefined)
    throw new UsageError(`${option} ${text}: write a table name of one to three parts, as in raw.SatPatient.`);
  return findNamed(folder, name, `${option} ${text}`);
}

/** The same for a name that is known by its parts; `said` is where it comes from, for messages. */
export function findNamed(folder: Folder, name: TableName, said: string): CatalogTable {
  const found = folder.catalog.lookup.find(name);
  const [table, ...more] = found;
  if (table !== undefined && more.length === 0) return table;
  if (table !== undefined) {
    throw new UsageError(
      `${said} may be ${found.map((each) => writtenTableName(each.name, each.platform)).join(' or ')}; write more of its name.`,
    );
  }
  const known = folder.catalog.tables.map((each) => writtenTableName(each.name, each.platform));
  const hint =
    known.length === 0
      ? 'no table is defined in the files read; name them with --ddl PATH'
      : `known are ${known.slice(0, 8).join(', ')}${known.length > 8 ? ' …' : ''}`;
  throw new UsageError(`${said} names no table: ${hint}.`);
}
