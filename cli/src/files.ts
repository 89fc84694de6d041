import { readdir, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type FilePort, skippedFolders } from '../../server/src/workspace/port.ts';

/** Reads files by names relative to a working folder, with `/`. */
export class NodeFiles implements FilePort {
  private readonly cwd: string;

  constructor(cwd: string) {
    this.cwd = cwd;
  }

  async list(folder: string): Promise<readonly string[]> {
    const path = resolve(this.cwd, folder);
    const kind = await stat(path).catch(() => undefined);
    if (kind === undefined) return [];
    return kind.isFile() ? [this.nameOf(path)] : this.walk(path);
  }

  async read(file: string): Promise<Uint8Array | undefined> {
    return readFile(resolve(this.cwd, file)).catch(() => undefined);
  }

  /** The name by which the rest of the program knows a path. */
  nameOf(path: string): string {
    const absolute = resolve(this.cwd, path);
    const name = relative(this.cwd, absolute).split(sep).join('/');
    return name === '' ? '.' : isAbsolute(name) ? absolute.split(sep).join('/') : name;
  }

  private async walk(folder: string): Promise<readonly string[]> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const found = await Promise.all(
      entries
        .sort((left, right) => (left.name < right.name ? -1 : 1))
        .map(async (entry): Promise<readonly string[]> => {
          if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : this.walk(join(folder, entry.name));
          return entry.isFile() ? [this.nameOf(join(folder, entry.name))] : [];
        }),
    );
    return found.flat();
  }
}
