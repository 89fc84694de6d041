/** What a preview of a hand-written script sends, and what it refuses in words. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CatalogTable, TableName } from '../../protocol/catalog.ts';
import type { PlatformName } from '../../protocol/platform.ts';
import { findAll, tableNameOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { previewScript } from '../../server/src/workspace/script-preview/script-preview.ts';
import { type RefereeText, refereeMissing, refereeTsql } from '../support/referee.ts';
import { customerDdl, loadOf } from '../support/script-load.ts';

const place = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
const plainColumn = {
  type: 'int',
  nullable: true,
  identity: false,
  computed: false,
  default: null,
  collation: null,
  range: place,
};
const plainTable = {
  platform: 'sqlserver' as const,
  role: 'dimension' as const,
  confidence: 1,
  reasons: [],
  file: 'ddl.sql',
  range: place,
  keys: [],
  options: {},
};

describe('is refused in words for', () => {
  test.each<[string, RegExp]>([
    ['DELETE FROM dw.customer;\nINSERT INTO dw.other SELECT * FROM dw.current_customer;', /view current_customer/],
    ['INSERT INTO dw.nowhere SELECT 1;', /columns of nowhere are not known/],
    ["INSERT INTO dw.customer (customer_key) SELECT nextval('s');", /may do more than read/],
    [
      'INSERT OR REPLACE INTO dw.customer BY NAME SELECT * FROM dw.customer;',
      /replaces or skips is followed for plain columns/,
    ],
    ['INSERT OR IGNORE INTO dw.other SELECT 1;', /its DDL declares no key/],
    [
      'INSERT INTO dw.customer SELECT * FROM dw.customer ON CONFLICT (customer_key) WHERE is_current DO NOTHING;',
      /line 1: ON CONFLICT is followed with a list of columns only/,
    ],
    [
      "INSERT INTO dw.customer (customer_no) VALUES ('x') ON CONFLICT (customer_key) DO NOTHING;",
      /customer_key of the key gets no value/,
    ],
    [
      'CREATE TEMP TABLE customer AS SELECT 1 AS a;\nDELETE FROM dw.customer; DROP TABLE dw.customer;',
      /DROP TABLE dw.customer is not followed/,
    ],
    ['CREATE TABLE dw.x AS SELECT 1 AS a;', /line 1: CREATE TABLE dw.x is not followed/],
    ["COPY dw.customer TO 'x.csv';", /COPY/],
    ['SELECT 1;', /writes to no table/],
    ['UPDATE dw.customer SET;', /line 1 can't be read/],
  ])('%s', async (text, message) => {
    const other = `${customerDdl}CREATE TABLE dw.other (a INTEGER);`;
    const load = await loadOf(text, 'duckdb', other);
    expect(load.preview).toBeNull();
    expect(load.previewRefusal).toMatch(message);
  });

  test.each<[string, RegExp]>([
    [
      'WHILE 1 = 1 DELETE FROM dw.Customer;',
      /line 1: WHILE goes round as often as the run decides, which is not followed/,
    ],
    ['EXEC dw.Load;', /EXEC dw.Load/],
    ['DELETE TOP (5) FROM dw.Customer;', /TOP/],
    ['DELETE FROM dw.Customer;\nGO 2', /GO 2/],
    [
      'INSERT INTO dw.Other (Id) SELECT Id FROM (DELETE FROM dw.Customer OUTPUT deleted.Id, GETDATE() AS At) AS d WHERE ;',
      /can't be read/,
    ],
    ['DELETE FROM dw.Customer OUTPUT s.* INTO dw.Log FROM stg.Customer AS s;', /OUTPUT of a source as a whole/],
    ['SELECT 1 AS a INTO #x;\nDELETE FROM #x OUTPUT deleted.a INTO dw.Log;', /line 2/],
    ['SELECT 1 AS a INTO #x;\nDELETE #x FROM dw.Customer AS #x;', /./],
    [
      'DECLARE @n int;\nINSERT INTO dw.Customer (City) VALUES (NULL);\nSET @n = SCOPE_IDENTITY();\nDELETE FROM dw.Customer WHERE Id = @n;',
      /line 4: @n is not known/,
    ],
    ['BEGIN TRAN; DELETE FROM dw.Customer; ROLLBACK;', /ROLLBACK/],
    ['EXEC dw.Loops;', /line 1: EXEC dw.Loops is not followed/],
    ["EXEC ('DELETE FROM dw.Customer');", /EXEC \('DELETE FROM is not followed/],
    ['EXEC dw.LoadOther;', /line 1: @Id gets no value/],
    [
      "DECLARE @Rows int; EXEC dw.LoadOther N'x', 1, @Rows OUTPUT; DELETE FROM dw.Customer WHERE Id = @Rows;",
      /@Rows is not known/,
    ],
    ["INSERT INTO dw.Customer (City) SELECT c FROM OPENQUERY(x, 'DELETE');", /more than read/],
  ])('%s (T-SQL)', async (text, message) => {
    const load = await loadOf(text, 'sqlserver', tsqlDdl, procedures);
    const sent = load.preview?.batches.map((batch) => batch.text).join('\n') ?? '';
    expect(writtenTables(sent, 'sqlserver').filter((name) => !/^[#@]/.test(name))).toEqual([]);
    if (message.source !== '.') expect(load.previewRefusal).toMatch(message);
  });
});

test('a MERGE for SQL Server that fails there says so', async () => {
  const text =
    'MERGE dw.Customer AS t USING stg.Customer AS s ON t.CustomerNo = s.CustomerNo WHEN MATCHED THEN DELETE;';
  const load = await loadOf(text, 'sqlserver', tsqlDdl);
  expect(load.preview?.batches.map((batch) => batch.text).join('\n')).toContain(
    'is taken by several rows of the source, so the MERGE fails with error 8672 and writes nothing',
  );
});

describe('of whatever text, a preview is made or refused in words, and writes to temporary tables only', () => {
  const fixtures = join(import.meta.dirname, '../fixtures');
  const files = readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sql'));
  const column = (name: string) => ({ ...plainColumn, name, role: 'attribute' as const });
  /** Every name is a table, whose columns are all the words of the text. */
  const anyTable = (text: string) => {
    const words = [...new Map((text.match(/[a-z_]\w*/gi) ?? []).map((word) => [word.toLowerCase(), word])).values()];
    const known = new Map<string, CatalogTable>();
    return (name: TableName): CatalogTable => {
      const table = known.get(name.table.toLowerCase()) ?? { ...plainTable, name, columns: words.map(column) };
      known.set(name.table.toLowerCase(), table);
      return table;
    };
  };

  test.each<PlatformName>(['sqlserver', 'synapse', 'duckdb'])('on %s', (platform) => {
    const plans = files.flatMap((file) => {
      const text = readFileSync(join(fixtures, file), 'utf8');
      const { plan, refusal } = previewScript(text, platform, { tableOf: anyTable(text), isView: () => false });
      if (plan === null)
        expect(refusal, file).toMatch(/^(What the script would change is not known|The script writes to no table)/);
      return plan === null ? [] : [{ file, batches: plan.batches }];
    });
    for (const { file, batches } of plans) {
      for (const { text } of batches) {
        const stays = writtenTables(text, platform).filter((name) => !/^(#[^#]|@|mergewright_)/.test(name));
        expect(stays, `${file}\n${text}`).toEqual([]);
      }
    }
    expect(plans.length).toBeGreaterThan(5);
  });
});

