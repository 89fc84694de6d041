import { describe, expect, test } from 'vitest';
import { splitBatches } from '../../server/src/syntax/batches.ts';
import { decodeBytes } from '../../server/src/syntax/encoding.ts';
import { detectPlatform, guessPlatform, platformOrExpected } from '../../server/src/syntax/platform.ts';

describe('batches', () => {
  test('GO in every form that separates, and none inside comments, strings and names', () => {
    const text = [
      'SET NOCOUNT ON',
      '   GO',
      "SELECT 'a",
      'GO',
      "b' /* x",
      'GO /* nested */',
      '*/ AS [c',
      'GO',
      ']',
      'go -- trailing comment',
      "PRINT N'x'",
      'GO 3',
      '/* before */ GO',
      'SELECT 1 AS [GO], 2 AS Go1',
      'GO',
      '',
    ].join('\r\n');
    expect(
      splitBatches(text, 'sqlserver').map(({ text: batch, line, repeat }) => [
        batch.trim().split(/\r\n/)[0],
        line,
        repeat ?? 1,
      ]),
    ).toEqual([
      ['SET NOCOUNT ON', 0, 1],
      ["SELECT 'a", 2, 1],
      ["PRINT N'x'", 10, 3],
      ['SELECT 1 AS [GO], 2 AS Go1', 13, 1],
    ]);
  });

  test('batches are the bytes of the file', () => {
    const text = '-- head\nSELECT 1 -- x\nGO\n\n  SELECT 2\n';
    expect(splitBatches(text, 'sqlserver')).toEqual([
      { text: '-- head\nSELECT 1 -- x\n', line: 0 },
      { text: '\n  SELECT 2\n', line: 3 },
    ]);
  });

  test('nothing to run is no batch', () => {
    expect(splitBatches('', 'sqlserver')).toEqual([]);
    expect(splitBatches('GO\nGO\n-- only a comment\nGO', 'sqlserver')).toEqual([]);
    expect(splitBatches('SELECT 1\nGO 0\nSELECT 2', 'sqlserver').map((batch) => batch.text)).toEqual(['SELECT 2']);
  });

  test('DuckDB knows no GO, a Databricks notebook has cells', () => {
    expect(splitBatches('SELECT 1;\nGO\nSELECT 2;', 'duckdb')).toHaveLength(1);
    expect(
      splitBatches('-- Databricks notebook source\nSELECT 1\n\n-- COMMAND ----------\n\nSELECT 2', 'databricks'),
    ).toHaveLength(2);
  });
});

describe('encodings', () => {
  const text = "SELECT N'Grüße – 東京' AS ä;\r\n";
  const utf8 = new TextEncoder().encode(text);
  const utf16 = (little: boolean): Uint8Array => {
    const bytes = new Uint8Array(text.length * 2);
    const view = new DataView(bytes.buffer);
    for (let index = 0; index < text.length; index += 1) view.setUint16(index * 2, text.charCodeAt(index), little);
    return bytes;
  };

  test.each([
    ['utf-8', utf8],
    ['utf-8-bom', new Uint8Array([0xef, 0xbb, 0xbf, ...utf8])],
    ['utf-16le', new Uint8Array([0xff, 0xfe, ...utf16(true)])],
    ['utf-16be', new Uint8Array([0xfe, 0xff, ...utf16(false)])],
  ])('%s with its mark', (encoding, bytes) => {
    expect(decodeBytes(bytes)).toEqual({ text, encoding });
  });

  test('UTF-16 without a mark is told by its zero bytes', () => {
    expect(decodeBytes(utf16(true))).toEqual({ text, encoding: 'utf-16le' });
    expect(decodeBytes(utf16(false))).toEqual({ text, encoding: 'utf-16be' });
  });

  test('UTF-16 without a mark, most of it in another alphabet', () => {
    const cyrillic = '-- Загрузка измерения «Отделы»\nSELECT [Имя], [Город] FROM [Отделы];';
    const bytes = Uint8Array.from([...cyrillic].flatMap((sign) => [sign.charCodeAt(0) & 255, sign.charCodeAt(0) >> 8]));
    expect(decodeBytes(bytes)).toEqual({ text: cyrillic, encoding: 'utf-16le' });
    const swapped = Uint8Array.from(bytes, (_, index) => bytes[index ^ 1] ?? 0);
    expect(decodeBytes(swapped)).toEqual({ text: cyrillic, encoding: 'utf-16be' });
  });

  test('what is no UTF-8 is Windows-1252', () => {
    expect(decodeBytes(new Uint8Array([0x53, 0xe4, 0x20, 0x80, 0x96]))).toEqual({
      text: 'Sä €–',
      encoding: 'windows-1252',
    });
    expect(decodeBytes(new Uint8Array())).toEqual({ text: '', encoding: 'utf-8' });
  });
});

