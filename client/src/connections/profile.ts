import type { PlatformName } from '../../../protocol/platform.ts';

export type Authentication = 'sql' | 'ntlm' | 'entra';
export type Encryption = 'true' | 'false' | 'strict';
export type Environment = 'dev' | 'test' | 'prod';
/** Who wrote the profile down. What the workspace says is not trusted with what the user's profiles own. */
export type Origin = 'user' | 'workspace' | 'embedded';

/** A connection by name, with every field of the settings filled in. It never holds a secret. */
export interface ConnectionProfile {
  readonly name: string;
  readonly origin: Origin;
  readonly platform: PlatformName;
  readonly server: string | null;
  readonly port: number | null;
  readonly database: string | null;
  readonly schema: string | null;
  /** Path of a DuckDB file. */
  readonly file: string | null;
  readonly auth: Authentication;
  readonly user: string | null;
  readonly domain: string | null;
  readonly encrypt: Encryption;
  readonly trustServerCertificate: boolean;
  readonly caFile: string | null;
  readonly environment: Environment | 'embedded';
  readonly isProtected: boolean;
  readonly isReadOnly: boolean;
  readonly connectTimeoutSeconds: number;
  /** 0: no limit. */
  readonly runTimeoutSeconds: number;
  readonly retries: number;
}

export const embeddedName = 'Embedded engine';

/** The connection that is there without any setting. @param file path of its database file */
export function embeddedProfile(file: string): ConnectionProfile {
  return { ...defaults, name: embeddedName, origin: 'embedded', platform: 'duckdb', file, environment: 'embedded' };
}

export interface ProfileList {
  readonly profiles: readonly ConnectionProfile[];
  /** Sentences about entries that cannot be used. */
  readonly problems: readonly string[];
}

/**
 * Reads the profiles of the user settings and of the workspace. A workspace profile takes the place of the user's of the
 * same name, but can neither switch off its protection nor its read-only mark.
 */
export function readProfiles(user: unknown, workspace: unknown): ProfileList {
  const problems: string[] = [];
  const ofUser = readList(user, 'user', problems);
  const ofWorkspace = readList(workspace, 'workspace', problems).map((profile) => {
    const other = ofUser.find((candidate) => sameName(candidate.name, profile.name));
    return other === undefined ? profile : noWeaker(profile, other);
  });
  const hidden = new Set(ofWorkspace.map((profile) => profile.name.toLowerCase()));
  return {
    profiles: [...ofUser.filter((profile) => !hidden.has(profile.name.toLowerCase())), ...ofWorkspace],
    problems,
  };
}

/** The entry of the settings that reads back as this profile; defaults are left out. */
export function settingOf(profile: ConnectionProfile): Record<string, unknown> {
  const entry: Record<string, unknown> = { name: profile.name, platform: profile.platform };
  const keep = (name: string, value: unknown, absent: unknown) => {
    if (value !== absent) entry[name] = value;
  };
  keep('server', profile.server, null);
  keep('port', profile.port, null);
  keep('database', profile.database, null);
  keep('schema', profile.schema, null);
  keep('file', profile.file, null);
  keep('auth', profile.auth, defaults.auth);
  keep('user', profile.user, null);
  keep('domain', profile.domain, null);
  keep('encrypt', profile.encrypt, defaults.encrypt);
  keep('trustServerCertificate', profile.trustServerCertificate, false);
  keep('caFile', profile.caFile, null);
  keep('environment', profile.environment, defaults.environment);
  keep('protected', profile.isProtected, false);
  keep('readOnly', profile.isReadOnly, false);
  keep('connectTimeoutSeconds', profile.connectTimeoutSeconds, defaults.connectTimeoutSeconds);
  keep('runTimeoutSeconds', profile.runTimeoutSeconds, defaults.runTimeoutSeconds);
  keep('retries', profile.retries, defaults.retries);
  return entry;
}

/**
 * The name under which a profile's secret lies. Everything that decides where the secret travels is part of it, so a
 * profile that changes one of these asks again, and a workspace's profile never finds the user's secret.
 */
