import { type ConnectionSettings, connectionDefaults, readConnectionSettings } from '../../../protocol/connection.ts';

/** Who wrote the profile down. What the workspace says is not trusted with what the user's profiles own. */
type Origin = 'user' | 'workspace' | 'embedded';

/** A connection by name, with every field of the settings filled in. It never holds a secret. */
export interface ConnectionProfile extends ConnectionSettings {
  readonly origin: Origin;
}

export const embeddedName = 'Embedded engine';

/** The connection that is there without any setting. @param file path of its database file */
export function embeddedProfile(file: string): ConnectionProfile {
  return {
    ...connectionDefaults,
    name: embeddedName,
    origin: 'embedded',
    platform: 'duckdb',
    file,
    environment: 'embedded',
  };
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

/** What the runner is told of a profile. */
export function connectionSettings({ origin: _, ...settings }: ConnectionProfile): ConnectionSettings {
  return settings;
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
  keep('auth', profile.auth, connectionDefaults.auth);
  keep('user', profile.user, null);
  keep('domain', profile.domain, null);
  keep('encrypt', profile.encrypt, connectionDefaults.encrypt);
  keep('trustServerCertificate', profile.trustServerCertificate, false);
  keep('caFile', profile.caFile, null);
  keep('environment', profile.environment, connectionDefaults.environment);
  keep('protected', profile.isProtected, false);
  keep('readOnly', profile.isReadOnly, false);
  keep('connectTimeoutSeconds', profile.connectTimeoutSeconds, connectionDefaults.connectTimeoutSeconds);
  keep('runTimeoutSeconds', profile.runTimeoutSeconds, connectionDefaults.runTimeoutSeconds);
  keep('retries', profile.retries, connectionDefaults.retries);
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

/** Whether a password is asked for; Entra signs in by the editor, and the embedded engine not at all. */
export function needsPassword(profile: ConnectionProfile): boolean {
  return profile.platform !== 'duckdb' && profile.auth !== 'entra';
}

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
    const found = readConnectionSettings(entry);
    if (typeof found === 'string') problems.push(`Connection ${index + 1} of the ${origin} settings: ${found}`);
    else if (profiles.some((profile) => sameName(profile.name, found.name)) || sameName(found.name, embeddedName))
      problems.push(`Connection ${index + 1} of the ${origin} settings: the name "${found.name}" is taken.`);
    else profiles.push({ ...found, origin });
  });
  return profiles;
}
