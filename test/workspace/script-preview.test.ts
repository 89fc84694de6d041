/** A preview of a hand-written script finds what the run then does, and writes nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CellValue, PreviewResult } from '../../protocol/run.ts';
import { readConnectionText } from '../../runner/src/connection-text.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query, queryRows } from '../../runner/src/queries.ts';
import { defaultCancelDeadlineMs, Run } from '../../runner/src/run.ts';
import type { Session } from '../../runner/src/session.ts';
import { executableLoad } from '../../server/src/workspace/executable.ts';
import { folderOf } from '../support/folders.ts';
import { customerDdl, loadOf } from '../support/script-load.ts';

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

let session: Session;
beforeAll(async () => {
  const read = readConnectionText('duckdb::memory:');
  if (read.kind !== 'settings') throw new Error('no settings');
  session = await openSession(read.settings, null);
  await query(session, customerDdl);
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

describe('on the embedded engine', () => {
  test.each(scripts)('%s', async (_name, text, counts) => {
    await query(session, `DELETE FROM stg.customer; DELETE FROM dw.customer; ${rows}`);
    const load = await loadOf(text, 'duckdb', customerDdl);
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
    const load = await loadOf(scripts[3]?.[1] ?? '', 'duckdb', customerDdl);
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
