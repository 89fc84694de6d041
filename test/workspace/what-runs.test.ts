import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { splitBatches } from '../../server/src/syntax/batches.ts';
import { dryRunRefusal } from '../../server/src/workspace/dry-run.ts';
import { readsOnly } from '../../server/src/workspace/reads-only.ts';
import { expandSqlcmd, placed } from '../../server/src/workspace/sqlcmd.ts';

describe('a text is proved to be a read', () => {
  test.each<[string, PlatformName]>([
    ['SELECT 1', 'sqlserver'],
    ['SELECT a FROM dw.Unit WHERE b IN (SELECT c FROM dw.Part) ORDER BY a;', 'sqlserver'],
    ['WITH x AS (SELECT 1 AS a) SELECT * FROM x UNION ALL SELECT 2;\nGO\nSELECT 3', 'sqlserver'],
    ["DECLARE @d date = '2026-01-01'; SET @d = DATEADD(day, 1, @d); PRINT @d; SELECT @d", 'sqlserver'],
    ["SELECT 'DROP TABLE x' AS [DELETE] -- INSERT", 'sqlserver'],
    ['SELECT count(*) FROM dw.unit', 'duckdb'],
  ])('%s', (text, platform) => {
    expect(readsOnly(text, platform)).toBe(true);
  });

  test.each<[string, PlatformName]>([
    ['', 'sqlserver'],
    ['INSERT INTO t SELECT 1', 'sqlserver'],
    ['SELECT 1 AS a INTO t', 'sqlserver'],
    ['SELECT 1 AS a INTO #t', 'sqlserver'],
    ['WITH x AS (SELECT 1 AS a) DELETE FROM x', 'sqlserver'],
    ['SELECT 1; EXEC dw.Load', 'sqlserver'],
    ['dw.Load', 'sqlserver'],
    ["SELECT * FROM OPENQUERY(other, 'DELETE FROM t')", 'sqlserver'],
    ['SELECT NEXT VALUE FOR dw.Numbers', 'sqlserver'],
    ["SELECT nextval('numbers')", 'duckdb'],
    ['IF 1 = 1 DELETE FROM t', 'sqlserver'],
    ['BEGIN TRANSACTION', 'sqlserver'],
    ['USE other', 'sqlserver'],
    ['SELECT a FROM (DELETE FROM t OUTPUT deleted.a) AS d', 'sqlserver'],
    ['SELECT FROM WHERE', 'sqlserver'],
    ["COPY t TO '/tmp/x'", 'duckdb'],
  ])('not %s', (text, platform) => {
    expect(readsOnly(text, platform)).toBe(false);
  });
});

describe('a dry run', () => {
  const nested = `BEGIN TRY
  BEGIN TRANSACTION;
  UPDATE t SET a = 1;
  COMMIT;
END TRY
BEGIN CATCH
  IF XACT_STATE() <> 0 ROLLBACK;
  THROW;
END CATCH;`;

  test.each<[string, PlatformName]>([
    ['UPDATE t SET a = 1; DELETE FROM t;', 'sqlserver'],
    [nested, 'sqlserver'],
    ['CREATE PROCEDURE p AS COMMIT;', 'sqlserver'],
    ['CREATE TABLE #t (a int)', 'sqlserver'],
    ['UPDATE t SET a = 1', 'duckdb'],
  ])('takes %s', (text, platform) => {
    expect(dryRunRefusal(text, platform)).toBeNull();
  });

  test.each<[string, PlatformName, RegExp]>([
    ['UPDATE t SET a = 1; COMMIT;', 'sqlserver', /COMMIT without its own BEGIN TRAN: COMMIT/],
    ['ROLLBACK; UPDATE t SET a = 1', 'sqlserver', /refuses ROLLBACK/],
    ['BEGIN TRAN; UPDATE t SET a = 1; ROLLBACK; DELETE FROM t', 'sqlserver', /refuses ROLLBACK/],
    ['BEGIN TRAN; UPDATE t SET a = 1', 'sqlserver', /leaves its own BEGIN TRAN open/],
    ['EXEC dw.Load', 'sqlserver', /refuses EXEC/],
    ['INSERT INTO t EXEC dw.Load', 'sqlserver', /refuses EXEC/],
    ["EXEC ('COMMIT')", 'sqlserver', /refuses EXEC/],
    ['CREATE TABLE t (a int)', 'synapse', /DDL on Synapse/],
    [
      'BEGIN TRANSACTION; UPDATE t SET a = 1; COMMIT;',
      'duckdb',
      /BEGIN and COMMIT here, .* do not nest .*: BEGIN TRANSACTION/,
    ],
    ['UPDATE t SET a = 1; COMMIT;', 'duckdb', /do not nest on this engine: COMMIT/],
    ['UPDATE t SET', 'sqlserver', /read to its end/],
  ])('refuses %s', (text, platform, message) => {
    expect(dryRunRefusal(text, platform)).toMatch(message);
  });
});

