import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type ConnectionSettings, readConnectionSettings } from '../../../protocol/connection.ts';
import { memoryFile, readConnectionText } from '../../../runner/src/connection-text.ts';
import { UsageError } from '../command.ts';
import { parseJsonc } from './jsonc.ts';

export interface ChosenConnection {
  readonly settings: ConnectionSettings;
  /** From `MERGEWRIGHT_PASSWORD` alone. */
  readonly secret: string | null;
  /** A profile of `.vscode/settings.json`, not an address. */
  readonly isProfile: boolean;
}

/** The connection that `--connection` names: an address, or a profile of the nearest settings that have it. */
export async function findConnection(
  text: string | undefined,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChosenConnection> {
  if (text === undefined)
    throw new UsageError(
      'Name the connection with --connection duckdb:FILE, mssql://user@host:port/database or a profile.',
    );
  const secret = env['MERGEWRIGHT_PASSWORD'] ?? null;
  const read = readConnectionText(text);
  if (read.kind === 'wrong') throw new UsageError(read.message);
  if (read.kind === 'settings')
    return { settings: { ...read.settings, file: absolute(read.settings.file, cwd) }, secret, isProfile: false };
  return { settings: await findProfile(read.name, cwd), secret, isProfile: true };
}

async function findProfile(name: string, cwd: string): Promise<ConnectionSettings> {
  const known: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, '.vscode', 'settings.json');
    for (const entry of await readProfiles(path)) {
      const settings = readConnectionSettings(entry);
      const isMeant = nameOf(entry)?.toLowerCase() === name.toLowerCase();
      if (typeof settings === 'string') {
        if (isMeant) throw new UsageError(`${path}: the connection "${name}" can't be used: ${settings}`);
      } else if (isMeant) {
        return { ...settings, file: absolute(settings.file, folder), caFile: absolute(settings.caFile, folder) };
      } else known.push(settings.name);
    }
    if (dirname(folder) === folder) break;
  }
  const hint =
    known.length === 0
      ? 'no .vscode/settings.json from here upwards has any; write "mergewright.connections", or give an address'
      : `known are ${known.join(', ')}`;
  throw new UsageError(`There is no connection "${name}": ${hint}.`);
}

async function readProfiles(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return [];
  const settings = parseJsonc(text);
  if (settings === undefined) throw new UsageError(`${path} is no valid JSON; repair it.`);
  const list =
    typeof settings === 'object' && settings !== null ? new Map<string, unknown>(Object.entries(settings)) : new Map();
  const profiles: unknown = list.get('mergewright.connections') ?? [];
  if (!Array.isArray(profiles)) throw new UsageError(`${path}: "mergewright.connections" must be a list.`);
  return profiles;
}

function nameOf(entry: unknown): string | undefined {
  return typeof entry === 'object' && entry !== null && 'name' in entry ? String(entry.name).trim() : undefined;
}

function absolute(file: string | null, folder: string): string | null {
  return file === null || file === memoryFile || isAbsolute(file) ? file : resolve(folder, file);
}
