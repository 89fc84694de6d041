import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { memoryFile } from '../connection-text.ts';
import { ConnectionError } from '../session.ts';

/** An open database file, shared by the sessions of this process. */
export interface OpenFile {
  /** The engine got a limit of ours, which a load may need lifted. */
  readonly hasMemoryLimit: boolean;
  connect(): Promise<DuckDBConnection>;
  /** Gives one use back; the last one closes the file. */
  release(): void;
}

interface Shared {
  readonly instance: Promise<DuckDBInstance>;
  readonly isReadOnly: boolean;
  uses: number;
}

const shared = new Map<string, Shared>();

/** Opens a database and everything attached to it. Databases in memory are never shared. */
export async function openFile(file: string, isReadOnly: boolean): Promise<OpenFile> {
  if (file === memoryFile) {
    const instance = await DuckDBInstance.create(memoryFile, offline);
    return { hasMemoryLimit: false, connect: () => instance.connect(), release: () => instance.closeSync() };
  }
  const path = resolve(file);
  const held = shared.get(path);
  if (held !== undefined && held.isReadOnly !== isReadOnly)
    throw new ConnectionError(
      `${file} is open ${held.isReadOnly ? 'for reading only' : 'for writing'} here; disconnect the other session first.`,
    );
  const entry = held ?? { instance: openInstance(path, isReadOnly), isReadOnly, uses: 0 };
  shared.set(path, entry);
  entry.uses += 1;
  const release = (instance: DuckDBInstance | undefined) => {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    shared.delete(path);
    instance?.closeSync();
  };
  try {
    const instance = await entry.instance;
    return { hasMemoryLimit: true, connect: () => instance.connect(), release: () => release(instance) };
  } catch (error) {
    release(undefined);
    throw error;
  }
}

async function openInstance(path: string, isReadOnly: boolean): Promise<DuckDBInstance> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) throw new ConnectionError(`${path} is a folder; name a database file in it.`);
  if (found === undefined && isReadOnly)
    throw new ConnectionError(`${path} does not exist, so it can't be read; check the path.`);
  if (found === undefined && (await stat(dirname(path)).catch(() => undefined)) === undefined)
    throw new ConnectionError(`The folder ${dirname(path)} does not exist; create it first.`);
  const instance = await DuckDBInstance.create(path, settings(path, isReadOnly)).catch((error: unknown) => {
    throw new ConnectionError(openingFault(path, error));
  });
  try {
    await attachAll(instance, path, isReadOnly);
  } catch (error) {
    instance.closeSync();
    throw error;
  }
  return instance;
}

/** Extensions are never fetched from the network. */
const offline = { autoinstall_known_extensions: 'false' };

/**
 * With ten million rows loads then take less than 600 MiB in as much time: what does not fit is written beside the database
 * file, rows need not keep the order in which they were stored, and freed memory goes back to the system at once, since the
 * engine's limit does not count what its allocator keeps. A load that can't do with it gets the engine's own limit
 * (`liftLimits`).
 */
function settings(path: string, isReadOnly: boolean): Record<string, string> {
  return {
    ...offline,
    access_mode: isReadOnly ? 'READ_ONLY' : 'AUTOMATIC',
    allocator_background_threads: 'true',
    allocator_bulk_deallocation_flush_threshold: '16MiB',
    allocator_flush_threshold: '8MiB',
    memory_limit: '400MB',
    preserve_insertion_order: 'false',
    temp_directory: `${path}.tmp`,
  };
}

async function attachAll(instance: DuckDBInstance, path: string, isReadOnly: boolean): Promise<void> {
  const start = `${stem(path)}.`;
  const files = await readdir(dirname(path));
  const connection = await instance.connect();
  try {
    for (const file of files.sort()) {
      const middle =
        file.startsWith(start) && file.endsWith('.duckdb') ? file.slice(start.length, -'.duckdb'.length) : '';
      if (middle === '' || middle.includes('.')) continue;
      const attached = join(dirname(path), file);
      const mode = isReadOnly ? ' (READ_ONLY)' : '';
      await connection
        .run(`ATTACH ${literal(attached)} AS ${quoted(decoded(middle))}${mode}`)
        .catch((error: unknown) => {
          throw new ConnectionError(openingFault(attached, error));
        });
    }
  } finally {
    connection.closeSync();
  }
}

function stem(path: string): string {
  return basename(path, extname(path));
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** What is wrong with a database file, in words that say what to do. */
function openingFault(path: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/lock/i.test(text)) {
    const process = /PID (\d+)/.exec(text)?.[1];
    return `${path} is in use by another program${process === undefined ? '' : ` (process ${process})`}; close it there and try again.`;
  }
  if (/not a valid DuckDB database file|corrupt|checksum|serializ|magic bytes|Failed to load|replay/i.test(text))
    return `${path} is damaged or no DuckDB database; restore it, or delete it and run mergewright seed again.`;
  if (/permission denied/i.test(text)) return `${path} may not be opened by this user; check its permissions.`;
  return `${path} can't be opened: ${text.split('\n')[0]}`;
}

/** A name for the embedded engine. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text value for the embedded engine. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
