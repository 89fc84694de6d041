import { type ConnectionSettings, connectionDefaults, type Encryption } from '../../protocol/connection.ts';

/** The embedded engine in memory. */
export const memoryFile = ':memory:';

/** A connection as a text names it, or what is wrong with the text. */
export type ConnectionText =
  | { readonly kind: 'settings'; readonly settings: ConnectionSettings }
  /** Not an address: perhaps a profile's name. */
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'wrong'; readonly message: string };

/**
 * Reads `duckdb:FILE`, `duckdb::memory:`, `mssql://user@host:port/database?encrypt=false`. Options of the query string are
 * `encrypt`, `trustServerCertificate`, `caFile`, `auth`, `domain`, `platform`, `connectTimeoutSeconds`,
 * `runTimeoutSeconds` and `retries`. A password in the text is refused: it would stand in the list of processes.
 */
export function readConnectionText(text: string): ConnectionText {
  if (/^duckdb:/i.test(text)) return duckdb(text.slice('duckdb:'.length));
  if (/^mssql:/i.test(text)) return mssql(text);
  if (/^(databricks|spark|delta):/i.test(text)) {
    return wrong(
      `Connections to ${/^databricks/i.test(text) ? 'Databricks' : 'Spark'} are not available yet; use duckdb:FILE or mssql://….`,
    );
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    return wrong(
      `"${text.replace(/:.*$/s, '')}://" is no connection; use duckdb:FILE, mssql://user@host:port/database or a profile's name.`,
    );
  }
  return text.trim() === ''
    ? wrong('The connection is empty; use duckdb:FILE, mssql://user@host:port/database or a profile’s name.')
    : { kind: 'name', name: text };
}

function duckdb(file: string): ConnectionText {
  if (file === '') return wrong('duckdb: needs a file, as in duckdb:warehouse.duckdb, or duckdb::memory:.');
  return {
    kind: 'settings',
    settings: { ...connectionDefaults, name: `duckdb:${file}`, platform: 'duckdb', file, environment: 'embedded' },
  };
}

function mssql(text: string): ConnectionText {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return wrong('The address is no mssql://user@host:port/database?encrypt=false.');
  }
  if (url.password !== '')
    return wrong('Leave the password out of the address; it is read from MERGEWRIGHT_PASSWORD alone.');
  if (url.hostname === '') return wrong('mssql:// needs a host, as in mssql://user@host:1433/database.');
  const options = new Map(url.searchParams);
  const encrypt = options.get('encrypt') ?? connectionDefaults.encrypt;
  if (!isEncryption(encrypt)) return wrong(`encrypt=${encrypt} is unknown; use true, false or strict.`);
  const auth = options.get('auth') ?? 'sql';
  if (auth !== 'sql' && auth !== 'ntlm' && auth !== 'entra')
    return wrong(`auth=${auth} is unknown; use sql, ntlm or entra.`);
  const platform = options.get('platform') ?? 'sqlserver';
  if (platform !== 'sqlserver' && platform !== 'azuresql' && platform !== 'synapse' && platform !== 'fabric')
    return wrong(`platform=${platform} is unknown; use sqlserver, azuresql, synapse or fabric.`);
  const unknown = [...options.keys()].find((key) => !knownOptions.has(key));
  if (unknown !== undefined) return wrong(`The option "${unknown}" of the address is unknown.`);
  const user = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.replace(/^\//, ''));
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const instance = options.get('instance');
  const settings: ConnectionSettings = {
    ...connectionDefaults,
    name: `${host}${database === '' ? '' : `/${database}`}`,
    platform,
    server: instance === undefined ? host : `${host}\\${instance}`,
    port: url.port === '' ? null : Number(url.port),
    database: database === '' ? null : database,
    auth,
    user: user === '' ? null : user,
    domain: options.get('domain') ?? null,
    encrypt,
    trustServerCertificate: options.get('trustServerCertificate') === 'true',
    caFile: options.get('caFile') ?? null,
    connectTimeoutSeconds: whole(options.get('connectTimeoutSeconds')) || connectionDefaults.connectTimeoutSeconds,
    runTimeoutSeconds: whole(options.get('runTimeoutSeconds')),
    retries: Math.min(whole(options.get('retries')), 10),
  };
  return { kind: 'settings', settings };
}

const knownOptions = new Set([
  'encrypt',
  'trustServerCertificate',
  'caFile',
  'auth',
  'domain',
  'platform',
  'instance',
  'connectTimeoutSeconds',
  'runTimeoutSeconds',
  'retries',
]);

function whole(text: string | undefined): number {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : 0;
}

function isEncryption(text: string): text is Encryption {
  return text === 'true' || text === 'false' || text === 'strict';
}

function wrong(message: string): ConnectionText {
  return { kind: 'wrong', message };
}
