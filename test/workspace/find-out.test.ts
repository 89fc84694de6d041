import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findOutScript } from '../../server/src/workspace/find-out.ts';
import { folderOf } from '../support/folders.ts';
import { refereeMissing, refereeTsql } from '../support/referee.ts';

const ddl = `
CREATE TABLE raw.SatPatient (PatientKey varchar(64) NOT NULL, LoadDate datetime NOT NULL, RecordSource varchar(20) NOT NULL, HashDiff varchar(64) NOT NULL, City varchar(30), PRIMARY KEY (PatientKey, LoadDate));
CREATE TABLE ps.Department (DepartmentID int NOT NULL, Name varchar(50), EffectiveStartDT datetime NOT NULL, EffectiveExpireDT datetime NOT NULL, CurrentRowYN char(1) NOT NULL, PRIMARY KEY (DepartmentID, EffectiveStartDT));
CREATE TABLE dbo.Plain (Text varchar(10));`;
const text = `
INSERT INTO raw.SatPatient SELECT * FROM stg.Patient;
UPDATE p SET EffectiveExpireDT = '2026-03-02' FROM ps.Department AS p;
INSERT INTO ps.Department SELECT * FROM #new;
DELETE FROM dbo.Plain;
INSERT INTO #t SELECT 1;
MERGE INTO elsewhere.Target AS t USING (SELECT 1 AS a) AS s ON t.a = s.a WHEN MATCHED THEN DELETE;`;

describe('the query that finds out', () => {
  test('lists the newest times of every table that the text writes, once each', async () => {
    const folder = await folderOf({ 'ddl.sql': ddl });
    const script = findOutScript(folder, text, 'sqlserver') ?? '';
    expect(script.match(/^SELECT[\s\S]*?;/gm)).toHaveLength(5);
    expect(script).toContain('raw.SatPatient: rows by LoadDate');
    expect(script).toContain('ps.Department: rows by EffectiveStartDT');
    expect(script).toContain('ps.Department: rows by EffectiveExpireDT');
    expect(script).toContain('[elsewhere].[Target]');
    expect(script).not.toMatch(/#|stg/);
  });

  test('tells how many rows bear each time, and leaves the open end out', async () => {
    const folder = await folderOf({ 'ddl.sql': ddl });
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    onTestFinished(() => connection.closeSync());
    await connection.run(`CREATE SCHEMA ps; CREATE TABLE ps.Department (DepartmentID int, Name varchar, EffectiveStartDT timestamp, EffectiveExpireDT timestamp, CurrentRowYN varchar);
      INSERT INTO ps.Department VALUES (1, 'a', '1900-01-01', '2026-03-02', 'N'), (1, 'b', '2026-03-02', '4000-01-01', 'Y'), (2, 'c', '2026-03-02', '4000-01-01', 'Y');`);
    const script = findOutScript(folder, 'UPDATE ps.Department SET Name = 1', 'duckdb') ?? '';
    const answers: unknown[] = [];
    for (const query of script.match(/^SELECT[\s\S]*?;/gm) ?? []) {
      answers.push((await connection.runAndReadAll(query)).getRowsJson());
    }
    expect(answers).toEqual([
      [
        ['2026-03-02 00:00:00', '2'],
        ['1900-01-01 00:00:00', '1'],
      ],
      [['2026-03-02 00:00:00', '1']],
    ]);
  });

  test('there is none for a text that names no table which it writes', async () => {
    const folder = await folderOf({ 'ddl.sql': ddl });
    expect(findOutScript(folder, 'EXEC dbo.LoadAll', 'sqlserver')).toBeNull();
  });
});

describe.skipIf(refereeMissing() !== null)("Microsoft's parser", () => {
  test.each([
    ['sqlserver', '2012'],
    ['azuresql', 'newest'],
    ['synapse', 'newest'],
    ['fabric', 'fabricdw'],
  ] as const)('takes it for %s', async (platform, version) => {
    const folder = await folderOf({ 'ddl.sql': ddl });
    const script = findOutScript(folder, text, platform) ?? '';
    expect(await refereeTsql([{ name: platform, text: script }], version)).toEqual([]);
  });
});
