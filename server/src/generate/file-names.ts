/** Names of the files and the procedure of a load. */
import type { LoadSpecification, PatternName } from '../../../protocol/specification.ts';

/** A name as part of a file's name: what a path, a shell or a file system would take for something else becomes `_`. */
export function asFileName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no file system of Windows takes them.
  return name.replace(/[\u0000-\u001f<>:"/\\|?*]/g, '_');
}

/** The procedure of a load. A table that is loaded and whose vanished rows are closed has two of them. */
export function procedureName(pattern: PatternName, table: string): string {
  return `${pattern === 'inactivation' ? 'Inactivate' : 'Load'}_${table}`;
}

/** A load's file, without its extension. */
export function fileNameOf({ pattern, target }: Pick<LoadSpecification, 'pattern' | 'target'>): string {
  return `${pattern}_${asFileName(target.table)}`;
}

/**
 * The file that calls the procedure of a load, beside the file that creates it.
 *
 * @param creating path of the file that creates it: what tells that from files of other loads is in both names
 */
export function callFileOf(load: Pick<LoadSpecification, 'pattern' | 'target'>, creating?: string): string {
  const [, name] = /([^/\\]+)\.sql$/i.exec(creating ?? '') ?? [];
  return `run_${name?.startsWith(fileNameOf(load)) === true ? name : fileNameOf(load)}.sql`;
}
