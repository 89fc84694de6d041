import type { FilePort } from './port.ts';
import { fitsGlob, folderOf, joinPath } from './port.ts';
import { unescapeXml } from './xml.ts';

/**
 * The SQL files that a database project builds: its `Build` items, and for SDK-style projects every file below the
 * project that no `Build Remove` takes out. Conditions and MSBuild variables are not evaluated.
 */
export async function filesOfProject(port: FilePort, project: string, text: string): Promise<readonly string[]> {
  const folder = folderOf(project);
  const included = itemPatterns(text, 'Include');
  const removed = itemPatterns(text, 'Remove');
  const everything = /<Project\b[^>]*\bSdk\s*=|<Sdk\b/i.test(text);
  const listed = included.filter((pattern) => !/[*?]/.test(pattern)).map((path) => joinPath(folder, path));
  const globs = [...(everything ? ['**/*.sql'] : []), ...included.filter((pattern) => /[*?]/.test(pattern))];
  if (globs.length === 0) return listed.filter((file) => isSql(file));
  const all = (await port.list(folder)).filter((file) => isSql(file));
  const prefix = folder === '.' ? '' : `${folder}/`;
  const found = all.filter((file) => {
    const path = file.startsWith(prefix) ? file.slice(prefix.length) : file;
    const taken =
      globs.some((pattern) => fitsGlob(path, pattern)) && !removed.some((pattern) => fitsGlob(path, pattern));
    return taken && !/^(bin|obj)\//i.test(path);
  });
  return [...new Set([...listed.filter((file) => isSql(file)), ...found])];
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
