/** A preview of a hand-written script finds what the run then does, and writes nothing. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CatalogTable, TableName } from '../../protocol/catalog.ts';
import type { PlatformName } from '../../protocol/platform.ts';
import type { CellValue, PreviewResult } from '../../protocol/run.ts';
import { readConnectionText } from '../../runner/src/connection-text.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query, queryRows } from '../../runner/src/queries.ts';
import { defaultCancelDeadlineMs, Run } from '../../runner/src/run.ts';
import type { Session } from '../../runner/src/session.ts';
import { findAll, tableNameOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { calledProcedures } from '../../server/src/workspace/called-procedures.ts';
import { executableLoad } from '../../server/src/workspace/executable.ts';
import { previewScript } from '../../server/src/workspace/script-preview/script-preview.ts';
import { folderOf } from '../support/folders.ts';
import { type RefereeText, refereeMissing, refereeTsql } from '../support/referee.ts';

const ddl = `
CREATE SCHEMA stg;
CREATE SCHEMA dw;
CREATE TABLE stg.customer (customer_no VARCHAR NOT NULL, city VARCHAR, is_deleted BOOLEAN);
CREATE TABLE dw.customer (
  customer_key INTEGER NOT NULL PRIMARY KEY,
  customer_no VARCHAR NOT NULL,
  city VARCHAR,
  note VARCHAR DEFAULT 'none',
  valid_from DATE NOT NULL,
  valid_to DATE NOT NULL,
  is_current BOOLEAN NOT NULL
);
CREATE VIEW dw.current_customer AS SELECT * FROM dw.customer WHERE is_current;
`;

const rows = `
INSERT INTO stg.customer VALUES ('A', 'Ulm', false), ('B', 'Bonn', false), ('D', 'Kiel', false), ('E', NULL, true), ('F', 'Jena', false);
INSERT INTO dw.customer (customer_key, customer_no, city, valid_from, valid_to, is_current) VALUES
  (1, 'A', 'Ulm', DATE '2026-01-01', DATE '9999-12-31', true),
  (2, 'B', 'Trier', DATE '2026-01-01', DATE '9999-12-31', true),
  (3, 'C', 'Hof', DATE '2026-01-01', DATE '9999-12-31', true),
  (4, 'E', 'Linz', DATE '2026-01-01', DATE '9999-12-31', true),
  (5, 'B', 'Celle', DATE '2025-01-01', DATE '2026-01-01', false);
`;

interface Expected {
  readonly inserted?: number;
  readonly updated?: number;
  readonly expired?: number;
  readonly deleted?: number;
}

const scripts: readonly (readonly [name: string, text: string, counts: Expected])[] = [
  [
    'INSERT of rows that are not there yet',
    `INSERT INTO dw.customer (customer_key, customer_no, city, valid_from, valid_to, is_current)
SELECT 100 + row_number() OVER (ORDER BY s.customer_no), s.customer_no, s.city, '2026-02-01', '9999-12-31', 1
FROM stg.customer AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.customer AS t WHERE t.customer_no = s.customer_no)
ORDER BY s.customer_no;`,
    { inserted: 2 },
  ],
  [
    'INSERT of VALUES without a column list',
    "INSERT INTO dw.customer VALUES (200, 'X', NULL, 'new', '2026-02-01', '9999-12-31', true), (201, 'Y', 'Rom', 'new', '2026-02-01', '9999-12-31', true);",
    { inserted: 2 },
  ],
  [
    'UPDATE with FROM that meets a row twice',
    `UPDATE dw.customer AS t SET city = s.city || '!', note = upper(t.note)
FROM (SELECT * FROM stg.customer UNION ALL SELECT * FROM stg.customer) AS s
WHERE s.customer_no = t.customer_no AND t.is_current AND s.city IS DISTINCT FROM t.city;`,
    { updated: 2 },
  ],
  [
    'UPDATE that ends versions',
    `SET VARIABLE load_date = DATE '2026-02-01';
UPDATE dw.customer SET valid_to = getvariable('load_date'), is_current = false
WHERE is_current AND customer_no IN (SELECT customer_no FROM stg.customer WHERE is_deleted);`,
    { expired: 1 },
  ],
  ['DELETE', 'DELETE FROM dw.customer WHERE NOT is_current;', { deleted: 1 }],
  [
    'DELETE with USING',
    'DELETE FROM dw.customer USING stg.customer AS s WHERE s.customer_no = customer.customer_no AND s.is_deleted;',
    { deleted: 1 },
  ],
  ['TRUNCATE', 'TRUNCATE dw.customer;', { deleted: 5 }],
  [
    'MERGE with three branches',
    `MERGE INTO dw.customer AS t
USING (SELECT customer_no, city, is_deleted FROM stg.customer) AS s
ON t.customer_no = s.customer_no AND t.is_current
WHEN MATCHED AND s.is_deleted THEN DELETE
WHEN MATCHED AND s.city <> t.city THEN UPDATE SET city = s.city
WHEN NOT MATCHED THEN INSERT (customer_key, customer_no, city, valid_from, valid_to, is_current)
  VALUES (ascii(s.customer_no), s.customer_no, s.city, DATE '2026-02-01', DATE '9999-12-31', true);`,
    { inserted: 2, updated: 1, deleted: 1 },
  ],
  [
    'MERGE that ends what the source lacks',
    `MERGE INTO dw.customer AS t USING stg.customer AS s ON t.customer_no = s.customer_no
WHEN NOT MATCHED BY SOURCE AND t.is_current THEN UPDATE SET valid_to = DATE '2026-02-01', is_current = false;`,
    { expired: 1 },
  ],
  [
    'versions ended and opened from rows put aside',
    `CREATE TEMP TABLE changed AS
SELECT s.customer_no, s.city FROM stg.customer AS s JOIN dw.customer AS t ON t.customer_no = s.customer_no AND t.is_current
WHERE s.city IS DISTINCT FROM t.city;
UPDATE dw.customer AS t SET valid_to = DATE '2026-02-01', is_current = false
FROM changed AS c WHERE c.customer_no = t.customer_no AND t.is_current;
INSERT INTO dw.customer (customer_key, customer_no, city, valid_from, valid_to, is_current)
SELECT 100 + ascii(c.customer_no), c.customer_no, c.city, DATE '2026-02-01', DATE '9999-12-31', true FROM changed AS c;
DROP TABLE changed;`,
    { inserted: 2, expired: 2 },
  ],
  [
    'rows put aside first',
    `BEGIN TRANSACTION;
CREATE TEMP TABLE changed AS SELECT s.customer_no, s.city FROM stg.customer AS s WHERE s.city LIKE '%n%';
DELETE FROM changed WHERE customer_no = 'F';
UPDATE dw.customer SET note = c.city FROM changed AS c WHERE c.customer_no = customer.customer_no;
DROP TABLE changed;
COMMIT;`,
    { updated: 2 },
  ],
];

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

let session: Session;
beforeAll(async () => {
  const read = readConnectionText('duckdb::memory:');
  if (read.kind !== 'settings') throw new Error('no settings');
  session = await openSession(read.settings, null);
  await query(session, ddl);
});
afterAll(() => session.close());

async function send(
  mode: 'run' | 'preview',
  batches: readonly { text: string; line: number }[],
): Promise<PreviewResult> {
  const run = new Run(
    session,
    { mode, batches, rollBackAtEnd: true },
    { timeLimitMs: 0, cancelDeadlineMs: defaultCancelDeadlineMs, retries: 0, emit: () => undefined },
  );
  const { result } = await run.start();
  return { samples: {}, ...result };
}

async function stored(): Promise<ReadonlyMap<CellValue, string>> {
  const found = await queryRows(session, 'SELECT * FROM dw.customer ORDER BY customer_key');
  return new Map(found.map((row) => [row[0] ?? null, JSON.stringify(row)]));
}

async function loadOf(text: string, platform: PlatformName, definitions: string, procedure = '') {
  const folder = await folderOf({ 'ddl.sql': definitions, 'procedures/load.sql': procedure }, { platform });
  const procedures = await calledProcedures(folder, text, platform);
  const { value } = executableLoad(folder, { text, platform, parameters: {}, title: 'script', procedures });
  if (value === null) throw new Error('the script does not run');
  return value;
}

describe('on the embedded engine', () => {
  test.each(scripts)('%s', async (_name, text, counts) => {
    await query(session, `DELETE FROM stg.customer; DELETE FROM dw.customer; ${rows}`);
    const load = await loadOf(text, 'duckdb', ddl);
    expect(load.previewRefusal).toBeNull();
    const before = await stored();
    const previewed = await send('preview', load.preview?.batches ?? []);
    expect(previewed.error).toBeNull();
    const none = { inserted: null, updated: null, expired: null, inactivated: null, deleted: null };
    expect(previewed.counts).toEqual({ ...none, unchanged: null, skipped: null, ...counts });
    expect(await stored()).toEqual(before);
    for (const [kind, count] of Object.entries(counts)) {
      const shown = Object.entries(previewed.samples).find(([name]) => name === kind)?.[1];
      expect(shown, kind).toHaveLength(count);
    }

    const run = await send('run', load.batches);
    expect(run.error).toBeNull();
    const after = await stored();
    const ids = [...new Set([...before.keys(), ...after.keys()])];
    const changed = ids.filter((id) => before.has(id) && after.has(id) && before.get(id) !== after.get(id));
    expect({
      inserted: ids.filter((id) => !before.has(id)).length,
      changed: changed.length,
      deleted: ids.filter((id) => !after.has(id)).length,
    }).toEqual({
      inserted: counts.inserted ?? 0,
      changed: (counts.updated ?? 0) + (counts.expired ?? 0),
      deleted: counts.deleted ?? 0,
    });
  });

  test('samples show rows as the run leaves them', async () => {
    await query(session, `DELETE FROM stg.customer; DELETE FROM dw.customer; ${rows}`);
    const load = await loadOf(scripts[3]?.[1] ?? '', 'duckdb', ddl);
    const { samples } = await send('preview', load.preview?.batches ?? []);
    const row = { customer_key: 4, customer_no: 'E', city: 'Linz', note: 'none', valid_from: '2026-01-01' };
    expect(samples.expired).toEqual([
      {
        before: { ...row, valid_to: '9999-12-31', is_current: true },
        after: { ...row, valid_to: '2026-02-01', is_current: false },
      },
    ]);
  });
});

describe('a preview says what the run would meet', () => {
  const definitions = `CREATE SCHEMA IF NOT EXISTS w;
CREATE TABLE w.source (no VARCHAR, city VARCHAR);
CREATE TABLE w.target (no VARCHAR NOT NULL, city VARCHAR, CONSTRAINT pk PRIMARY KEY (no));`;

  async function warned(text: string): Promise<PreviewResult['warnings']> {
    await query(session, `DROP SCHEMA IF EXISTS w CASCADE; ${definitions}`);
    await query(
      session,
      `INSERT INTO w.source VALUES ('A', 'Ulm'), ('A', 'Bonn'), ('B', 'Kiel'), ('B', 'Kiel'), ('C', 'Jena'), (NULL, 'Hof');
INSERT INTO w.target VALUES ('A', NULL), ('B', NULL);`,
    );
    const load = await loadOf(text, 'duckdb', definitions);
    expect(load.previewRefusal).toBeNull();
    const { error, warnings } = await send('preview', load.preview?.batches ?? []);
    expect(error).toBeNull();
    return warnings;
  }

  test('an UPDATE that meets several rows with different values', async () => {
    expect(await warned('UPDATE w.target SET city = s.city FROM w.source AS s WHERE s.no = target.no;')).toEqual([
      {
        code: 'ambiguous_update',
        message:
          'w.target: no A meets several source rows with different values, and the run takes any one of them (1 of 1).',
      },
    ]);
  });

  test('a MERGE that takes a row twice', async () => {
    const text =
      'MERGE INTO w.target AS t USING w.source AS s ON t.no = s.no WHEN MATCHED THEN UPDATE SET city = s.city;';
    expect(await warned(text)).toEqual(
      ['A', 'B'].map((key, at) => ({
        code: 'matched_twice',
        message: `w.target: no ${key} is taken by several rows of the source, and the run takes any one of them (${at + 1} of 2).`,
      })),
    );
  });

  test('DEFAULT stands as its value, and is refused where only the run can tell', async () => {
    const given =
      "CREATE TABLE dbo.Given (Id int NOT NULL, Name varchar(9) DEFAULT ('x'), City varchar(9) NULL, Row_No int IDENTITY(1,1));";
    const insert = 'INSERT INTO dbo.Given (Id, Name, City) VALUES (78, DEFAULT, DEFAULT);';
    const sent = (await loadOf(insert, 'sqlserver', given)).preview?.batches.map((batch) => batch.text).join('\n');
    expect(sent).toContain("VALUES (78, ('x'), NULL)");
    const numbers =
      "CREATE SEQUENCE w.numbers; CREATE TABLE w.given (id INTEGER DEFAULT nextval('w.numbers'), name VARCHAR);";
    const open = await loadOf("INSERT INTO w.given VALUES (DEFAULT, 'a');", 'duckdb', numbers);
    expect(open.preview).toBeNull();
    expect(open.previewRefusal).toContain('DEFAULT of id is not known before the run');
  });

  test('a MERGE for SQL Server that fails there', async () => {
    const text =
      'MERGE dw.Customer AS t USING stg.Customer AS s ON t.CustomerNo = s.CustomerNo WHEN MATCHED THEN DELETE;';
    const load = await loadOf(text, 'sqlserver', tsqlDdl);
    expect(load.preview?.batches.map((batch) => batch.text).join('\n')).toContain(
      'is taken by several rows of the source, so the MERGE fails with error 8672 and writes nothing',
    );
  });

  test('new rows that break a key or NOT NULL', async () => {
    expect(await warned('INSERT INTO w.target SELECT * FROM w.source;')).toEqual([
      ...['A', 'B'].map((key, at) => ({
        code: 'duplicate_key',
        message: `w.target: no ${key} would stand more than once under PRIMARY KEY (no), so the run fails (${at + 1} of 2).`,
      })),
      {
        code: 'null_value',
        message: 'w.target: no is NOT NULL and would get no value in 1 of the rows, so the run fails.',
      },
    ]);
  });

  test('nothing where a key is free again', async () => {
    expect(
      await warned(
        "DELETE FROM w.target; INSERT INTO w.target SELECT DISTINCT no, 'x' FROM w.source WHERE no IS NOT NULL;",
      ),
    ).toEqual([]);
  });
});

describe('with tables that are defined for SQL Server', () => {
  const definitions = `CREATE TABLE stg.Cust (CustNo varchar(20) NOT NULL, City nvarchar(50) NULL);
CREATE TABLE dwh.Cust (CustNo varchar(20) NOT NULL, City nvarchar(50) NULL, ValidFrom datetime2(3) NOT NULL, Flag bit NULL);
CREATE TABLE dwh.Other (CustNo varchar(20) NOT NULL, City nvarchar(50) NULL);`;

  test('values get the types of the embedded engine', async () => {
    const embedded = `CREATE SCHEMA IF NOT EXISTS dwh;
CREATE OR REPLACE TABLE dwh.Cust (CustNo VARCHAR, City VARCHAR, ValidFrom TIMESTAMP, Flag BOOLEAN);`;
    await query(session, embedded);
    const load = await loadOf(
      "INSERT INTO dwh.Cust (CustNo, ValidFrom, Flag) VALUES ('Q', '2026-06-01', 1);",
      'duckdb',
      definitions,
    );
    const { error, counts, samples } = await send('preview', load.preview?.batches ?? []);
    expect(error).toBeNull();
    expect(counts?.inserted).toBe(1);
    expect(samples.inserted).toEqual([
      { CustNo: 'Q', City: null, ValidFrom: '2026-06-01 00:00:00.000000', Flag: true },
    ]);
  });

  test.each([
    'MERGE INTO dwh.Cust WITH (HOLDLOCK) AS t USING stg.Cust AS s ON t.CustNo = s.CustNo WHEN MATCHED THEN UPDATE SET City = s.City;',
    'UPDATE t SET City = s.City FROM dwh.Cust t JOIN stg.Cust s ON s.CustNo = t.CustNo;',
    'DELETE t FROM dwh.Cust t LEFT JOIN stg.Cust s ON s.CustNo = t.CustNo WHERE s.CustNo IS NULL;',
  ])('a script that only T-SQL reads is refused on the embedded engine: %s', async (text) => {
    const folder = await folderOf({ 'ddl.sql': definitions }, { platform: 'duckdb' });
    const { value, problems } = executableLoad(folder, { text, platform: 'duckdb', parameters: {}, title: 'script' });
    expect(value).toBeNull();
    expect(problems.map(({ message }) => message).join()).toMatch(/^This script is written for sqlserver/);
  });

  test.each([
    'UPDATE dwh.Cust AS t SET City = s.City FROM stg.Cust AS s WHERE s.CustNo = t.CustNo;',
    'UPDATE Other SET City = s.City FROM (SELECT Other.* FROM stg.Cust AS Other) AS s WHERE s.CustNo = Other.CustNo;',
    'DELETE FROM dwh.Cust AS t USING stg.Cust AS s WHERE s.CustNo = t.CustNo;',
  ])('a script that the embedded engine reads stays its own: %s', async (text) => {
    const load = await loadOf(text, 'duckdb', definitions);
    expect(load.previewRefusal).toBeNull();
  });
});

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
    const other = `${ddl}CREATE TABLE dw.other (a INTEGER);`;
    const load = await loadOf(text, 'duckdb', other);
    expect(load.preview).toBeNull();
    expect(load.previewRefusal).toMatch(message);
  });

  test.each<[string, RegExp]>([
    ['WHILE 1 = 1 DELETE FROM dw.Customer;', /line 1: WHILE 1 = is not followed/],
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
