import { ConnectionError, type Driver } from '../session.ts';

/** SQL Server and its family. */
export const mssqlDriver: Driver = {
  open: () => Promise.reject(new ConnectionError('Connections to SQL Server are not available yet; use duckdb:FILE.')),
};
