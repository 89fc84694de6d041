/** The T-SQL engine of the tests holds the rules that generated code is most likely to break. */
import { describe, expect, test } from 'vitest';
import { Database, type Product } from '../support/tsql-engine/database.ts';
import { BeyondEngine, SqlError } from '../support/tsql-engine/errors.ts';
import { runBatch } from '../support/tsql-engine/execute.ts';
import { type OutputEvent, SessionState } from '../support/tsql-engine/session.ts';

function openSession(version = 2019, product: Product = 'sqlserver'): (...batches: string[]) => readonly OutputEvent[] {
  const facts = { product, version, backwards: false, now: () => new Date(Date.UTC(2030, 0, 1)) };
  const session = new SessionState(new Database(facts));
  return (...batches) => batches.flatMap((text) => runBatch(session, text));
}

/** The first value of the last rows. */
function firstValue(...batches: string[]): unknown {
  return openSession()(...batches).findLast((event) => event.kind === 'rows')?.rows[0]?.[0];
}

/** The number of the error, 'beyond' for what the engine does not know, 'none' for none. */
function errorOf(events: readonly OutputEvent[]): number | 'beyond' | 'none' {
  const error = events.find((event) => event.kind === 'error')?.error;
  if (error === undefined) return 'none';
  if (error instanceof SqlError) return error.number;
  if (error instanceof BeyondEngine) return 'beyond';
  throw error;
}

const people = 'CREATE TABLE dbo.p (id int NOT NULL, name nvarchar(5) NULL, born datetime2(3) NULL, PRIMARY KEY (id));';
const rows =
  "INSERT INTO dbo.p (id, name, born) SELECT 1, N'Ann', NULL UNION ALL SELECT 2, N'ann ', '2000-01-02T03:04:05.6789';";

describe('values', () => {
  test.each([
    ["CASE WHEN N'Ann' = N'ann  ' THEN 1 ELSE 0 END", 1n],
    ["CASE WHEN N'Ann' = N'ann' COLLATE Latin1_General_100_BIN2 THEN 1 ELSE 0 END", 0n],
    ["CASE WHEN N'a' = N'a ' COLLATE Latin1_General_100_BIN2 THEN 1 ELSE 0 END", 1n],
    ['CASE WHEN NULL = 1 OR 1 = 1 THEN 1 ELSE 0 END', 1n],
    ['CASE WHEN NOT (1 = CAST(NULL AS int)) THEN 1 ELSE 0 END', 0n],
    ["DATALENGTH(N'a ')", 4n],
    ["DATALENGTH(CONVERT(varchar(9), N'ä' COLLATE Latin1_General_100_BIN2_UTF8))", 2n],
    ["CONVERT(varchar(9), N'漢')", '?'],
    ["CONVERT(varchar(3), N'éàa') COLLATE Latin1_General_100_BIN2_UTF8", 'é'],
    ["CONVERT(nvarchar(2), N'abc')", 'ab'],
    ['7 / 2', 3n],
    ["CONVERT(varchar(30), CAST('2000-01-02T03:04:05.6789' AS datetime2(3)), 121)", '2000-01-02 03:04:05.679'],
    ["CONVERT(varchar(30), CAST('1899-12-31T23:59:59.9999999' AS datetime2(7)), 121)", '1899-12-31 23:59:59.9999999'],
    ["STUFF(N'', 1, 5, N'')", null],
    ['CAST(2 AS decimal(5,2)) / CAST(3 AS int)', '0.6666666666666'],
    ["LOWER(CONVERT(varchar(32), HASHBYTES('MD5', 'a'), 2))", '0cc175b9c0f1b6a831c399e269772661'],
    [
      "(SELECT STRING_AGG(v.x, N'/') WITHIN GROUP (ORDER BY v.x DESC) FROM (SELECT N'a' AS x UNION ALL SELECT N'b') AS v)",
      'b/a',
    ],
  ])('%s', (expression, value) => {
    expect(firstValue(`SELECT ${expression} AS v;`)).toBe(value);
  });

  test('texts that are joined are cut at 8,000 bytes unless one of them is max', () => {
    const long = `N'${'x'.repeat(3000)}'`;
    expect(firstValue(`SELECT DATALENGTH(${long} + ${long}) AS v;`)).toBe(8000n);
    expect(firstValue(`SELECT DATALENGTH(CAST(N'' AS nvarchar(max)) + ${long} + ${long}) AS v;`)).toBe(12_000n);
  });
});

