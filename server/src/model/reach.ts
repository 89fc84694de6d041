import { sameFamily } from '../syntax/platform.ts';
import type { FileDefinitions } from './definitions.ts';
import type { TableFacts } from './facts.ts';

/** Whether what a file says of a table by its name may mean that table. */
export type Reaches = (file: FileDefinitions, table: TableFacts) => boolean;

/**
 * A file changes the tables of its own family of platforms: a table of DuckDB and one of Databricks are two, whatever
 * their names. Files that could be of any platform reach every table, and their tables are reached from everywhere.
 */
export function reachIn(files: readonly FileDefinitions[]): Reaches {
  const [first] = files;
  if (first === undefined || files.every(({ platform }) => sameFamily(platform, first.platform))) return () => true;
  const neutral = new Set(files.filter(({ isNeutral }) => isNeutral).map(({ file }) => file));
  return (file, table) =>
    sameFamily(file.platform, table.platform) || file.isNeutral === true || neutral.has(table.file);
}
