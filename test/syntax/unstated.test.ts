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
    'CREATE TABLE t (a INTEGER, b BOOLEAN DEFAULT true, c VARCHAR(20));',
    'CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER);',
    'CREATE TABLE t (a INTEGER, b TIMESTAMP DEFAULT current_timestamp);',
    'CREATE TABLE t (a INT8, b FLOAT8);',
    'CREATE TABLE t (a INTEGER, b STRUCT(x INTEGER, y VARCHAR), c TIMESTAMP WITH TIME ZONE);',
    'CREATE TABLE t (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1));',
    'INSERT INTO t VALUES (1, true), (2, false);',
    'INSERT INTO t BY NAME SELECT a, b FROM s;',
    "SELECT * FROM 'data.csv';",
    'SELECT a FROM t WHERE a IN [1, 2];',
    'SELECT a FROM s GROUP BY ALL;',
    'SELECT a FROM s ORDER BY ALL',
    "SELECT md5(concat_ws('|', a, b)) AS h FROM t;",
    'SELECT a FROM t ANTI JOIN s ON t.a = s.a;',
    'BEGIN;\nINSERT INTO t SELECT a FROM s;\nCOMMIT;',
    'SELECT a FROM e WHERE e.is_current AND e.a = 1;',
    'INSERT INTO t SELECT a FROM s WHERE NOT is_deleted',
    'DELETE FROM t WHERE is_current;',
    'UPDATE dim AS t SET valid_to = s.d, is_current = FALSE FROM stg AS s WHERE s.k = t.k AND t.is_current = TRUE;',
    'TRUNCATE dw.t;\nINSERT INTO dw.t FROM s;',
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
    'EXEC p @flag = true',
    'CREATE EXTERNAL FILE FORMAT f WITH (FORMAT_TYPE = DELIMITEDTEXT, FORMAT_OPTIONS (USE_TYPE_DEFAULT = FALSE))',
    'SELECT dbo.md5(a) AS h FROM t',
    'SELECT a FROM t WHERE IsCurrent AND a = 1',
    'UPDATE dim AS t SET a = 1',
    'TRUNCATE dim;',
    'BEGIN;\nINSERT INTO t SELECT a FROM s;',
    'CREATE TABLE t (a int, b date);\nINSERT INTO t (a) SELECT a FROM s;',
    'CREATE TABLE dbo.copy AS SELECT a FROM t;',
  ])('stays T-SQL with its mistake: %s', (text) => {
    expect(detectPlatform(text)).toBeUndefined();
    expect(platformOfUnstated(text)).toBe('sqlserver');
  });

  test.each([
    'INSERT INTO t SELECT id, current_timestamp() FROM s;',
    'ALTER TABLE t ADD COLUMNS (a INT);',
    "INSERT INTO t PARTITION (d = '2026-01-01') SELECT a FROM s;",
  ])('is of Spark: %s', (text) => {
    expect(platformOfUnstated(text)).toBe('spark');
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