describe('errors', () => {
  test.each<[string, number | 'beyond', string]>([
    ['a text longer than its column', 2628, "INSERT INTO dbo.p (id, name) SELECT 3, N'Bernard';"],
    ['a key twice', 2627, 'INSERT INTO dbo.p (id) SELECT 1;'],
    ['NULL in a key', 515, "INSERT INTO dbo.p (name) SELECT N'x';"],
    ['overflow', 8115, 'SELECT 2147483647 + 1 AS v;'],
    ['a column that is not there', 207, 'SELECT p.nam FROM dbo.p AS p;'],
    ['a table that is not there', 208, 'SELECT 1 AS v FROM dbo.q AS q;'],
    ['a prefix that is not there', 4104, 'SELECT q.id FROM dbo.p AS p;'],
    ['a column of two tables', 209, 'SELECT id FROM dbo.p AS p CROSS JOIN dbo.p AS q;'],
    ['a column that is not grouped by', 8120, 'SELECT p.name, COUNT_BIG(*) AS n FROM dbo.p AS p GROUP BY p.id;'],
    ['a window in WHERE', 4108, 'SELECT 1 AS v FROM dbo.p AS p WHERE ROW_NUMBER() OVER (ORDER BY p.id) = 1;'],
    ['a collation of a date', 447, 'SELECT p.born COLLATE DATABASE_DEFAULT AS v FROM dbo.p AS p;'],
    ['a text that is no number', 245, "SELECT CAST(N'x' AS int) AS v;"],
    ['several rows for one value', 512, 'SELECT (SELECT p.id FROM dbo.p AS p) AS v;'],
    [
      'a MERGE that changes a row twice',
      8672,
      'MERGE INTO dbo.p AS t USING (SELECT 1 AS id UNION ALL SELECT 1) AS s ON t.id = s.id WHEN MATCHED THEN DELETE;',
    ],
    [
      'an UPDATE that finds a row twice',
      'beyond',
      "UPDATE t SET name = s.n FROM dbo.p AS t INNER JOIN (SELECT N'a' AS n UNION ALL SELECT N'b') AS s ON t.id = 1;",
    ],
    ['a variable that is not declared', 137, 'SELECT @x AS v;'],
    ['one temporary table made twice in a batch', 2714, 'SELECT 1 AS a INTO #t; DROP TABLE #t; SELECT 1 AS b INTO #t;'],
    [
      'something that the engine does not know',
      'beyond',
      "BEGIN TRY SELECT SOUNDEX(N'a') AS v; END TRY BEGIN CATCH SELECT 1 AS v; END CATCH;",
    ],
  ])('%s', (_what, number, text) => {
    expect(errorOf(openSession()(people, rows, text))).toBe(number);
  });

  test('columns of two collations are compared under none', () => {
    const texts = (collation: string) => `x nvarchar(5) COLLATE ${collation} NULL`;
    const create = `CREATE TABLE dbo.a (${texts('Latin1_General_100_CI_AS')}); CREATE TABLE dbo.b (${texts('Latin1_General_100_BIN2')});`;
    const join = 'SELECT a.x FROM dbo.a AS a INNER JOIN dbo.b AS b ON a.x = b.x';
    expect(errorOf(openSession()(create, `${join};`))).toBe(468);
    expect(errorOf(openSession()(create, `${join} COLLATE DATABASE_DEFAULT;`))).toBe('none');
  });

  test('a batch is bound against the temporary tables that an earlier one left', () => {
    const again = 'DROP TABLE IF EXISTS #t; SELECT 1 AS b INTO #t; SELECT t.b FROM #t AS t;';
    expect(errorOf(openSession()('SELECT 1 AS a INTO #t;', again))).toBe(207);
    expect(errorOf(openSession()(again))).toBe('none');
  });

  test('versions lack functions', () => {
    expect(errorOf(openSession(2016)("SELECT STRING_AGG(v.x, N',') AS v FROM (SELECT N'a' AS x) AS v;"))).toBe(195);
    expect(errorOf(openSession(2014)('DROP TABLE IF EXISTS #t;'))).toBe(156);
  });
});

describe('transactions', () => {
  test('an error under XACT_ABORT leaves a transaction that can only be rolled back', () => {
    const run = openSession();
    run(people, rows);
    const failed = run(
      'SET XACT_ABORT ON; BEGIN TRY BEGIN TRANSACTION; DELETE FROM dbo.p; INSERT INTO dbo.p (id) SELECT NULL; COMMIT TRANSACTION; END TRY BEGIN CATCH SELECT XACT_STATE() AS v; DELETE FROM dbo.p; END CATCH;',
    );
    expect(failed.find((event) => event.kind === 'rows')?.rows).toEqual([[-1n]]);
    expect(errorOf(failed)).toBe(3930);
    expect(failed.at(-1)?.kind).toBe('rollback');
    expect(run('SELECT COUNT_BIG(*) AS n FROM dbo.p AS p;').find((event) => event.kind === 'rows')?.rows).toEqual([
      [2n],
    ]);
  });

  test('a procedure must end with the transactions it began with, and its temporary tables end with it', () => {
    const run = openSession();
    run(
      'CREATE PROCEDURE dbo.one AS BEGIN BEGIN TRANSACTION; END;',
      'CREATE PROCEDURE dbo.two AS BEGIN SELECT 1 AS a INTO #t; END;',
    );
    expect(errorOf(run('EXEC dbo.one;'))).toBe(266);
    expect(errorOf(run('ROLLBACK TRANSACTION;'))).toBe('none');
    expect(errorOf(run('EXEC dbo.two; SELECT 1 AS v FROM #t AS t;'))).toBe(208);
  });

  test('Synapse takes no definition in a transaction', () => {
    expect(errorOf(openSession(2025, 'synapse')('BEGIN TRANSACTION; SELECT 1 AS a INTO #t;'))).toBe(111_212);
  });
});
