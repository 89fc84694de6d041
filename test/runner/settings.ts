import { type ConnectionSettings, connectionDefaults } from '../../protocol/connection.ts';

/** The embedded engine on a file, or in memory. */
export function duckdbSettings(file = ':memory:', more: Partial<ConnectionSettings> = {}): ConnectionSettings {
  return { ...connectionDefaults, name: 'embedded', platform: 'duckdb', file, environment: 'embedded', ...more };
}

/** A server of the SQL Server family on this machine, without encryption. */
export function mssqlSettings(port: number, more: Partial<ConnectionSettings> = {}): ConnectionSettings {
  return {
    ...connectionDefaults,
    name: 'warehouse',
    server: 'localhost',
    port,
    user: 'loader',
    encrypt: 'false',
    connectTimeoutSeconds: 5,
    ...more,
  };
}