export function secretKey(profile: ConnectionProfile): string {
  const { origin, name, server, port, user, domain, auth, encrypt, trustServerCertificate, caFile } = profile;
  return `connection ${JSON.stringify([origin, name, server?.toLowerCase() ?? null, port, user, domain, auth, encrypt, trustServerCertificate, caFile])}`;
}

export function needsPassword(profile: ConnectionProfile): boolean {
  return profile.platform !== 'duckdb' && profile.auth !== 'entra';
}

export const defaults: ConnectionProfile = {
  name: '',
  origin: 'user',
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

export const connectable = [
  'sqlserver',
  'azuresql',
  'synapse',
  'fabric',
  'duckdb',
] as const satisfies readonly PlatformName[];

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function noWeaker(profile: ConnectionProfile, other: ConnectionProfile): ConnectionProfile {
  return {
    ...profile,
    isProtected: profile.isProtected || other.isProtected,
    isReadOnly: profile.isReadOnly || other.isReadOnly,
    environment: other.environment === 'prod' ? 'prod' : profile.environment,
  };
}

function readList(value: unknown, origin: Origin, problems: string[]): ConnectionProfile[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    problems.push(`"mergewright.connections" of the ${origin} settings must be a list.`);
    return [];
  }
  const profiles: ConnectionProfile[] = [];
  value.forEach((entry: unknown, index) => {
    const found = readProfile(entry, origin);
    if (typeof found === 'string') problems.push(`Connection ${index + 1} of the ${origin} settings: ${found}`);
    else if (profiles.some((profile) => sameName(profile.name, found.name)) || sameName(found.name, embeddedName))
      problems.push(`Connection ${index + 1} of the ${origin} settings: the name "${found.name}" is taken.`);
    else profiles.push(found);
  });
  return profiles;
}

/** The profile, or what is wrong with the entry. */
function readProfile(entry: unknown, origin: Origin): ConnectionProfile | string {
  if (typeof entry !== 'object' || entry === null) return 'it must be an object with "name" and "platform".';
  const fields = new Map<string, unknown>(Object.entries(entry));
  const text = (name: string): string | null => {
    const value = fields.get(name);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  };
  const number = (name: string, absent: number): number => {
    const value = fields.get(name);
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : absent;
  };
  const name = text('name');
  if (name === null) return 'it has no "name".';
  const platform = connectable.find((candidate) => candidate === text('platform'));
  if (platform === undefined) return `"${name}" needs a "platform": ${connectable.join(', ')}.`;
  if (fields.has('password'))
    return `"${name}" holds a password. Remove it here: it is asked for and kept in secret storage.`;
  const profile: ConnectionProfile = {
    ...defaults,
    name,
    origin,
    platform,
    server: text('server'),
    port: number('port', 0) || null,
    database: text('database'),
    schema: text('schema'),
    file: text('file'),
    auth: oneOf(['sql', 'ntlm', 'entra'], text('auth'), defaults.auth),
    user: text('user'),
    domain: text('domain'),
    encrypt: oneOf(['true', 'false', 'strict'], String(fields.get('encrypt') ?? ''), defaults.encrypt),
    trustServerCertificate: fields.get('trustServerCertificate') === true,
    caFile: text('caFile'),
    environment: oneOf<Environment>(['dev', 'test', 'prod'], text('environment'), 'dev'),
    isProtected: fields.get('protected') === true,
    isReadOnly: fields.get('readOnly') === true,
    connectTimeoutSeconds: number('connectTimeoutSeconds', defaults.connectTimeoutSeconds) || 15,
    runTimeoutSeconds: number('runTimeoutSeconds', defaults.runTimeoutSeconds),
    retries: Math.min(number('retries', 0), 10),
  };
  if (platform === 'duckdb') return profile.file === null ? `"${name}" needs the "file" of its database.` : profile;
  return profile.server === null ? `"${name}" needs a "server".` : profile;
}

function oneOf<T extends string>(values: readonly T[], found: string | null, absent: T): T {
  return values.find((value) => value === found) ?? absent;
}
