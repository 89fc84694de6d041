import { isTsql, type Platform } from '../../../../protocol/platform.ts';
import type { Dialect } from '../dialect.ts';
import { duckdbDialect } from './duckdb.ts';
import { tsqlDialect } from './tsql.ts';

/** The dialect of a platform that cases can run on, undefined for one that they cannot run on yet. */
export function dialectOf(platform: Platform): Dialect | undefined {
  if (platform.name === 'duckdb') return duckdbDialect;
  return isTsql(platform.name) ? tsqlDialect(platform) : undefined;
}
