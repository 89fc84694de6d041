import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksOf, type Inspection, inspection, versionsPlan } from '../../server/src/features/inspection.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';
import { refereeMissing, refereeTsql } from '../support/referee.ts';

const ddl = `
CREATE TABLE stg.Department (DepartmentID int NOT NULL, Name varchar(50), Location varchar(50));
CREATE TABLE ps.Department (
  DepartmentID int NOT NULL, Name varchar(50), Location varchar(50),
  EffectiveStartDT datetime NOT NULL, EffectiveExpireDT datetime NOT NULL, CurrentRowYN char(1) NOT NULL,
  PRIMARY KEY (DepartmentID, EffectiveStartDT));
CREATE TABLE raw.HubPatient (PatientKey varchar(64) NOT NULL PRIMARY KEY, PatientId int NOT NULL, LoadDate datetime NOT NULL, RecordSource varchar(20) NOT NULL);
CREATE TABLE raw.SatPatient (
  PatientKey varchar(64) NOT NULL, LoadDate datetime NOT NULL, RecordSource varchar(20) NOT NULL, HashDiff varchar(64) NOT NULL,
  City varchar(30), PRIMARY KEY (PatientKey, LoadDate));
CREATE TABLE dbo.Plain (Text varchar(10));
`;
const catalog = catalogFrom(ddl);

function inspected(name: string, schema: string, platform = 'duckdb'): Inspection {
  const table = catalog.tables.find((each) => each.name.table === name && each.name.schema === schema);
  if (table === undefined) throw new Error(`no table ${name}`);
  const found = inspection(table, [], platform, catalog.tables);
  if ('message' in found) throw new Error(found.message);
  return found;
}

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`
CREATE SCHEMA ps; CREATE SCHEMA raw;
CREATE TABLE ps.Department (DepartmentID int, Name varchar, Location varchar, EffectiveStartDT timestamp, EffectiveExpireDT timestamp, CurrentRowYN varchar);
INSERT INTO ps.Department VALUES
  (1, 'Fine', 'A', '1900-01-01', '2026-03-02', 'N'), (1, 'Fine', 'B', '2026-03-02', '4000-01-01', 'Y'),
  (2, 'Gap', 'A', '2026-03-01', '2026-03-02', 'N'), (2, 'Gap', 'B', '2026-03-03', '4000-01-01', 'Y'),
  (3, 'Overlap', 'A', '2026-03-01', '2026-03-04', 'N'), (3, 'Overlap', 'B', '2026-03-03', '4000-01-01', 'Y'),
  (4, 'Two open', 'A', '2026-03-01', '4000-01-01', 'Y'), (4, 'Two open', 'B', '2026-03-03', '4000-01-01', 'Y'),
  (5, 'Same', NULL, '2026-03-01', '2026-03-02', 'N'), (5, 'Same', NULL, '2026-03-02', '4000-01-01', 'Y'),
  (6, 'Backwards', 'A', '2026-03-05', '2026-03-01', 'N'),
  (7, 'Twice', 'A', '2026-03-01', '2026-03-02', 'N'), (7, 'Twice', 'B', '2026-03-01', '2026-03-02', 'N');
CREATE TABLE raw.HubPatient (PatientKey varchar, PatientId int, LoadDate timestamp, RecordSource varchar);
INSERT INTO raw.HubPatient VALUES ('a', 1, '2026-03-01', 'x');
CREATE TABLE raw.SatPatient (PatientKey varchar, LoadDate timestamp, RecordSource varchar, HashDiff varchar, City varchar);
INSERT INTO raw.SatPatient VALUES ('a', '2026-03-01', 'x', 'h1', 'Bonn'), ('a', '2026-03-02', 'x', 'h2', 'Essen'),
  ('b', '2026-03-01', 'x', 'h1', 'Bonn'), ('b', '2026-03-02', 'x', 'h1', 'Bonn');`);
});
afterAll(() => connection.closeSync());

async function rowsOf(text: string): Promise<readonly (readonly unknown[])[]> {
  return (await connection.runAndReadAll(text)).getRowsJson();
}

/** Keys that break a check, by the check's name. */
async function broken(name: string, schema: string): Promise<Record<string, unknown[]>> {
  const { checks } = checksOf(inspected(name, schema), catalog);
  const found = await Promise.all(
    checks.map(async ({ name: check, batch }) => {
      if (batch === null) return [check, ['not checked']] as const;
      return [check, [...new Set((await rowsOf(batch.text)).map((row) => row[0]))].sort()] as const;
    }),
  );
  return Object.fromEntries(found);
}

describe('the invariants of a target', () => {
  test('of a table with intervals name the keys that break them, and no other', async () => {
    expect(await broken('Department', 'ps')).toEqual({
      'one-version-per-start': [7],
      'one-open-version': [4],
      'end-after-start': [6],
      'no-overlap': [3, 4, 7],
      'no-gap': [2],
      'no-equal-neighbours': [5],
    });
  });

  test('of a satellite find equal neighbours and keys that the hub lacks', async () => {
    expect(await broken('SatPatient', 'raw')).toEqual({
      'one-version-per-start': [],
      'no-equal-neighbours': ['b'],
      'no-orphans': ['b'],
      // No load is known here that hashes these columns.
      'hash-recomputes:PatientKey': ['not checked'],
      'hash-recomputes:HashDiff': ['not checked'],
    });
  });

  test('closing early leaves no gap', async () => {
    const table = catalog.tables.find((each) => each.name.schema === 'ps');
    if (table === undefined) throw new Error('no table');
    const closing = { options: { closing: 'minus-1-day' }, target: table.name } as unknown as Parameters<
      typeof inspection
    >[1][number];
    const found = inspection(table, [closing], 'duckdb');
    if ('message' in found) throw new Error(found.message);
    const gap = checksOf(found, catalogFrom('')).checks.find((check) => check.name === 'no-gap');
    expect(await rowsOf(gap?.batch?.text ?? '')).toEqual([]);
  });

  test('stand in one script, each with what it means', () => {
    const { checks, script } = checksOf(inspected('Department', 'ps'), catalog);
    for (const check of checks)
      expect(script).toContain(`-- ${check.name}: ${check.description}\n${check.batch?.text}`);
  });
});