describe('platforms', () => {
  test.each([
    ['CREATE TABLE [dbo].[t] ([a] [int] NOT NULL)\nGO', 'sqlserver'],
    ['DECLARE @a int = 1; SELECT @a', 'sqlserver'],
    ['CREATE TABLE dbo.t (a int) WITH (DISTRIBUTION = HASH(a), CLUSTERED COLUMNSTORE INDEX)', 'synapse'],
    ['CREATE TABLE dbo.a AS CLONE OF dbo.b', 'fabric'],
    ['CREATE TABLE t (a STRING NOT NULL) USING DELTA', 'databricks'],
    ['-- Databricks notebook source\nSELECT 1', 'databricks'],
    ['CREATE TABLE t USING PARQUET PARTITIONED BY (d) AS SELECT * FROM s LATERAL VIEW explode(x) e AS y', 'spark'],
    ["SELECT * FROM read_csv('x.csv')", 'duckdb'],
    ['INSERT OR REPLACE INTO t SELECT 1', 'duckdb'],
    ['CREATE TABLE t (a INT,\n  b STRING NOT NULL)', 'spark'],
    ['CREATE TABLE t (loaded_at TIMESTAMP)', 'duckdb'],
    ['CREATE TABLE t (id INTEGER, city VARCHAR, ok BOOLEAN NOT NULL)', 'duckdb'],
    ['CREATE TABLE t (id UUID NOT NULL PRIMARY KEY, photo BLOB)', 'duckdb'],
    ["CREATE TABLE t (id INT DEFAULT nextval('s'))", 'duckdb'],
    ['CREATE TABLE IF NOT EXISTS a (b int)', 'duckdb'],
    ['CREATE OR REPLACE TABLE a AS SELECT 1 AS b', 'duckdb'],
    ['CREATE TEMP TABLE a AS SELECT 1 AS b', 'duckdb'],
    ['SELECT a FROM b ORDER BY a LIMIT 10;', 'duckdb'],
    ['CREATE TABLE IF NOT EXISTS a (b int) USING DELTA', 'databricks'],
    ['CREATE TABLE IF NOT EXISTS a (b STRING, c int)', 'spark'],
    ['IF NOT EXISTS (SELECT 1 FROM sys.tables) CREATE TABLE #a (b int)', 'sqlserver'],
    ['FROM t SELECT a', 'duckdb'],
    ['SELECT * EXCLUDE (a) FROM t', 'duckdb'],
    ["SELECT {'a': 1}", 'duckdb'],
    ["COPY t TO 'x.parquet' (FORMAT parquet)", 'duckdb'],
    ['SELECT raw:owner.name::STRING FROM t', 'spark'],
    ['SELECT collect_list(a) FROM t LEFT ANTI JOIN u ON t.a = u.a', 'spark'],
    ['CACHE TABLE t', 'spark'],
    ['SET VARIABLE a = 1;\nDECLARE OR REPLACE VARIABLE a INT', 'databricks'],
    ['SELECT * EXCEPT (a) FROM t', 'databricks'],
    ['USE CATALOG main', 'databricks'],
    ['SELECT a FROM dbo.t CROSS APPLY f(a) x', 'sqlserver'],
    ['ALTER AUTHORIZATION ON SCHEMA::sales TO x', 'sqlserver'],
    ["COPY INTO t FROM 'https://x' WITH (FILE_TYPE = 'CSV')", 'synapse'],
    ['SELECT a FROM t OPTION (OPTIMIZE FOR UNKNOWN)', 'sqlserver'],
    ['UPDATE @t SET a = 1', 'sqlserver'],
    ['CHECKPOINT\nDBCC DROPCLEANBUFFERS', 'sqlserver'],
    ['GRANT EXECUTE ON XML SCHEMA COLLECTION::x TO u', 'sqlserver'],
    ["SELECT a FROM t OPTION (FOR TIMESTAMP AS OF '2026-01-01')", 'fabric'],
    ['OPTIMIZE sales.orders', 'databricks'],
    ["ADD FILE '/tmp/x'", 'spark'],
  ])('%s', (text, platform) => {
    expect(detectPlatform(text)).toBe(platform);
    expect(guessPlatform(text)?.reason).toMatch(/^The file (?:has|is) .+\.$/);
  });

  test('what a platform shares with its family does not outweigh the expected one', () => {
    expect(platformOrExpected('CREATE TABLE [dbo].[t] ([a] [int])', 'fabric')).toBe('fabric');
    expect(platformOrExpected('CREATE TABLE t (a int) WITH (DISTRIBUTION = HASH(a))', 'fabric')).toBe('synapse');
    expect(platformOrExpected('CREATE TABLE t (a STRING NOT NULL)', 'databricks')).toBe('databricks');
    expect(platformOrExpected('CREATE TABLE [dbo].[t] ([a] [int])', 'duckdb')).toBe('sqlserver');
    expect(platformOrExpected('CREATE TABLE t (a int)', 'duckdb')).toBe('duckdb');
  });

  test('signs in comments and strings do not count, and nothing tells nothing', () => {
    expect(detectPlatform("SELECT 'USING DELTA' AS a -- DISTRIBUTION = HASH (a)\nFROM t")).toBeUndefined();
    expect(guessPlatform('')).toBeUndefined();
    expect(detectPlatform('CREATE TABLE t (string)')).toBeUndefined();
    expect(detectPlatform("ALTER DATABASE d\nADD FILE (NAME = a, FILENAME = 'f')")).toBeUndefined();
    expect(detectPlatform('CREATE TABLE t (timestamp TIMESTAMP)')).toBeUndefined();
    expect(detectPlatform('CREATE TABLE t (id INT, city VARCHAR(20), ok BOOLEAN)')).toBeUndefined();
    expect(detectPlatform('CREATE TABLE t (id INT, city VARCHAR)')).toBeUndefined();
  });
});
