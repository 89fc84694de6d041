import { isSpark, isTsql, type PlatformName } from '../../../protocol/platform.ts';

export type Family = 'tsql' | 'spark' | 'duckdb';

/** What tokenizer and grammar have to know of a platform. */
export interface Dialect {
  readonly platform: PlatformName;
  readonly family: Family;
  /** `"x"` is a string, and strings know backslash escapes. */
  readonly doubleQuotedStrings: boolean;
  /** A comparison is a value like any other; T-SQL keeps conditions and values apart. */
  readonly booleanValues: boolean;
}

function make(platform: PlatformName): Dialect {
  const family: Family = isTsql(platform) ? 'tsql' : isSpark(platform) ? 'spark' : 'duckdb';
  return { platform, family, doubleQuotedStrings: family === 'spark', booleanValues: family !== 'tsql' };
}

const dialects: Readonly<Record<PlatformName, Dialect>> = {
  sqlserver: make('sqlserver'),
  azuresql: make('azuresql'),
  synapse: make('synapse'),
  fabric: make('fabric'),
  databricks: make('databricks'),
  delta: make('delta'),
  spark: make('spark'),
  duckdb: make('duckdb'),
};

/** The dialect of a platform. */
export function dialectOf(platform: PlatformName): Dialect {
  return dialects[platform];
}