describe('SQLCMD lines', () => {
  const expand = (text: string, files: Readonly<Record<string, string>> = {}, isOn = false) =>
    expandSqlcmd(text, {
      platform: 'sqlserver',
      isOn,
      read: async (path) => {
        const included = files[path];
        return included === undefined ? undefined : { file: path, text: included };
      },
    });

  test('give values to variables from their line on; the lines stay, empty', async () => {
    const { value, problems } = await expand(
      ':setvar A 1\nSELECT $(A), $(a)\n:setvar A "x ""y"" z"\nSELECT \'$(A)\'\n',
    );
    expect(problems).toEqual([]);
    expect(value.text).toBe('\nSELECT 1, 1\n\nSELECT \'x "y" z\'\n');
  });

  test('a text without them is unchanged, unless the setting asks for it', async () => {
    const text = "SELECT '$(A)'\nGO 5\n";
    expect((await expand(text)).value).toEqual({ text, sections: [] });
    expect((await expand(text, {}, true)).problems).toMatchObject([{ code: 'sqlcmd', severity: 'error' }]);
  });

  test('read files, which share the variables; a file that reads itself is told', async () => {
    const files = { 'a.sql': ':setvar B 2\nSELECT $(A)\n', 'loop.sql': ':r loop.sql\n' };
    expect((await expand(':setvar A 1\n:r "a.sql"\nSELECT $(B)\n', files)).value.text).toBe(
      '\n\nSELECT 1\n\nSELECT 2\n',
    );
    const { problems } = await expand(':r loop.sql\n', files);
    expect(problems[0]?.message).toMatch(/read by a file that it reads itself/);
  });

  test('lines keep the file and the line that they come from', async () => {
    const files = {
      'a.sql': 'SELECT 1;\nSELECT 2;\nGO\nSELECT 3;\n:r b.sql\nSELECT 4;',
      'b.sql': 'SELECT 5;\n\nSELECT 6;\n',
    };
    const text = 'SELECT 0;\n:r a.sql\nSELECT 7;\nGO\nSELECT 8;\n:setvar X 1\nSELECT 9;\n';
    const { value } = await expand(text, files);
    const places = placed(splitBatches(value.text, 'sqlserver'), value.sections).flatMap((batch) =>
      batch.text.split('\n').flatMap((line, at) => {
        if (line === '') return [];
        const section = batch.sections?.findLast(({ from }) => from <= at);
        return `${line} ${section?.file ?? 'script'} ${(section?.line ?? Number.NaN) + at - (section?.from ?? 0) + 1}`;
      }),
    );
    expect(places).toEqual([
      'SELECT 0; script 1',
      'SELECT 1; a.sql 1',
      'SELECT 2; a.sql 2',
      'SELECT 3; a.sql 4',
      'SELECT 5; b.sql 1',
      'SELECT 6; b.sql 3',
      'SELECT 4; a.sql 6',
      'SELECT 7; script 3',
      'SELECT 8; script 5',
      'SELECT 9; script 7',
    ]);
    expect(placed(splitBatches(value.text, 'sqlserver'), value.sections).map(({ line }) => line)).toEqual([0, 1, 4]);
  });

  test('what is wrong in a file that is read is said with its name', async () => {
    const { problems } = await expand(':r a.sql\n', { 'a.sql': '\n:connect other\nSELECT $(No)\n' });
    expect(problems.map(({ message }) => message.replace(/:.*/, ''))).toEqual(['a.sql, line 2', 'a.sql, line 3']);
  });

  test.each([
    [':connect other', /:connect is refused/],
    ['!!del *', /!! is refused/],
    [':out file.txt', /:out is not available/],
    [':on error ignore', /:on error ignore is refused/],
    [':setvar', /needs a name/],
  ])('%s is refused in words', async (line, message) => {
    const { problems } = await expand(`SELECT 1\nGO\n${line}\n`);
    expect(problems[0]?.message).toMatch(message);
    expect(problems[0]?.message).toContain('Line 3');
  });
});
