import { describe, expect, test } from 'vitest';
import { complete } from '../../server/src/features/completion.ts';
import { openFiles, warehouse } from '../support/editor.ts';

/** Labels offered at the cursor, in the order in which the editor shows them. */
function checkCompletion(
  text: string,
  expected: readonly string[],
  platform: 'sqlserver' | 'synapse' = 'sqlserver',
): void {
  expect(labels(text, platform)).toEqual(expected);
}

function labels(text: string, platform: 'sqlserver' | 'synapse' = 'sqlserver'): readonly string[] {
  const { view, position } = openFiles({ 'ddl.sql': warehouse, 'load.sql': text }, platform);
  const items = [...complete(view, position)].sort((left, right) => (left.sortText < right.sortText ? -1 : 1));
  return items.map((item) => item.label);
}

const merge = (rest: string) => `MERGE INTO raw.SatPatient AS t USING StageEmedsys.Dev_Patient_ AS s ${rest}`;

describe('completion', () => {
  test('columns of an alias in ON, keys first', () => {
    checkCompletion(merge('ON t.|'), ['PatientKey', 'HashDiff', 'Address1', 'City', 'LoadDate', 'RecordSource']);
    checkCompletion(merge('ON t.PatientKey = s.|'), ['patient_id', 'address1', 'city']);
  });

  test('SET offers columns that can be written, attributes first', () => {
    checkCompletion('UPDATE dw.DimItem SET | WHERE ItemNo = 1', [
      'ValidTo',
      'IsCurrent',
      'Label',
      'ItemNo',
      'ValidFrom',
      'DimItem',
    ]);
    checkCompletion(merge('ON t.PatientKey = s.patient_id WHEN MATCHED THEN UPDATE SET City = s.|'), [
      'patient_id',
      'address1',
      'city',
    ]);
  });

  test('an INSERT list offers what is not listed yet, never identity and computed columns', () => {
    checkCompletion('INSERT INTO dw.DimItem (ItemNo, |) SELECT 1', ['Label', 'ValidFrom', 'ValidTo', 'IsCurrent']);
    checkCompletion(merge('ON t.PatientKey = s.patient_id WHEN NOT MATCHED THEN INSERT (PatientKey, |'), [
      'LoadDate',
      'RecordSource',
      'HashDiff',
      'Address1',
      'City',
    ]);
  });

  test('conditions of WHEN see both sides', () => {
    const offered = labels(merge('ON t.PatientKey = s.patient_id WHEN MATCHED AND |'));
    expect(offered.slice(0, 3)).toEqual(['PatientKey', 'patient_id', 'HashDiff']);
    expect(offered).toContain('t');
    expect(offered).toContain('s');
  });

  test('where nothing stands yet and the text behind it goes on', () => {
    const stage = ['patient_id', 'address1', 'city'];
    for (const text of [
      'SELECT s.| FROM StageEmedsys.Dev_Patient_ AS s',
      'SELECT s.city, s.| FROM StageEmedsys.Dev_Patient_ AS s WHERE 1 = 1',
      'SELECT DISTINCT s.[| FROM StageEmedsys.Dev_Patient_ AS s',
      'INSERT INTO raw.SatPatient (City) SELECT s.| FROM StageEmedsys.Dev_Patient_ AS s',
      'UPDATE t SET t.City = s.| FROM raw.SatPatient AS t JOIN StageEmedsys.Dev_Patient_ AS s ON 1 = 1',
      'IF 1 = (SELECT s.| FROM StageEmedsys.Dev_Patient_ AS s) PRINT 1',
    ])
      expect([text, new Set(labels(text))]).toEqual([text, new Set(stage)]);
    checkCompletion('SELECT | FROM StageEmedsys.Dev_Patient_ AS s', [...stage, 's']);
    checkCompletion('SELECT TOP (3) | FROM StageEmedsys.Dev_Patient_ AS s', [...stage, 's']);
    const written = ['PatientKey', 'LoadDate', 'RecordSource', 'HashDiff', 'Address1', 'City'].sort();
    for (const text of [
      'UPDATE t SET t.| FROM raw.SatPatient AS t',
      'UPDATE t SET City = 1, t.| FROM raw.SatPatient AS t',
    ])
      expect([text, [...labels(text)].sort()]).toEqual([text, written]);
    expect(labels('UPDATE t SET | FROM raw.SatPatient AS t')).toContain('City');
  });

  test('nothing behind a name or a value, where an operator or a word of the grammar follows', () => {
    for (const text of [
      'SELECT * FROM raw.SatPatient AS t |',
      'SELECT t.City | FROM raw.SatPatient AS t',
      "SELECT * FROM raw.SatPatient AS t WHERE t.City = 'x' |",
      'SELECT * FROM raw.SatPatient AS t WHERE (t.City = 1) |',
      'SELECT TOP 3 * FROM raw.SatPatient AS t WHERE t.City = 1 |',
      merge('ON t.PatientKey = s.patient_id WHEN MATCHED |'),
    ])
      expect([text, labels(text)]).toEqual([text, []]);
  });

  test('rows that are inserted have no target yet', () => {
    checkCompletion(merge('ON t.PatientKey = s.patient_id WHEN NOT MATCHED THEN INSERT (City) VALUES (|'), [
      'address1',
      'city',
      'patient_id',
      's',
    ]);
  });

  test('tables behind a database, behind both, and of several databases', () => {
    const ddl = `CREATE TABLE Stage.dbo.Unit (a int); CREATE TABLE History.dbo.Unit (a int, b int); CREATE TABLE Stage.ref.Code (a int);`;
    const offered = (text: string) => {
      const { view, position } = openFiles({ 'ddl.sql': ddl, 'load.sql': text });
      return complete(view, position).map(({ insertText }) => insertText);
    };
    expect(offered('SELECT * FROM |')).toEqual(['Stage.dbo.Unit', 'History.dbo.Unit', 'ref.Code']);
    expect(offered('SELECT * FROM Stage.|')).toEqual(['dbo.Unit', 'ref.Code']);
    expect(offered('SELECT * FROM Stage.dbo.|')).toEqual(['Unit']);
    expect(offered('SELECT * FROM [Stage].[ref].[C|')).toEqual(['Code']);
    expect(offered('SELECT * FROM ref.|')).toEqual(['Code']);
  });

  test('common tables where a table is read', () => {
    expect(labels('WITH c AS (SELECT 1 AS a), d AS (SELECT * FROM |')).toContain('c');
    expect(labels('WITH c AS (SELECT 1 AS a) SELECT * FROM c JOIN | WHERE 1 = 1')).toContain('c');
    expect(labels('WITH c AS (SELECT 1 AS a) INSERT INTO |')).not.toContain('c');
  });

  test('reserved words get quotes', () => {
    const { view, position } = openFiles({
      'load.sql': 'CREATE TABLE t ([order] int, [key] int, a int); SELECT t.| FROM t',
    });
    expect(complete(view, position).map(({ insertText }) => insertText)).toEqual(['[order]', '[key]', 'a']);
  });

  test('tables by role: targets behind INTO, staging behind USING and FROM', () => {
    expect(labels('MERGE INTO |')[0]).toBe('dw.DimItem');
    expect(labels('MERGE INTO |').at(-1)).toBe('StageEmedsys.Dev_Patient_');
    expect(labels('MERGE INTO raw.SatPatient AS t USING |')[0]).toBe('StageEmedsys.Dev_Patient_');
    checkCompletion('SELECT * FROM raw.|', ['SatPatient']);
  });

  test('objects made earlier in the same script count as known', () => {
    checkCompletion('CREATE TABLE #new (a int, b int)\nSELECT n.| FROM #new AS n', ['a', 'b']);
    expect(labels('SELECT ItemNo AS k INTO #keys FROM dw.DimItem\nSELECT * FROM |')[0]).toBe('#keys');
    checkCompletion('DECLARE @t TABLE (x int)\nSELECT t.| FROM @t AS t', ['x']);
  });

  test('common tables and derived tables have their output columns', () => {
    checkCompletion('WITH c AS (SELECT ItemNo AS k, Label FROM dw.DimItem) SELECT c.| FROM c', ['k', 'Label']);
  });

  test('declared variables and missing load parameters behind @', () => {
    checkCompletion('DECLARE @BatchTime datetime = GETDATE()\nINSERT INTO raw.SatPatient (RecordSource) SELECT @|', [
      '@BatchTime',
      '@RecordSource',
    ]);
  });

  test('names that need quotes get them', () => {
    const { view, position } = openFiles(
      { 'load.sql': 'CREATE TABLE t ([a b] int)\nGO\nSELECT x.| FROM t AS x' },
      'sqlserver',
    );
    expect(complete(view, position).map((item) => item.insertText)).toEqual(['[a b]']);
  });

  test.each([
    ['in a comment', 'SELECT * FROM raw.SatPatient -- |'],
    ['in a string', "SELECT 'raw.|' FROM raw.SatPatient"],
    ['behind AS', 'SELECT 1 FROM raw.SatPatient AS |'],
    ['where a table is made', 'CREATE TABLE |'],
    ['behind the end of a statement', 'SELECT * FROM raw.SatPatient; |'],
  ])('nothing %s', (_, text) => {
    checkCompletion(text, []);
  });
});
