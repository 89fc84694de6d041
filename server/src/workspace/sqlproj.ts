import type { FilePort } from './port.ts';
import { fitsGlob, folderOf, joinPath, pathBelow } from './port.ts';
import { unescapeXml } from './xml.ts';

export interface ProjectFiles {
  readonly built: readonly string[];
  /** The files that patterns were held against; null where the project has none, so that a new file is not built. */
  readonly searched: readonly string[] | null;
}

/**
 * The SQL files that a database project builds: its `Build` items, and for SDK-style projects every file below the
 * project that no `Build Remove` takes out. Conditions and MSBuild variables are not evaluated. Windows does not mind how
 * the names of files are capitalised: `known` has those that there are.
 */
export async function filesOfProject(
  port: FilePort,
  project: string,
  text: string,
  known: readonly string[],
): Promise<ProjectFiles> {
  const folder = folderOf(project);
  const included = itemPatterns(text, 'Include');
  const removed = itemPatterns(text, 'Remove');
  const everything = /<Project\b[^>]*\bSdk\s*=|<Sdk\b/i.test(text);
  const spellings = new Map(known.map((file) => [file.toLowerCase(), file]));
  const exact = new Set(known);
  const listed = included
    .filter((pattern) => !/[*?]/.test(pattern))
    .map((path) => joinPath(folder, path))
    .map((file) => (exact.has(file) ? file : (spellings.get(file.toLowerCase()) ?? file)));
  const globs = [...(everything ? ['**/*.sql'] : []), ...included.filter((pattern) => /[*?]/.test(pattern))];
  if (globs.length === 0) return { built: listed.filter((file) => isSql(file)), searched: null };
  const all = (await port.list(folder)).filter((file) => isSql(file));
  const found = all.filter((file) => {
    const path = pathBelow(file, folder);
    const taken =
      globs.some((pattern) => fitsGlob(path, pattern)) && !removed.some((pattern) => fitsGlob(path, pattern));
    return taken && !/^(bin|obj)\//i.test(path);
  });
  return { built: [...listed.filter((file) => isSql(file)), ...found], searched: all };
}

/** `<Build Include="dbo\Tables\A.sql;dbo\Tables\B.sql" />`, also in single quotes. */
function itemPatterns(text: string, attribute: 'Include' | 'Remove'): readonly string[] {
  const item = new RegExp(`<Build\\b[^>]*\\b${attribute}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'gi');
  return [...text.matchAll(item)]
    .flatMap((match) => (match[1] ?? match[2] ?? '').split(';'))
    .map((path) => unescapeXml(path.trim()).replaceAll('\\', '/'))
    .filter((path) => path !== '' && !path.includes('$('));
}

function isSql(file: string): boolean {
  return file.toLowerCase().endsWith('.sql');
}
