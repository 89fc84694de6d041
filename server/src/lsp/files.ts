import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type FilePort, skippedFolders } from '../workspace/port.ts';

/** Reads files by `file:` URIs; other schemes hold single documents that only the editor can read. */
export const uriFiles: FilePort = {
  async list(folder) {
    const path = pathOf(folder);
    const kind = path === undefined ? undefined : await stat(path).catch(() => undefined);
    if (path === undefined || kind === undefined) return [];
    return kind.isFile() ? [folder] : walk(path);
  },
  async read(file) {
    const path = pathOf(file);
    return path === undefined ? undefined : readBytes(path);
  },
};

/** So many reads after another that take longer, in milliseconds, go over a network, which must not hold up requests. */
const slowRead = 5;
const mostSlowReads = 3;
let slowReads = 0;

/** A small file of a local disk is read at once in a tenth of the time that its promises take. */
function readBytes(path: string): Uint8Array | undefined | Promise<Uint8Array | undefined> {
  if (slowReads >= mostSlowReads) return readFile(path).catch(() => undefined);
  const started = performance.now();
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  } finally {
    slowReads = performance.now() - started > slowRead ? slowReads + 1 : 0;
  }
}

/** One spelling for each file, whatever the editor escapes: `file:///c%3A/x` and `file:///c:/x` are one. */
export function normalUri(uri: string): string {
  const path = pathOf(uri);
  return path === undefined ? uri : pathToFileURL(path).href;
}

function pathOf(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

async function walk(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && !skippedFolders.has(entry.name)) found.push(...(await walk(path)));
    else if (entry.isFile()) found.push(pathToFileURL(path).href);
  }
  return found;
}
