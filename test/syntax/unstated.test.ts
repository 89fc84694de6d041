import { describe, expect, test } from 'vitest';
import { detectPlatform } from '../../server/src/syntax/platform.ts';
import { platformOfUnstated, platformThatReads } from '../../server/src/syntax/unstated.ts';

describe('a text of which nothing says the platform', () => {
  test.each([
    'create or replace view v as select 1 as a',
    'alter table t add column z integer;',
    'create schema if not exists foo;',
    'select a from b order by a nulls last',
    'select * from a left join b using (id)',
    "select interval '1' day",
    'select interval 1 day',
    'create temporary table tt (a int);',
    "comment on table t is 'x';",
    'alter table t rename column a to b',
    'select a from t qualify row_number() over (order by a) = 1',
    'delete from t using u where t.a = u.a',
    'create table t (a int);\ncreate view v as select a from t;',
    'create view v as select 1 as a;\n-- read it\nselect a from v;',
    'select count(distinct a) over (partition by b) from t',
    'create table t (a double, b int)',
    'select extract(year from a) from t',
    "INSERT INTO dim VALUES (1, DATE '2026-01-01', true);",
    "create or replace view v as\nselect 1 as a;\n\nalter table t add column z integer;\nselect * from a join b using (id);\ncomment on table t is 'x';\n",
  ])('is of the platform that reads it: %s', (text) => {
    expect(platformOfUnstated(text)).toBe('duckdb');
  });

  test.each([
    'SELEC a FROM b',
    'INSERT INTO t VALUES (1,)',
    'SELECT a, FROM b',
    'SELECT a FROM b WHERE a == 1',
    'SELECT a FROM b GRUP BY a',
    'DELETE FROM t WERE a = 1',
    "SELECT date '2026-01-01' FROM b GRUP BY a",
    'CREATE TABLE t (a int) foo',
    'SELECT a FROM b WHERE a IS NOT',
    'MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET a = s.a',
    'CREATE OR REPLACE VIEW v AS SELECT a FROM b WHERE',
    'CREATE OR REPLACE VIEW v AS SELECT 1 AS a;\nSELEC a FROM b',
    'EXEC p',
  ])('stays T-SQL with its mistake: %s', (text) => {
    expect(detectPlatform(text)).toBeUndefined();
    expect(platformOfUnstated(text)).toBe('sqlserver');
  });

  test('is of Databricks where DuckDB has no such statement', () => {
    const neutral = 'create or replace view v as select a from b cluster by a';
    expect(platformThatReads(neutral)).toBe('databricks');
  });

  test('is not looked at twice where it is long', () => {
    const text = 'alter table t add column z integer;';
    expect(platformThatReads(`${text}${' '.repeat(150_000)}`)).toBe('duckdb');
    expect(platformThatReads(`${text}${' '.repeat(200_000)}`)).toBeUndefined();
  });
});

test('the header of a generated script says its platform, whatever its text shows', () => {
  const header = (platform: string) =>
    `-- our house\n-- mergewright: {"format":1,"version":1,"pattern":"scd2","platform":"${platform}","options":{"platform":"duckdb"}}\n`;
  const text = 'BEGIN TRAN;\nUPDATE dw.t SET [a] = 1;\nCOMMIT TRAN;\nGO\n';
  expect(platformOfUnstated(header('fabric') + text)).toBe('fabric');
  expect(platformOfUnstated(header('sqlserver:2016') + text)).toBe('sqlserver');
  expect(platformOfUnstated(header('nothing') + text)).toBe('sqlserver');
});