const tsqlDdl = `
CREATE TABLE stg.Customer (CustomerNo varchar(20) NOT NULL, City nvarchar(50) NULL, IsDeleted bit NULL);
GO
CREATE TABLE dw.Customer (Id int IDENTITY(1,1) NOT NULL PRIMARY KEY, CustomerNo varchar(20) NOT NULL, City nvarchar(50) NULL,
  Document xml NULL, Version rowversion, EffectiveFrom datetime2(3) NOT NULL, EffectiveTo datetime2(3) NOT NULL, IsCurrent bit NOT NULL);
GO
CREATE TABLE dw.Other (Id int NOT NULL, City nvarchar(50) NULL);
GO
CREATE TABLE dw.Log (Id int NULL);`;

const tsqlScripts = [
  `SET NOCOUNT ON; SET XACT_ABORT ON;
DECLARE @Now datetime2(3) = SYSUTCDATETIME();
IF NOT EXISTS (SELECT 1 FROM stg.Customer) THROW 50010, 'empty_stage: stg.Customer', 1;
IF OBJECT_ID('tempdb..#changed') IS NOT NULL DROP TABLE #changed;
SELECT s.CustomerNo, s.City INTO #changed FROM stg.Customer AS s WHERE s.IsDeleted = 0;
BEGIN TRY
  BEGIN TRANSACTION;
  UPDATE t SET EffectiveTo = @Now, IsCurrent = 0
  FROM dw.Customer AS t WITH (UPDLOCK) JOIN #changed AS c ON c.CustomerNo = t.CustomerNo WHERE t.IsCurrent = 1;
  COMMIT;
END TRY
BEGIN CATCH
  IF XACT_STATE() <> 0 ROLLBACK;
  THROW;
END CATCH;`,
  `WITH s AS (SELECT DISTINCT CustomerNo, City FROM stg.Customer)
MERGE dw.Customer WITH (HOLDLOCK) AS t USING s ON t.CustomerNo = s.CustomerNo
WHEN MATCHED AND t.City <> s.City THEN UPDATE SET City = s.City, EffectiveFrom = SYSUTCDATETIME()
WHEN NOT MATCHED BY TARGET THEN INSERT (CustomerNo, City, EffectiveFrom, EffectiveTo, IsCurrent)
  VALUES (s.CustomerNo, s.City, SYSUTCDATETIME(), '9999-12-31', 1)
WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, inserted.Id;`,
  `USE DW;
GO
INSERT INTO dw.Other (Id, City) SELECT TOP (5) 1, City FROM stg.Customer ORDER BY City;
GO
WITH doomed AS (SELECT CustomerNo FROM stg.Customer WHERE IsDeleted = 1)
DELETE t FROM dw.Customer AS t JOIN doomed AS d ON d.CustomerNo = t.CustomerNo;`,
  'UPDATE o SET City += c.City FROM dw.Other AS o JOIN stg.Customer AS c ON c.City = o.City OPTION (RECOMPILE);',
  'UPDATE dw.Other SET City = c.City FROM stg.Customer AS c WHERE c.CustomerNo = CAST(Other.Id AS varchar(20));',
  'DECLARE @t TABLE (Id int); INSERT INTO @t SELECT 1; DELETE FROM dw.Customer WHERE Id IN (SELECT Id FROM @t);',
  'TRUNCATE TABLE dw.Other;',
  `DECLARE @Now datetime2(3) = SYSUTCDATETIME(), @Closed int, @Opened int;
UPDATE dw.Customer SET EffectiveTo = @Now, IsCurrent = 0
FROM stg.Customer AS s WHERE s.CustomerNo = dw.Customer.CustomerNo AND dw.Customer.IsCurrent = 1 AND s.City <> dw.Customer.City;
SET @Closed = @@ROWCOUNT;
INSERT INTO dw.Customer (CustomerNo, City, EffectiveFrom, EffectiveTo, IsCurrent)
SELECT s.CustomerNo, s.City, @Now, '9999-12-31', 1 FROM stg.Customer AS s
LEFT JOIN dw.Customer AS t WITH (NOLOCK) ON t.CustomerNo = s.CustomerNo AND t.IsCurrent = 1 WHERE t.Id IS NULL;
SELECT @Opened = @@ROWCOUNT;
IF @@ERROR <> 0 BEGIN ROLLBACK; RETURN END
INSERT INTO dw.Log (Id) SELECT @Closed + @Opened;
SELECT @Opened AS inserted, @Closed AS expired;`,
  `IF NOT EXISTS (SELECT 1 FROM stg.Customer)
BEGIN
  PRINT 'nothing to do';
  RETURN;
END
IF EXISTS (SELECT 1 FROM dw.Other WHERE Id = -1) UPDATE dw.Other SET City = N'unknown' WHERE Id = -1
ELSE INSERT INTO dw.Other (Id, City) VALUES (-1, N'unknown');
DELETE FROM dw.Other WHERE Id > 0;
IF @@ROWCOUNT > 0 INSERT INTO dw.Other (Id) SELECT MAX(o.Id) + 1 FROM dw.Other AS o;
TRUNCATE TABLE dw.Other;`,
  `CREATE TABLE #changes (Act nvarchar(10), CustomerNo varchar(20), City nvarchar(50), OldId int);
MERGE dw.Customer AS t USING (SELECT CustomerNo, City FROM stg.Customer WHERE IsDeleted = 0) AS s
ON t.CustomerNo = s.CustomerNo AND t.IsCurrent = 1
WHEN MATCHED AND t.City <> s.City THEN UPDATE SET IsCurrent = 0, EffectiveTo = SYSUTCDATETIME()
WHEN NOT MATCHED THEN INSERT (CustomerNo, City, EffectiveFrom, EffectiveTo, IsCurrent)
  VALUES (s.CustomerNo, s.City, SYSUTCDATETIME(), '9999-12-31', 1)
WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, s.CustomerNo, COALESCE(s.City, deleted.City), inserted.Id INTO #changes (Act, CustomerNo, City, OldId);
INSERT INTO dw.Customer (CustomerNo, City, EffectiveFrom, EffectiveTo, IsCurrent)
SELECT CustomerNo, City, SYSUTCDATETIME(), '9999-12-31', 1 FROM #changes WHERE Act = 'UPDATE';`,
  `INSERT INTO dw.Customer (CustomerNo, City, EffectiveFrom, EffectiveTo, IsCurrent)
SELECT m.CustomerNo, m.City, SYSUTCDATETIME(), '9999-12-31', 1
FROM (
  MERGE dw.Customer AS t USING stg.Customer AS s ON t.CustomerNo = s.CustomerNo AND t.IsCurrent = 1
  WHEN MATCHED AND t.City <> s.City THEN UPDATE SET IsCurrent = 0, EffectiveTo = SYSUTCDATETIME()
  WHEN NOT MATCHED THEN INSERT (CustomerNo, City, EffectiveFrom, EffectiveTo, IsCurrent)
    VALUES (s.CustomerNo, s.City, SYSUTCDATETIME(), '9999-12-31', 1)
  OUTPUT $action AS Act, s.CustomerNo, s.City
) AS m WHERE m.Act = 'UPDATE';`,
  `DECLARE @Id int = 7, @Done int;
EXEC @Done = dw.LoadOther @Id = @Id, @Rows = @Id OUTPUT;
GO
EXEC dw.LoadOther Ulm, 3;
INSERT INTO dw.Other (Id) SELECT COUNT(*) FROM dw.Other;`,
  'DELETE t OUTPUT deleted.Id INTO dw.Log FROM dw.Customer AS t WHERE t.IsCurrent = 0; DELETE FROM dw.Log WHERE Id < 0;',
];

