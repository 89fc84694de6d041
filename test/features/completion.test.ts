import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { complete, completedCall } from '../../server/src/features/completion.ts';
import { proceduresOf } from '../../server/src/features/procedures.ts';
import { openFiles, warehouse } from '../support/editor.ts';

/** Labels offered at the cursor, in the order in which the editor shows them. */
function checkCompletion(text: string, expected: readonly string[], platform: PlatformName = 'sqlserver'): void {
  expect(labels(text, platform)).toEqual(expected);
}

function labels(text: string, platform: PlatformName = 'sqlserver'): readonly string[] {
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
    checkCompletion('INSERT INTO dw.DimItem (ItemNo, |, IsCurrent, ValidTo) SELECT 1', ['Label', 'ValidFrom']);
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

  test('behind what is still missing in the lists before', () => {
    const stage = ['address1', 'city', 'patient_id'];
    for (const text of [
      'SELECT FROM StageEmedsys.Dev_Patient_ AS s WHERE s.|',
      'SELECT s.city, FROM StageEmedsys.Dev_Patient_ AS s WHERE s.|',
      'SELECT s.city, , s.| FROM StageEmedsys.Dev_Patient_ AS s',
      'INSERT INTO raw.SatPatient (City, ) SELECT s.| FROM StageEmedsys.Dev_Patient_ AS s',
      'UPDATE t SET City = 1 OUTPUT inserted.City INTO @c (a, ) FROM raw.SatPatient AS t, StageEmedsys.Dev_Patient_ AS s WHERE s.|',
      'UPDATE t SET City = , Address1 = s.| FROM raw.SatPatient AS t, StageEmedsys.Dev_Patient_ AS s',
      merge('ON t.PatientKey = s.patient_id WHEN MATCHED THEN UPDATE SET City = WHEN NOT MATCHED AND s.| THEN DELETE'),
    ])
      expect([text, [...labels(text)].sort()]).toEqual([text, stage]);
  });

  test('in common tables of writes, and in a write inside of another one', () => {
    const stage = ['address1', 'city', 'patient_id'];
    const common = 'WITH c AS (SELECT s.# FROM StageEmedsys.Dev_Patient_ AS s), d AS (SELECT * FROM c)';
    for (const write of [
      'INSERT INTO raw.SatPatient (City) SELECT city FROM d',
      'MERGE raw.SatPatient AS t USING d ON 1 = 1 WHEN MATCHED THEN UPDATE SET City = 1;',
      'UPDATE t SET City = 1 FROM raw.SatPatient AS t JOIN d ON 1 = 1',
      'DELETE t FROM raw.SatPatient AS t JOIN d ON 1 = 1',
    ]) {
      const text = `${common.replace('#', '|')} ${write}`;
      expect([text, [...labels(text)].sort()]).toEqual([text, stage]);
    }
    checkCompletion(
      `${common.replace('#', 'city')} INSERT INTO dw.DimItem (Label) SELECT x.c FROM (MERGE raw.SatPatient AS t USING d ON t.City = d.| WHEN MATCHED THEN DELETE OUTPUT d.city) AS x (c)`,
      ['city'],
    );
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

  test('a write through a common table, a recursion, and what is turned by PIVOT', () => {
    const common = 'WITH c AS (SELECT ItemNo, Label AS l FROM dw.DimItem)';
    expect(labels(`${common} DELETE FROM c WHERE |`)).toEqual(['ItemNo', 'l', 'c']);
    expect(labels(`${common} UPDATE c SET |`)).toEqual(['ItemNo', 'l', 'c']);
    expect(labels(`${common} MERGE c AS t USING raw.SatPatient AS s ON t.|`)).toEqual(['ItemNo', 'l']);
    const recursion = 'WITH r (n, lvl) AS (SELECT ItemNo, 0 FROM dw.DimItem UNION ALL SELECT r.n, r.# FROM r)';
    expect(labels(`${recursion.replace('#', '|')} SELECT 1 FROM r`)).toEqual(['lvl', 'n']);
    const turned = labels('SELECT 1 FROM StageEmedsys.Dev_Patient_ PIVOT (MAX(|) FOR city IN ([a])) AS p');
    expect(turned.slice(0, 3)).toEqual(['patient_id', 'address1', 'city']);
  });

  test('a star gives no columns that it leaves out', () => {
    const text =
      'SELECT q.| FROM (SELECT * EXCEPT (rn) FROM (SELECT city, row_number() OVER (ORDER BY city) AS rn FROM StageEmedsys.Dev_Patient_)) AS q';
    expect(labels(text, 'databricks')).toEqual(['city']);
  });

  test('of tables that several procedures make under one name, the one of the procedure', () => {
    const procedure = (name: string, column: string, rest: string) =>
      `CREATE PROC ${name} AS\nDECLARE @t TABLE (${column} int)\nCREATE TABLE #k (k${column} int)\n${rest}\nGO\n`;
    checkCompletion(procedure('p', 'a', 'SELECT t.| FROM @t AS t') + procedure('q', 'b', ''), ['a']);
    checkCompletion(procedure('p', 'a', '') + procedure('q', 'b', 'INSERT #k (|)'), ['kb']);
    const tables = labels(`${procedure('p', 'a', '')}SELECT * FROM |`);
    expect(tables.filter((name) => name.startsWith('#') || name.startsWith('@'))).toEqual(['#k']);
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

  const patient = ['PatientKey', 'LoadDate', 'RecordSource', 'HashDiff', 'Address1', 'City'];
  const without = (...names: readonly string[]) => patient.filter((name) => !names.includes(name));

  test.each([
    ['CREATE INDEX ix ON raw.SatPatient (|', patient],
    ['CREATE UNIQUE CLUSTERED INDEX ix ON raw.SatPatient (PatientKey, |)\nGO\nSELECT 1', without('PatientKey')],
    ['CREATE INDEX ix ON raw.SatPatient (City DESC) INCLUDE (|)', patient],
    ['CREATE INDEX ix ON raw.SatPatient (City) WHERE |', patient],
    ['CREATE STATISTICS st ON raw.SatPatient (City, |', without('City')],
    ['ALTER TABLE raw.SatPatient DROP COLUMN |', patient],
    ['ALTER TABLE raw.SatPatient ALTER COLUMN Ci|', patient],
    ['ALTER TABLE raw.SatPatient ADD CONSTRAINT pk PRIMARY KEY (PatientKey, |)', without('PatientKey')],
    ['ALTER TABLE raw.SatPatient ADD CONSTRAINT d DEFAULT (0) FOR |', patient],
    ['ALTER TABLE dw.DimItem ADD FOREIGN KEY (Label) REFERENCES raw.SatPatient (|', patient],
    ['CREATE TABLE w.New (a int, b varchar(9), PRIMARY KEY (a, |', ['b']],
    ['CREATE TABLE w.New (a int, b varchar(9)) WITH (DISTRIBUTION = HASH(|', ['a', 'b']],
    ['CREATE PROCEDURE w.p AS BEGIN CREATE TABLE #k (a int); CREATE INDEX ix ON #k (|) END', ['a']],
    ['DECLARE @done TABLE (x int)\nDELETE raw.SatPatient OUTPUT deleted.City INTO @done (|', ['x']],
  ])('columns in the lists of DDL: %s', (text, expected) => {
    checkCompletion(text, expected);
  });

  test.each([
    ['databricks', 'ALTER TABLE raw.Sat DROP COLUMN |'],
    ['databricks', 'ALTER TABLE raw.Sat DROP COLUMNS (|'],
    ['databricks', 'ALTER TABLE raw.Sat ALTER COLUMN |'],
    ['databricks', 'ALTER TABLE raw.Sat RENAME COLUMN |'],
    ['databricks', 'ALTER TABLE raw.Sat CLUSTER BY (|'],
    ['databricks', 'OPTIMIZE raw.Sat ZORDER BY (|'],
    ['databricks', 'CREATE TABLE w.New (b int, a int) PARTITIONED BY (|'],
    ['duckdb', 'CREATE INDEX ix ON raw.Sat (|)'],
    ['duckdb', 'ALTER TABLE raw.Sat DROP COLUMN |'],
    ['duckdb', 'ALTER TABLE raw.Sat ALTER |'],
    ['duckdb', 'ALTER TABLE raw.Sat RENAME |'],
  ] as const)('columns in the lists of %s: %s', (platform, text) => {
    const files = { 'ddl.sql': 'CREATE TABLE raw.Sat (b int, a int);', 'load.sql': text };
    const { view, position } = openFiles(files, platform);
    const items = [...complete(view, position)].sort((left, right) => (left.sortText < right.sortText ? -1 : 1));
    expect(items.map(({ label }) => label)).toEqual(['b', 'a']);
  });

  test.each([
    ['CREATE INDEX ix ON |'],
    ['UPDATE STATISTICS |'],
    ['DROP TABLE IF EXISTS |'],
    ['DELETE |'],
    ['CREATE TABLE w.New (a int REFERENCES |'],
  ])('tables where DDL names one: %s', (text) => {
    expect(labels(text)).toContain('raw.SatPatient');
  });

  test('new names in DDL are left alone', () => {
    for (const text of [
      'ALTER TABLE raw.SatPatient ADD |',
      'CREATE TABLE w.New (|',
      'CREATE TABLE w.New (a int, |',
      'CREATE INDEX |',
      'MERGE raw.SatPatient AS t USING s ON 1 = 1 WHEN MATCHED THEN DELETE |',
    ])
      expect([text, labels(text)]).toEqual([text, []]);
    const { view, position } = openFiles(
      { 'load.sql': 'CREATE TABLE t (a int);\nALTER TABLE t RENAME COLUMN a TO |' },
      'databricks',
    );
    expect(complete(view, position)).toEqual([]);
  });

  test('ORDER BY, GROUP BY and PARTITION BY see the sources, ORDER BY the new names of the list, too', () => {
    const stage = ['patient_id', 'address1', 'city'];
    for (const platform of ['sqlserver', 'databricks', 'duckdb'] as const) {
      for (const [text, expected] of [
        ['SELECT city AS Town FROM StageEmedsys.Dev_Patient_ ORDER BY |', [...stage, 'Town', 'Dev_Patient_']],
        ['SELECT city AS Town FROM StageEmedsys.Dev_Patient_ GROUP BY |', [...stage, 'Dev_Patient_']],
        [
          'SELECT ROW_NUMBER() OVER (PARTITION BY | ORDER BY city) AS n FROM StageEmedsys.Dev_Patient_',
          [...stage, 'Dev_Patient_'],
        ],
      ] as const)
        expect([platform, text, labels(text, platform)]).toEqual([platform, text, expected]);
    }
  });

  test('OUTPUT has the rows that a write leaves and found, and what it read', () => {
    const output = (text: string) => labels(text);
    expect(output('INSERT INTO raw.SatPatient (City) OUTPUT |')).toEqual(['inserted']);
    expect(output('DELETE raw.SatPatient OUTPUT |')).toEqual(['deleted']);
    expect(output('UPDATE raw.SatPatient SET City = 1 OUTPUT |')).toEqual(['deleted', 'inserted']);
    const merged = merge('ON t.PatientKey = s.patient_id WHEN MATCHED THEN DELETE OUTPUT |;');
    expect(output(merged)).toEqual(['deleted', 'inserted', 'address1', 'city', 'patient_id', 's']);
    const sorted = [...patient].sort();
    expect(output('UPDATE raw.SatPatient SET City = 1 OUTPUT inserted.|')).toEqual(sorted);
    expect(output(merged.replace('|', '$action, deleted.|'))).toEqual(sorted);
  });

  test('RETURNING, ON CONFLICT and excluded of DuckDB have the columns of the target', () => {
    const files = { 'ddl.sql': 'CREATE TABLE raw.Sat (a int, b int);' };
    for (const rest of ['RETURNING |', 'ON CONFLICT (|', 'ON CONFLICT (a) DO UPDATE SET b = excluded.|']) {
      const text = `INSERT INTO raw.Sat (a) VALUES (1) ${rest}`;
      const { view, position } = openFiles({ ...files, 'load.sql': text }, 'duckdb');
      expect([rest, complete(view, position).map(({ label }) => label)]).toEqual([rest, ['a', 'b']]);
    }
  });

  describe('EXEC', () => {
    const made = `CREATE PROCEDURE dw.LoadItem @BatchTime datetime2 = NULL, @Debug bit = 0, @Rows int OUTPUT AS SELECT 1
GO
CREATE OR ALTER PROC dw.LoadUnit AS SELECT 1`;
    const offered = (text: string) => {
      const { view, position, workspace } = openFiles({ 'p.sql': made, 'load.sql': text }, 'sqlserver');
      const called = completedCall(view, position);
      const known =
        called === undefined
          ? []
          : [...workspace.documents.values()].flatMap((each) => proceduresOf({ ...each, file: each.uri }));
      return [...complete(view, position, known)].sort((left, right) => (left.sortText < right.sortText ? -1 : 1));
    };
    const shown = (text: string) => offered(text).map(({ label }) => label);

    test('names the procedures of the folder', () => {
      expect(shown('EXEC |')).toEqual(['dw.LoadItem', 'dw.LoadUnit']);
      expect(shown('DECLARE @rc int; EXEC @rc = dw.|')).toEqual(['LoadItem', 'LoadUnit']);
      expect(shown('IF 1 = 1 BEGIN EXECUTE [dw].[L| END')).toEqual(['LoadItem', 'LoadUnit']);
      expect(shown('EXEC other.|')).toEqual([]);
      expect(shown('EXEC (|')).toEqual([]);
    });

    test('offers the parameters that have no value yet, in their order', () => {
      expect(offered('EXEC dw.LoadItem @|').map(({ insertText, detail }) => [insertText, detail])).toEqual([
        ['@BatchTime = ', 'datetime2 · default NULL · parameter'],
        ['@Debug = ', 'bit · default 0 · parameter'],
        ['@Rows = ', 'int · OUTPUT · parameter'],
      ]);
      expect(shown('EXEC dw.LoadItem |')).toEqual(['@BatchTime', '@Debug', '@Rows']);
      expect(shown('EXEC dw.LoadItem\n  @BatchTime = NULL,\n  |')).toEqual(['@Debug', '@Rows']);
      expect(shown("DECLARE @n int; EXEC LoadItem '2024-01-01', -1, @|")).toEqual(['@Rows', '@n']);
      expect(shown('EXEC dw.LoadItem @BatchTime = NULL, @De|')).toEqual(['@Debug', '@Rows']);
      expect(offered('EXEC dw.LoadItem @D| = 1').map(({ insertText }) => insertText)).toContain('@Debug');
    });

    test('offers variables for values, and nothing behind the call', () => {
      expect(shown('DECLARE @n int; EXEC dw.LoadItem @Rows = @|')).toEqual(['@n']);
      expect(shown('EXEC dw.LoadItem @Rows = 1 |')).toEqual([]);
      expect(shown('EXEC dw.LoadItem\n|')).toEqual([]);
      expect(shown('EXEC dw.LoadItem; |')).toEqual([]);
    });
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