describe('the versions of a key', () => {
  test('are found by a part of the key and read from the first to the last', async () => {
    const plan = versionsPlan(inspected('SatPatient', 'raw'), ' B ', ['b']);
    expect(plan).toMatchObject({ keyColumns: ['PatientKey'], start: 'LoadDate', end: null, tracked: ['City'] });
    // The hub lacks this key, so it has no other name.
    expect(await rowsOf(plan.keys.text)).toEqual([['b', null]]);
    expect(await rowsOf(plan.versions?.text ?? '')).toEqual([
      ['b', '2026-03-01 00:00:00', 'Bonn'],
      ['b', '2026-03-02 00:00:00', 'Bonn'],
    ]);
  });

  test('of a satellite are found by the business key that the hub has for them', async () => {
    const plan = versionsPlan(inspected('SatPatient', 'raw'), '1', null);
    expect(plan).toMatchObject({ keyColumns: ['PatientKey'], businessColumns: ['PatientId'] });
    expect(await rowsOf(plan.keys.text)).toEqual([['a', 1]]);
    const all = versionsPlan(inspected('SatPatient', 'raw'), '', null);
    expect((await rowsOf(all.keys.text)).toSorted()).toEqual([
      ['a', 1],
      ['b', null],
    ]);
    expect(plan.businessRefusal).toBeNull();
    expect(versionsPlan(inspected('HubPatient', 'raw'), '1', null)).toMatchObject({
      businessColumns: [],
      businessRefusal: null,
    });
  });

  test('of a satellite without its hub are found by the hash, and the plan says what is missing', () => {
    const refusalOf = (own: string, others: string): string | null => {
      const tables = catalogFrom(`${own}\n${others}`).tables;
      const [satellite] = tables;
      if (satellite === undefined) throw new Error('no table');
      const found = inspection(satellite, [], 'duckdb', tables);
      if (!('versioned' in found)) throw new Error(found.message);
      return versionsPlan(found, '', null).businessRefusal;
    };
    const satellite = (key: string) =>
      `CREATE TABLE raw.SatOne (${key} varchar(64) NOT NULL, LoadDate datetime2(6) NOT NULL, RecordSource varchar(9) NOT NULL,
        HashDiff varchar(64) NOT NULL, City varchar(30), PRIMARY KEY (${key}, LoadDate));`;
    const link = `CREATE TABLE raw.LinkVisit (VisitKey varchar(64) NOT NULL PRIMARY KEY, PatientKey varchar(64) NOT NULL,
      DoctorKey varchar(64) NOT NULL, LoadDate datetime2(6) NOT NULL, RecordSource varchar(9) NOT NULL);`;
    expect(refusalOf(satellite('PatientKey'), '')).toBe(
      "Keys are searched and shown by the hash PatientKey alone, since no hub with this column and a business key is defined in this folder. Add the hub's CREATE TABLE to it to search by the business key.",
    );
    expect(refusalOf(satellite('VisitKey'), link)).toBe(
      'Keys are searched and shown by the hash VisitKey alone, since it is the key of the link LinkVisit, which has no business key of its own.',
    );
  });

  test('a number is found by its digits, an empty search finds every key', async () => {
    const plan = (search: string) => versionsPlan(inspected('Department', 'ps'), search, null);
    expect(await rowsOf(plan('3').keys.text)).toEqual([[3]]);
    expect(await rowsOf(plan('').keys.text)).toHaveLength(7);
    expect(plan('').versions).toBeNull();
  });

  test('a search built to inject is only text', async () => {
    for (const search of ["'; DROP TABLE raw.SatPatient --", "'", '"', '%', '\u202E']) {
      const plan = versionsPlan(inspected('SatPatient', 'raw'), search, [search]);
      expect(await rowsOf(plan.keys.text)).toEqual([]);
      expect(await rowsOf(plan.versions?.text ?? '')).toEqual([]);
    }
    // No engine holds a NUL in such a key, so it is left out of the search.
    expect(await rowsOf(versionsPlan(inspected('SatPatient', 'raw'), '\u0000a', null).keys.text)).toEqual([['a', 1]]);
  });

  test('a table without versions says so', () => {
    expect(inspection(tableIn(catalog, 'Plain'), [], 'duckdb')).toMatchObject({ code: 'no-versions' });
  });
});

describe.skipIf(refereeMissing() !== null)("Microsoft's parser", () => {
  test.each([
    ['sqlserver:2012', '2012'],
    ['sqlserver:2022', '2022'],
    ['synapse', 'newest'],
    ['fabric', 'fabricdw'],
  ] as const)('takes every query for %s', async (platform, version) => {
    const texts = [
      ['Department', 'ps'],
      ['SatPatient', 'raw'],
    ].flatMap(([name = '', schema = '']) => {
      const found = inspected(name, schema, platform);
      const plan = versionsPlan(found, "x'y", ["a'b"]);
      const { script } = checksOf(found, catalog);
      return [plan.keys.text, plan.versions?.text ?? '', script].map((text, index) => ({
        name: `${name} ${index}`,
        text,
      }));
    });
    expect(await refereeTsql(texts, version)).toEqual([]);
  });
});
