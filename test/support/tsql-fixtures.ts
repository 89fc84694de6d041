import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { PlatformName } from '../../protocol/platform.ts';

export interface SqlFixture {
  readonly name: string;
  readonly text: string;
  readonly platform: PlatformName;
}

const folder = join(import.meta.dirname, '../fixtures/sql');

function fixturesOf(kind: string, platformOf: (name: string) => PlatformName): readonly SqlFixture[] {
  return readdirSync(join(folder, kind))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const name = basename(file, '.sql');
      return { name, text: readFileSync(join(folder, kind, file), 'utf8'), platform: platformOf(name) };
    });
}

/** Valid T-SQL, one file a theme; a file named after a platform holds that platform's own syntax. */
export const tsqlFixtures = fixturesOf('tsql', (name) =>
  name === 'synapse' || name === 'fabric' ? name : 'sqlserver',
);

/** Valid T-SQL that loads hardly ever use, one batch a construct: every statement of the reference in its forms. */
export const rareTsqlFixtures = fixturesOf('constructs', () => 'sqlserver');

/** Valid Spark SQL (Databricks) and DuckDB scripts. */
export const sparkFixtures = fixturesOf('spark', () => 'databricks');
export const duckdbFixtures = fixturesOf('duckdb', () => 'duckdb');
