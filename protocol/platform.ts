/** Platforms by the names that the command line takes. */
export const platformNames = [
  'sqlserver',
  'azuresql',
  'synapse',
  'fabric',
  'databricks',
  'delta',
  'spark',
  'duckdb',
] as const;
export type PlatformName = (typeof platformNames)[number];

/** Product versions of SQL Server that `sqlserver:VERSION` takes. */
export const sqlServerVersions = [2012, 2014, 2016, 2017, 2019, 2022, 2025] as const;
export type SqlServerVersion = (typeof sqlServerVersions)[number];

/** A platform with the product version where the platform has one (`sqlserver` alone means 2019). */
export interface Platform {
  readonly name: PlatformName;
  /** Only for `sqlserver`. */
  readonly version?: SqlServerVersion;
}

/** Version that `sqlserver` without a version stands for. */
export const defaultSqlServerVersion: SqlServerVersion = 2019;

/**
 * Reads `sqlserver`, `sqlserver:2016`, `duckdb` … ; undefined when the text names no platform.
 */
export function parsePlatform(text: string): Platform | undefined {
  const [name, version, ...rest] = text.trim().toLowerCase().split(':');
  const known = platformNames.find((candidate) => candidate === name);
  if (known === undefined || rest.length > 0) return undefined;
  if (version === undefined) {
    return known === 'sqlserver' ? { name: known, version: defaultSqlServerVersion } : { name: known };
  }
  const knownVersion = sqlServerVersions.find((candidate) => String(candidate) === version);
  return known === 'sqlserver' && knownVersion !== undefined ? { name: known, version: knownVersion } : undefined;
}

/** The text that `parsePlatform` reads back; `sqlserver` in its default version stands without a version. */
export function formatPlatform(platform: Platform): string {
  return platform.version === undefined || platform.version === defaultSqlServerVersion
    ? platform.name
    : `${platform.name}:${platform.version}`;
}

/** The T-SQL family: one grammar with differences, one run of batches separated by GO. */
export function isTsql(platform: PlatformName): boolean {
  return platform === 'sqlserver' || platform === 'azuresql' || platform === 'synapse' || platform === 'fabric';
}

/** Spark SQL and its Delta dialects. */
export function isSpark(platform: PlatformName): boolean {
  return platform === 'databricks' || platform === 'delta' || platform === 'spark';
}
