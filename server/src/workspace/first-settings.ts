import type { MergewrightJson } from '../../../protocol/mergewright-json.ts';
import { writtenTableName } from '../model/written-names.ts';
import type { Folder } from './folder.ts';

/** A guess below this is worth a look: the table stands in the first settings, so that a person can correct it. */
const sureEnough = 0.6;

/**
 * The text of a first `mergewright.json`: the platform where all files agree, the load parameters with a place for
 * their values, and the tables whose roles are least sure.
 */
export function firstSettings(folder: Folder): string {
  const { tables } = folder.catalog;
  const platforms = [...new Set(tables.map((table) => table.platform))];
  const [platform] = platforms;
  const parameters = [
    ...new Set(folder.loads.flatMap(({ specification }) => Object.values(specification.options.parameters ?? {}))),
  ];
  const unsure = tables.filter((table) => table.role !== 'unknown' && table.confidence < sureEnough);
  const settings: MergewrightJson = {
    ...(platform !== undefined && platforms.length === 1 ? { platform } : {}),
    parameters: Object.fromEntries(parameters.map((name) => [name, ''])),
    tables: unsure.map((table) => ({ table: writtenTableName(table.name, table.platform), role: table.role })),
    loads: [],
  };
  return `${JSON.stringify(settings, null, 2)}\n`;
}
