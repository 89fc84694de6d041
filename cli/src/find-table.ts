import type { CatalogTable } from '../../protocol/catalog.ts';
import { formatTableName, parseTableName } from '../../server/src/model/names.ts';
import type { Folder } from '../../server/src/workspace/folder.ts';
import { UsageError } from './command.ts';

/** The one table that a name means; none or several are one clear line. */
export function findTable(folder: Folder, text: string | undefined, option: string): CatalogTable {
  if (text === undefined) throw new UsageError(`Name the table with ${option} T.`);
  const name = parseTableName(text);
  if (name === undefined)
    throw new UsageError(`${option} ${text}: write a table name of one to three parts, as in raw.SatPatient.`);
  const found = folder.catalog.lookup.find(name);
  const [table, ...more] = found;
  if (table !== undefined && more.length === 0) return table;
  if (table !== undefined) {
    throw new UsageError(
      `${option} ${text} may be ${found.map((each) => formatTableName(each.name)).join(' or ')}; write more of its name.`,
    );
  }
  const known = folder.catalog.tables.map((each) => formatTableName(each.name));
  const hint =
    known.length === 0
      ? 'no table is defined in the files read; name them with --ddl PATH'
      : `known are ${known.slice(0, 8).join(', ')}${known.length > 8 ? ' …' : ''}`;
  throw new UsageError(`${option} ${text} names no table: ${hint}.`);
}
