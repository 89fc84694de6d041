/**
 * How the workspace reads files; the language server and the command line implement it. A file is named by the text
 * that the outside world uses for it: a URI in the editor, a path relative to the working folder on the command line.
 * Both use `/`.
 */
export interface FilePort {
  /** All files below a folder, or the file itself where the name is one; [] when there is nothing. */
  list(folder: string): Promise<readonly string[]>;
  /** Undefined when the file is missing or can't be read. */
  read(file: string): Promise<Uint8Array | undefined>;
}

/** Names of folders that hold nothing a person wrote. */
export const skippedFolders: ReadonlySet<string> = new Set([
  'node_modules',
  '.git',
  '.svn',
  '.hg',
  'bin',
  'obj',
  '.vscode',
  '.venv',
  'venv',
  'site-packages',
  '__pycache__',
]);

/** The folder of a file or folder name; the name itself at the top. */
export function folderOf(file: string): string {
  const slash = file.lastIndexOf('/');
  return slash <= 0 ? '.' : file.slice(0, slash);
}

export function fileNameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/**
 * Joins a folder and a relative path with `.` and `..` in it; backslashes count as separators. The path is written as a
 * person does: a URI gets it with blanks and umlauts escaped.
 */
export function joinPath(folder: string, relative: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(folder)?.[0] ?? '';
  const rest = folder.slice(scheme.length);
  const slashes = relative.replaceAll('\\', '/');
  const parts: string[] = [];
  for (const part of `${rest}/${scheme === '' ? slashes : escaped(slashes)}`.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part === '..') parts.push(part);
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const absolute = scheme !== '' || rest.startsWith('/');
  return `${scheme}${absolute ? '/' : ''}${parts.join('/')}` || '.';
}

/** As `pathToFileURL` of Node.js escapes a path, so that one file has one name. */
function escaped(path: string): string {
  const marks = path.replaceAll('%', '%25').replaceAll('?', '%3F').replaceAll('#', '%23');
  // A URL drops dots, which are still to be counted.
  return marks
    .split('/')
    .map((part) => (/^\.{0,2}$/.test(part) ? part : new URL(`file:///${part}`).pathname.slice(1)))
    .join('/');
}

/** The path of a file below a folder, as a person writes it in a pattern: that of a URI without its escapes. */
export function pathBelow(file: string, folder: string): string {
  if (folder === '.' || folder === '') return file;
  const path = file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(file)) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** True when a file lies in a folder, at any depth. */
export function liesIn(file: string, folder: string): boolean {
  return folder === '.' ? !file.startsWith('../') : file === folder || file.startsWith(`${folder}/`);
}

/** Files that a folder reads; of all others nothing is known but their folders. */
export function isReadable(file: string): boolean {
  return /\.(?:sql|py|dacpac)$/i.test(file) || isProjectOrSettings(file);
}

/** Files on which it depends which other files a folder has, and how they are read. */
export function isProjectOrSettings(file: string): boolean {
  return /(?:\.sqlproj|(?:^|\/)mergewright\.json)$/i.test(file);
}

/** Matches a path against a pattern with `*` (inside one part), `**` (any parts) and `?`. */
export function fitsGlob(path: string, pattern: string): boolean {
  const normalised = pattern.replaceAll('\\', '/').replace(/^\.\//, '');
  const source = normalised
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => globParts[part] ?? part.replace(/[.+^${}()|[\]\\]/g, '\\$&'))
    .join('');
  return new RegExp(`^${source}(/.*)?$`, 'i').test(path);
}

const globParts: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
