import type { ConnectionSettings } from '../../protocol/connection.ts';
import type { PlatformName } from '../../protocol/platform.ts';
import { ConnectionError, type Driver, type Session } from './session.ts';

const notYet = 'is not available yet; run this load on the embedded engine or on SQL Server';

/** One driver a platform, loaded when it is first used. */
const drivers: Readonly<Record<PlatformName, () => Promise<Driver>>> = {
  duckdb: async () => (await import('./drivers/duckdb.ts')).duckdbDriver,
  sqlserver: mssql,
  azuresql: mssql,
  synapse: mssql,
  fabric: mssql,
  databricks: () => Promise.reject(new ConnectionError(`A connection to Databricks ${notYet}.`)),
  delta: () => Promise.reject(new ConnectionError(`A connection to Delta Lake ${notYet}.`)),
  spark: () => Promise.reject(new ConnectionError(`A connection to Spark ${notYet}.`)),
};

async function mssql(): Promise<Driver> {
  return (await import('./drivers/mssql.ts')).mssqlDriver;
}

/**
 * Opens a session.
 *
 * @param secret password, or the access token for `entra`; null where none is needed
 * @throws ConnectionError in words that say what to do; it never holds the secret
 */
export async function openSession(
  settings: ConnectionSettings,
  secret: string | null,
  signal: AbortSignal = new AbortController().signal,
): Promise<Session> {
  const driver = await drivers[settings.platform]();
  return driver.open(settings, secret, signal);
}
