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
    checkCompletion('INSERT INTO dw.DimItem (ItemNo, |) SELECT 1', ['IsCurrent', 'Label', 'ValidFrom', 'ValidTo']);
    checkCompletion(merge('ON t.PatientKey = s.patient_id WHEN NOT MATCHED THEN INSERT (PatientKey, |'), [
      'Address1',
      'City',
      'HashDiff',
      'LoadDate',
      'RecordSource',
    ]);
  });

  test('conditions of WHEN see both sides', () => {
    const offered = labels(merge('ON t.PatientKey = s.patient_id WHEN MATCHED AND |'));
    expect(offered.slice(0, 3)).toEqual(['PatientKey', 'patient_id', 'HashDiff']);
    expect(offered).toContain('t');
    expect(offered).toContain('s');
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
