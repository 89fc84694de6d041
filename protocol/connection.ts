import type { PlatformName } from './platform.ts';

type Authentication = 'sql' | 'ntlm' | 'entra';
export type Encryption = 'true' | 'false' | 'strict';

/** Everything that decides where a session goes and how it behaves. It never holds a secret. */
export interface ConnectionSettings {
  readonly name: string;
  readonly platform: PlatformName;
  /** Host name, or `host\instance`. */
  readonly server: string | null;
  readonly port: number | null;
  readonly database: string | null;
  readonly schema: string | null;
  /** Path of a DuckDB file, or `:memory:`. */
  readonly file: string | null;
  readonly auth: Authentication;
  readonly user: string | null;
  readonly domain: string | null;
  readonly encrypt: Encryption;
  readonly trustServerCertificate: boolean;
  readonly caFile: string | null;
  readonly environment: 'embedded' | 'dev' | 'test' | 'prod';
  readonly isProtected: boolean;
  readonly isReadOnly: boolean;
  readonly connectTimeoutSeconds: number;
  /** 0: no limit. */
  readonly runTimeoutSeconds: number;
  /** How often a deadlock victim or a snapshot conflict is tried again. */
  readonly retries: number;
}

/** A profile without any field of its own. */
export const connectionDefaults: ConnectionSettings = {
  name: '',
  platform: 'sqlserver',
  server: null,
  port: null,
  database: null,
  schema: null,
  file: null,
  auth: 'sql',
  user: null,
  domain: null,
  encrypt: 'true',
  trustServerCertificate: false,
  caFile: null,
  environment: 'dev',
  isProtected: false,
  isReadOnly: false,
  connectTimeoutSeconds: 15,
  runTimeoutSeconds: 0,
  retries: 0,
};

/** Platforms that a session can be opened on. */
export const connectablePlatforms = [
  'sqlserver',
  'azuresql',
  'synapse',
  'fabric',
  'duckdb',
] as const satisfies readonly PlatformName[];

/** Reads one entry of the setting `mergewright.connections`: the settings, or what is wrong with the entry, in words. */
export function readConnectionSettings(entry: unknown): ConnectionSettings | string {
  if (typeof entry !== 'object' || entry === null) return 'it must be an object with "name" and "platform".';
  const fields = new Map<string, unknown>(Object.entries(entry));
  const text = (field: string): string | null => {
    const value = fields.get(field);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  };
  const whole = (field: string, absent: number): number => {
    const value = fields.get(field);
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : absent;
  };
  const name = text('name');
  if (name === null) return 'it has no "name".';
  const platform = connectablePlatforms.find((candidate) => candidate === text('platform'));
  if (platform === undefined) return `"${name}" needs a "platform": ${connectablePlatforms.join(', ')}.`;
  if (fields.has('password'))
    return `"${name}" holds a password. Remove it here: it is asked for and never kept in settings.`;
  const settings: ConnectionSettings = {
    name,
    platform,
    server: text('server'),
    port: whole('port', 0) || null,
    database: text('database'),
    schema: text('schema'),
    file: text('file'),
    auth: oneOf(['sql', 'ntlm', 'entra'], text('auth'), connectionDefaults.auth),
    user: text('user'),
    domain: text('domain'),
    encrypt: oneOf(['true', 'false', 'strict'], String(fields.get('encrypt') ?? ''), connectionDefaults.encrypt),
    trustServerCertificate: fields.get('trustServerCertificate') === true,
    caFile: text('caFile'),
    environment: oneOf(['dev', 'test', 'prod'], text('environment'), 'dev'),
    isProtected: fields.get('protected') === true,
    isReadOnly: fields.get('readOnly') === true,
    connectTimeoutSeconds:
      whole('connectTimeoutSeconds', connectionDefaults.connectTimeoutSeconds) ||
      connectionDefaults.connectTimeoutSeconds,
    runTimeoutSeconds: whole('runTimeoutSeconds', connectionDefaults.runTimeoutSeconds),
    retries: Math.min(whole('retries', 0), 10),
  };
  if (platform === 'duckdb') return settings.file === null ? `"${name}" needs the "file" of its database.` : settings;
  return settings.server === null ? `"${name}" needs a "server".` : settings;
}

/**
 * The file in which another database lives beside a main DuckDB file: `warehouse.Staging.duckdb` beside `warehouse.duckdb`
 * is attached as "Staging" whenever the main file is opened. Characters that a file name can't have are percent-encoded.
 */
export function attachedFile(mainFile: string, database: string): string {
  const name = encodeURIComponent(database).replaceAll('.', '%2E').replaceAll('*', '%2A');
  return `${mainFile.replace(/\.[^./\\]*$/, '')}.${name}.duckdb`;
}

function oneOf<T extends string>(values: readonly T[], found: string | null, absent: T): T {
  return values.find((value) => value === found) ?? absent;
}