/** What the workspace holds of procedures. */
const procedures = `CREATE OR ALTER PROCEDURE dw.LoadOther @City nvarchar(50) = N'none', @Id int, @Rows int = NULL OUTPUT AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @Now datetime2(3) = SYSUTCDATETIME();
  IF @Id IS NULL RETURN -1;
  DECLARE @ids TABLE (Id int);
  INSERT INTO @ids SELECT Id FROM dw.Other WHERE Id > @Id;
  DELETE o FROM dw.Other AS o JOIN @ids AS i ON i.Id = o.Id;
  SET @Rows = @@ROWCOUNT;
  EXEC LogRows @Rows;
END
GO
CREATE PROCEDURE dw.LogRows @Rows int AS INSERT INTO dw.Log (Id) VALUES (@Rows);
GO
CREATE PROCEDURE dw.Loops AS EXEC dw.Loops;`;

/** The tables that a text writes to, makes or drops. */
function writtenTables(text: string, platform: PlatformName): readonly string[] {
  return unitsOf(parse(text, { platform })).flatMap(({ statement }) => {
    const writes = (['insert', 'update', 'delete', 'merge'] as const).flatMap((kind) => findAll(statement, kind));
    const targets = writes.map(({ target }) =>
      target.kind === 'table' ? tableNameOf(target.name).table : target.kind === 'table-variable' ? target.name : '?',
    );
    const names = [
      ...findAll(statement, 'select').flatMap(({ into }) => into ?? []),
      ...findAll(statement, 'create-table').map(({ name }) => name),
      ...findAll(statement, 'truncate').map(({ table }) => table),
      ...findAll(statement, 'drop').flatMap((drop) => drop.names),
    ];
    return [...targets, ...names.map((name) => tableNameOf(name).table)];
  });
}

describe.skipIf(refereeMissing() !== null)('for T-SQL passes Microsoft’s parser', () => {
  test.each<[PlatformName, '2012' | 'newest' | 'fabricdw']>([
    ['sqlserver', '2012'],
    ['azuresql', 'newest'],
    ['synapse', 'newest'],
    ['fabric', 'newest'],
  ])('on %s', async (platform, version) => {
    const texts: RefereeText[] = [];
    for (const [index, script] of tsqlScripts.entries()) {
      const load = await loadOf(script, platform, tsqlDdl, procedures);
      expect(load.previewRefusal, script).toBeNull();
      const text = load.preview?.batches.map((batch) => batch.text).join('\nGO\n') ?? '';
      expect(text).not.toMatch(/\b(COMMIT|ROLLBACK)\b/);
      expect(writtenTables(text, platform).filter((name) => !/^[#@]/.test(name))).toEqual([]);
      texts.push({ name: `${platform} ${index}`, text });
    }
    expect(await refereeTsql(texts, version)).toEqual([]);
  });
});
