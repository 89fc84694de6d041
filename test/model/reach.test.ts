import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { buildCatalog } from '../../server/src/model/catalog.ts';
import { readDefinitions } from '../../server/src/model/definitions.ts';
import { parse } from '../../server/src/syntax/parse.ts';

/** Columns by the name of each table of some files, each with its platform. */
function columnsIn(...files: readonly (readonly [PlatformName, string])[]) {
  const read = files.map(([platform, text], index) => readDefinitions(parse(text, { platform }), `${index}.sql`));
  return buildCatalog(read).tables.map(({ name, columns }) => `${name.table}: ${columns.map((column) => column.name)}`);
}

const duckdb = ['duckdb', 'CREATE TABLE t (a VARCHAR[], b HUGEINT);'] as const;
const tsql = ['sqlserver', 'CREATE TABLE [t] ([a] int, [b] int)\nGO'] as const;
const spark = ['databricks', 'CREATE TABLE t (a STRING, b INT) USING DELTA;'] as const;
const neutral = ['sqlserver', 'CREATE TABLE t (a int, b int);'] as const;

const addsOn = {
  duckdb: ['duckdb', 'ALTER TABLE t ADD COLUMN c HUGEINT;'],
  sqlserver: ['sqlserver', 'ALTER TABLE [t] ADD [c] datetime2(3);'],
  synapse: ['synapse', 'ALTER TABLE [t] ADD [c] datetime2(3);'],
  spark: ['spark', 'ALTER TABLE t ADD COLUMNS (c STRING);'],
  neutral: ['sqlserver', 'ALTER TABLE t ADD c int;'],
} as const;

describe('ALTER TABLE reaches the tables of its own family of platforms', () => {
  test.each([
    [duckdb, ['duckdb', 'neutral']],
    [tsql, ['sqlserver', 'synapse', 'neutral']],
    [spark, ['spark', 'neutral']],
    [neutral, ['duckdb', 'sqlserver', 'synapse', 'spark', 'neutral']],
  ] as const)('%s', (table, reaching) => {
    const reached = Object.entries(addsOn).filter(([, add]) => columnsIn(table, add)[0] === 't: a,b,c');
    expect(reached.map(([name]) => name)).toEqual(reaching);
  });

  test('of two tables of one name it means the one of its family', () => {
    const others = [
      ['duckdb', 'CREATE TABLE main.t (a HUGEINT);'],
      ['databricks', 'CREATE TABLE silver.t (a STRING) USING DELTA;'],
    ] as const;
    expect(columnsIn(...others, addsOn.spark)).toEqual(['t: a', 't: a,c']);
    expect(columnsIn(...others, addsOn.duckdb)).toEqual(['t: a,c', 't: a']);
  });
});

test('a rename reaches the tables of its own family', () => {
  expect(columnsIn(duckdb, ['databricks', 'ALTER TABLE t RENAME TO u;'])).toEqual(['t: a,b']);
  expect(columnsIn(spark, ['databricks', 'ALTER TABLE t RENAME TO u;'])).toEqual(['u: a,b']);
  expect(columnsIn(neutral, ['databricks', 'ALTER TABLE t RENAME TO u;'])).toEqual(['u: a,b']);
});
