import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import type { Position } from '../../protocol/position.ts';
import { entityAt } from '../../server/src/features/entity.ts';
import { hover } from '../../server/src/features/hover.ts';
import { definition, filesMentioning, referencesIn } from '../../server/src/features/navigation.ts';
import { renameEdits, renameRange, renameRefusal } from '../../server/src/features/rename.ts';
import { documentSymbols, folderSymbols } from '../../server/src/features/symbols.ts';
import { offsetOf } from '../../server/src/syntax/inspect.ts';
import { expectRanges, type Files, openFiles, textAt, underlined, warehouse } from '../support/editor.ts';

/** Goes from the cursor in `load.sql` to the underlined place of `ddl.sql`. */
function checkDefinition(ddl: string, load: string): void {
  const { text, ranges } = underlined(ddl);
  const { view, position } = openFiles({ 'ddl.sql': text, 'load.sql': load });
  const found = definition(view, position);
  expect(found.map(({ file }) => file)).toEqual(ranges.map(() => 'file:///house/ddl.sql'));
  expectRanges(
    text,
    found.map(({ range }) => range),
    ranges,
  );
}

/** Finds the underlined places from the cursor, which stands in the same text. */
function checkReferences(marked: string): void {
  const { text, ranges } = underlined(marked);
  const { view, position } = openFiles({ 'ddl.sql': warehouse, 'load.sql': text });
  const entity = entityAt(view, position);
  if (entity === undefined) throw new Error('nothing at the cursor');
  expectRanges(
    view.script.text,
    referencesIn(view, entity).map(({ range }) => range),
    ranges,
  );
}

describe('definition', () => {
  test('from a load to the table', () => {
    checkDefinition(
      `CREATE TABLE dbo.Other (a int)
CREATE TABLE dbo.T (a int)
^^^^^^^^^^^^^^^^^^^^^^^^^^`,
      'DELETE FROM dbo.|T',
    );
  });

  test('from a load to the column', () => {
    checkDefinition(
      `CREATE TABLE dbo.T (
  a int,
  b varchar(10) NOT NULL
  ^^^^^^^^^^^^^^^^^^^^^^
)`,
      'UPDATE x SET x.|b = 1 FROM dbo.T AS x',
    );
  });

  test('from a load to a column that another file adds', () => {
    const files = { 'a.sql': 'CREATE TABLE dbo.T (a int)', 'b.sql': '\n\nALTER TABLE dbo.T ADD b varchar(10) NULL' };
    const { view, position, workspace } = openFiles({ ...files, 'load.sql': 'SELECT |b FROM dbo.T' });
    const [place] = definition(view, position);
    const added = workspace.view('file:///house/b.sql');
    if (place === undefined || added === undefined) throw new Error('no place');
    expect([place.file, textAt(added, place.range)]).toEqual(['file:///house/b.sql', 'b varchar(10) NULL']);
  });

  test('temporary tables lead to where the script makes them', () => {
    const { view, position } = openFiles({ 'load.sql': 'CREATE TABLE #t (a int)\nSELECT * FROM #|t' });
    expect(definition(view, position)[0]?.range.start).toEqual({ line: 0, character: 0 });
  });
});

describe('references', () => {
  test('a column across aliases, lists and conditions', () => {
    // The marks count without the cursor.
    checkReferences(`MERGE raw.SatPatient AS t USING StageEmedsys.Dev_Patient_ AS s ON t.PatientKey = s.patient_id
WHEN MATCHED AND t.|City <> s.city THEN UPDATE SET City = s.city
                   ^^^^                           ^^^^
WHEN NOT MATCHED THEN INSERT (PatientKey, City) VALUES (s.patient_id, s.city);
                                          ^^^^`);
  });

  test('a table that the script makes and drops again, not the one of its name in another schema', () => {
    checkReferences(`CREATE TABLE w.SatPatient (City int)
               ^^^^^^^^^^
DELETE raw.SatPatient
DELETE w.Sat|Patient
         ^^^^^^^^^^
DROP TABLE w.SatPatient
             ^^^^^^^^^^`);
  });

  test('a table', () => {
    checkReferences(`SELECT * FROM raw.Sat|Patient
                  ^^^^^^^^^^
DELETE raw.SatPatient
           ^^^^^^^^^^`);
  });
});

describe('tables of one name that several procedures of a file make', () => {
  const file = `CREATE PROC p AS
DECLARE @t TABLE (a int, x int)
CREATE TABLE #k (b int)
INSERT #k (b) SELECT a FROM @t
GO
CREATE PROC q AS
DECLARE @t TABLE (c int, x int)
SELECT 1 AS d INTO #k
INSERT @t (c) SELECT d FROM #k`;

  test.each([
    ['INSERT #k (|b) SELECT a', [2, 3]],
    ['SELECT |a FROM @t', [1, 3]],
    ['INSERT @t (|c)', [6, 8]],
    ['SELECT |d FROM #k', [7, 8]],
    ['DECLARE @t TABLE (|c int', [6, 8]],
    ['INSERT #|k (b)', [2, 3]],
  ])('%s', (needle, lines) => {
    const { view, position } = openFiles({ 'load.sql': file.replace(needle.replace('|', ''), needle) });
    const entity = entityAt(view, position);
    if (entity === undefined) throw new Error('nothing at the cursor');
    expect(referencesIn(view, entity).map(({ range }) => range.start.line)).toEqual(lines);
    expect(definition(view, position)[0]?.range.start.line).toBe(lines[0]);
  });

  test('rename of a column of a table variable reaches its declaration, and no other of its name', () => {
    expect(renamed({ 'load.sql': file.replace('SELECT a FROM', 'SELECT |a FROM') }, 'z')).toEqual({
      'load.sql': file.replace('(a int', '(z int').replace('SELECT a', 'SELECT z'),
    });
  });
});

describe('rename', () => {
  test('a column in its DDL and in loads, in its quotes', () => {
    const load = 'INSERT INTO raw.SatPatient ([Ci|ty]) SELECT s.city FROM StageEmedsys.Dev_Patient_ AS s';
    const { view, position, workspace } = openFiles({ 'ddl.sql': warehouse, 'load.sql': load });
    const entity = entityAt(view, position);
    if (entity === undefined) throw new Error('nothing at the cursor');
    const files = filesMentioning(view, entity);
    expect(files).toEqual(['file:///house/load.sql', 'file:///house/ddl.sql']);
    const edits = files.flatMap((file) => {
      const other = workspace.view(file);
      return other === undefined ? [] : renameEdits(other, entity, 'Town');
    });
    expect(edits.map((edit) => `${edit.file} ${edit.newText}`)).toEqual([
      'file:///house/load.sql [Town]',
      'file:///house/ddl.sql Town',
    ]);
  });

  test('only columns, and only to a free name', () => {
    const { view, position } = openFiles({ 'ddl.sql': warehouse, 'load.sql': 'SELECT City FROM raw.Sat|Patient' });
    expect(renameRange(view, position)).toBeUndefined();
    const other = openFiles({ 'ddl.sql': warehouse, 'load.sql': 'SELECT Ci|ty FROM raw.SatPatient' });
    expect(renameRange(other.view, other.position)?.name).toBe('City');
    const entity = entityAt(other.view, other.position);
    if (entity === undefined) throw new Error('nothing at the cursor');
    expect(renameRefusal(entity, 'Town')).toBeNull();
    expect(renameRefusal(entity, 'address1')).toContain('already has a column');
    expect(renameRefusal(entity, ' ')).toContain('needs a name');
  });
});

describe('a table that another file renames', () => {
  const files = {
    'ddl.sql': 'CREATE TABLE raw.Sat (a int, b int)',
    'rename.sql': "EXEC sp_rename 'raw.Sat', 'SatPatient'",
  };

  test('is found from its new name, and its columns', () => {
    for (const [load, expected] of [
      ['SELECT a FROM raw.Sat|Patient', 'CREATE TABLE raw.Sat (a int, b int)'],
      ['SELECT |b FROM raw.SatPatient', 'b int'],
    ] as const) {
      const { view, position, workspace } = openFiles({ ...files, 'load.sql': load });
      const [place, ...more] = definition(view, position);
      const ddl = workspace.view('file:///house/ddl.sql');
      if (place === undefined || ddl === undefined) throw new Error('no place');
      expect([place.file, textAt(ddl, place.range), more.length]).toEqual(['file:///house/ddl.sql', expected, 0]);
    }
  });

  test('is the same where its old name stands', () => {
    const { view, position } = openFiles({ ...files, 'ddl.sql': 'CREATE TABLE raw.S|at (a int, b int)' });
    expect(hover(view, position)?.markdown).toContain('**raw.SatPatient**');
    expect(documentSymbols(view).map(({ detail }) => detail)).toEqual(['staging']);
    const entity = entityAt(view, position);
    if (entity === undefined) throw new Error('nothing at the cursor');
    expect(filesMentioning(view, entity)).toEqual(['file:///house/ddl.sql']);
  });
});

/** The texts of all files after a column is renamed at the cursor. */
function renamed(files: Files, newName: string, platform?: PlatformName): Readonly<Record<string, string>> {
  const { view, position, workspace } = openFiles(files, platform);
  const entity = entityAt(view, position);
  if (entity === undefined) throw new Error('nothing at the cursor');
  expect(renameRefusal(entity, newName)).toBeNull();
  const texts: Record<string, string> = {};
  for (const file of filesMentioning(view, entity)) {
    const other = workspace.view(file);
    if (other === undefined) throw new Error(`no view of ${file}`);
    const { text } = other.script;
    const offset = (place: Position) => offsetOf(other.lineStarts, text, place);
    const edits = [...renameEdits(other, entity, newName)].sort(
      (left, right) => offset(right.range.start) - offset(left.range.start),
    );
    texts[file.slice('file:///house/'.length)] = edits.reduce(
      (result, { range, newText }) => result.slice(0, offset(range.start)) + newText + result.slice(offset(range.end)),
      text,
    );
  }
  return texts;
}

describe('a renamed column', () => {
  test('in keys, computed columns, checks, defaults, indexes and distributions', () => {
    const ddl = (name: string) =>
      `CREATE TABLE dw.T (${name} int CHECK (${name} > 0), b AS (${name} + 1), CONSTRAINT pk PRIMARY KEY (${name}), INDEX i (${name}) WHERE ${name} > 0);
ALTER TABLE dw.T ADD CONSTRAINT d DEFAULT (0) FOR ${name}, CHECK (${name} < 9);
CREATE INDEX j ON dw.T (b) INCLUDE (${name}) WHERE ${name} IS NOT NULL;
ALTER TABLE dw.T ALTER COLUMN ${name} bigint;`;
    expect(renamed({ 'ddl.sql': ddl('a').replace('(a int', '(|a int') }, 'no')).toEqual({ 'ddl.sql': ddl('no') });
    const synapse = (name: string) =>
      `CREATE TABLE dw.T (${name} int) WITH (DISTRIBUTION = HASH(${name}), CLUSTERED INDEX (${name}));`;
    expect(renamed({ 'ddl.sql': synapse('a').replace('(a int', '(|a int') }, 'no', 'synapse')).toEqual({
      'ddl.sql': synapse('no'),
    });
  });

  test('keeps the names that queries give to what is around them', () => {
    const files = {
      'ddl.sql': 'CREATE TABLE dw.T (|a int, b int);',
      'view.sql': 'CREATE VIEW dw.v AS SELECT t.a, b FROM dw.T AS t;',
      'load.sql': `WITH c AS (SELECT a FROM dw.T) SELECT c.a FROM c;
SELECT q.a FROM (SELECT [a], a + 1 AS n FROM dw.T) AS q;
SELECT a INTO #t FROM dw.T;
SELECT x.a FROM (SELECT * FROM dw.T) AS x ORDER BY a;
INSERT INTO dw.U (a) SELECT a FROM dw.T;
SELECT a FROM dw.v;`,
    };
    expect(renamed(files, 'order')).toEqual({
      'ddl.sql': 'CREATE TABLE dw.T ([order] int, b int);',
      'view.sql': 'CREATE VIEW dw.v AS SELECT t.[order] AS a, b FROM dw.T AS t;',
      'load.sql': `WITH c AS (SELECT [order] AS a FROM dw.T) SELECT c.a FROM c;
SELECT q.a FROM (SELECT [order] AS [a], [order] + 1 AS n FROM dw.T) AS q;
SELECT [order] AS a INTO #t FROM dw.T;
SELECT x.[order] FROM (SELECT * FROM dw.T) AS x ORDER BY [order];
INSERT INTO dw.U (a) SELECT [order] FROM dw.T;
SELECT a FROM dw.v;`,
    });
  });

  test('of a view gets its name where the view gives it', () => {
    expect(
      renamed(
        {
          'ddl.sql': 'CREATE TABLE dw.T (a int, b int);',
          'view.sql': 'CREATE VIEW dw.v AS SELECT t.a, b AS c FROM dw.T AS t;',
          'load.sql': 'SELECT v.|a, v.c FROM dw.v;',
        },
        'no',
      ),
    ).toEqual({
      'view.sql': 'CREATE VIEW dw.v AS SELECT t.a AS no, b AS c FROM dw.T AS t;',
      'load.sql': 'SELECT v.no, v.c FROM dw.v;',
    });
    expect(
      renamed({ 'v.sql': 'CREATE VIEW dw.v AS SELECT 1 AS c;', 'load.sql': 'SELECT |c FROM dw.v;' }, 'no', 'duckdb'),
    ).toEqual({ 'v.sql': 'CREATE VIEW dw.v AS SELECT 1 AS no;', 'load.sql': 'SELECT no FROM dw.v;' });
  });

  test('in what a star leaves out or replaces, and before the fields of a struct', () => {
    const load = (name: string) =>
      `SELECT * EXCEPT (${name}) FROM dw.T; SELECT t.* EXCEPT (${name}), t.${name}.f FROM dw.T AS t WHERE t.${name}.f.g = 1;`;
    const files = (name: string) => ({
      'ddl.sql': `CREATE TABLE dw.T (${name} STRUCT<f: INT>, b INT);`,
      'load.sql': load(name),
    });
    const marked = { ...files('a'), 'ddl.sql': 'CREATE TABLE dw.T (|a STRUCT<f: INT>, b INT);' };
    expect(renamed(marked, 'no', 'databricks')).toEqual(files('no'));
    const duck = {
      'ddl.sql': 'CREATE TABLE dw.T (|a INT, b INT);',
      'load.sql': 'SELECT * REPLACE (b AS a) FROM dw.T;',
    };
    expect(renamed(duck, 'no', 'duckdb')['load.sql']).toBe('SELECT * REPLACE (b AS no) FROM dw.T;');
  });

  test('in PIVOT and UNPIVOT, and where a write goes through a common table', () => {
    const load = (name: string) =>
      `SELECT p.[1] FROM dw.T PIVOT (SUM(${name}) FOR b IN ([1])) AS p; SELECT u.v FROM dw.T UNPIVOT (v FOR k IN (${name}, b)) AS u;`;
    const files = (name: string) => ({ 'ddl.sql': `CREATE TABLE dw.T (${name} int, b int);`, 'load.sql': load(name) });
    expect(renamed({ ...files('a'), 'ddl.sql': 'CREATE TABLE dw.T (|a int, b int);' }, 'no')).toEqual(files('no'));
    const through = {
      'ddl.sql': 'CREATE TABLE dw.T (|a int, b int);',
      'load.sql':
        'WITH c AS (SELECT a, b FROM dw.T) UPDATE c SET a = 1;\nWITH c AS (SELECT * FROM dw.T) DELETE FROM c WHERE a = 1;',
    };
    expect(renamed(through, 'no')['load.sql']).toBe(
      'WITH c AS (SELECT no AS a, b FROM dw.T) UPDATE c SET a = 1;\nWITH c AS (SELECT * FROM dw.T) DELETE FROM c WHERE no = 1;',
    );
  });

  test('in ON CONFLICT of DuckDB, left and right of its assignments', () => {
    const load = (name: string) =>
      `INSERT INTO dw.T AS t (${name}, b) VALUES (1, 2) ON CONFLICT (${name}) DO UPDATE SET ${name} = excluded.${name}, b = t.${name} WHERE ${name} > 0;`;
    const files = (name: string) => ({ 'ddl.sql': `CREATE TABLE dw.T (${name} INT, b INT);`, 'load.sql': load(name) });
    expect(renamed({ ...files('a'), 'ddl.sql': 'CREATE TABLE dw.T (|a INT, b INT);' }, 'no', 'duckdb')).toEqual(
      files('no'),
    );
  });

  test('in strings that are executed', () => {
    const load = (name: string) => `DECLARE @sql nvarchar(max) = N'UPDATE t SET t.${name} = ''x'' FROM dw.T AS t';
SET @sql += N' WHERE t.${name} IS NULL';
EXEC sp_executesql @sql;`;
    expect(renamed({ 'ddl.sql': 'CREATE TABLE dw.T (|a int);', 'load.sql': load('a') }, "it's")).toEqual({
      'ddl.sql': "CREATE TABLE dw.T ([it's] int);",
      'load.sql': load("[it''s]"),
    });
  });

  test.each([
    ['databricks', '`a b`'],
    ['duckdb', '"a b"'],
    ['fabric', '[a b]'],
  ] as const)('that needs quotes gets those of %s', (platform, quoted) => {
    expect(renamed({ 'ddl.sql': 'CREATE TABLE T (|a int);' }, 'a b', platform)).toEqual({
      'ddl.sql': `CREATE TABLE T (${quoted} int);`,
    });
  });
});

describe('queries inside a statement', () => {
  const ddl = 'CREATE TABLE dw.T (a varchar(20), b int);';
  const load =
    'WITH c AS (SELECT t.a, t.b + 1 AS n FROM dw.T AS t)\nMERGE dw.T AS z USING (SELECT a, n FROM c) AS q ON z.a = q.a\nWHEN MATCHED THEN UPDATE SET b = q.n;';
  const at = (needle: string) => {
    const place = load.indexOf(needle.replace('|', '')) + needle.indexOf('|');
    return openFiles({ 'ddl.sql': ddl, 'load.sql': `${load.slice(0, place)}|${load.slice(place)}` });
  };

  test.each([
    ['q.|n;', 'n'],
    ['(SELECT a, |n', 't.b + 1 AS n'],
    ['= q.|a', 'a'],
    ['|q.a', 'q'],
    ['FROM |c)', 'c'],
    ['|z.a', 'z'],
    ['|t.b', 't'],
  ])('%s leads to where it gets its name', (needle, text) => {
    const { view, position } = at(needle);
    const [place] = definition(view, position);
    if (place === undefined) throw new Error('no place');
    expect([place.file, textAt(view, place.range)]).toEqual(['file:///house/load.sql', text]);
  });

  test('a column says what gives it, and which column of a table that is', () => {
    const first = at('= q.|a');
    expect(hover(first.view, first.position)?.markdown).toMatch(/column of a query.*varchar\(20\).*dw\.T/s);
    const second = at('(SELECT a, |n');
    expect(hover(second.view, second.position)?.markdown).toContain('`t.b + 1`');
    const third = at('FROM |c)');
    expect(hover(third.view, third.position)?.markdown).toContain('query of this statement: `a, n`');
    const fourth = at('|z.a');
    expect(hover(fourth.view, fourth.position)?.markdown).toContain('**dw.T**');
  });

  test('references of an alias and of a column of a query', () => {
    for (const [needle, count] of [
      ['|q.a', 3],
      ['q.|n;', 2],
      ['FROM |c)', 2],
    ] as const) {
      const { view, position } = at(needle);
      const entity = entityAt(view, position);
      if (entity === undefined) throw new Error('nothing at the cursor');
      expect([needle, referencesIn(view, entity).length]).toEqual([needle, count]);
    }
  });
});

test('a procedure is found from its calls, in whichever file it stands', () => {
  const files = {
    'proc.sql': 'CREATE OR ALTER PROCEDURE dw.LoadUnit @BatchTime datetime2 = NULL AS SELECT 1',
    'call.sql': 'IF 1 = 1 EXEC dw.Load|Unit @BatchTime = NULL',
  };
  const { view, position, workspace } = openFiles(files);
  const [place] = definition(view, position);
  const made = workspace.view('file:///house/proc.sql');
  if (place === undefined || made === undefined) throw new Error('no place');
  expect([place.file, textAt(made, place.range)]).toEqual(['file:///house/proc.sql', 'dw.LoadUnit']);
  expect(hover(view, position)?.markdown).toContain('**dw.LoadUnit** · procedure of `proc.sql`');
  expect(folderSymbols(view.folder, 'lunit').map(({ name, kind }) => [name, kind])).toEqual([
    ['dw.LoadUnit', 'procedure'],
  ]);
});

test.each([
  'CREATE SYNONYM dw.Kunde FOR dw.DimKunde;',
  'create synonym [dw].[Kunde]  for  "DWH" . "dw" . "DimKunde"',
  'CREATE SYNONYM Kunde FOR DimKunde',
])('a synonym leads to its table: %s', (synonym) => {
  const files = { 'ddl.sql': 'USE DWH\nGO\nCREATE TABLE dw.DimKunde (a int, b int)', 'synonym.sql': synonym };
  const { view, position } = openFiles({ ...files, 'load.sql': 'UPDATE dw.Kunde SET |b = 1' });
  expect(hover(view, position)?.markdown).toContain('Column of `DWH.dw.DimKunde`');
  const [place] = definition(view, position);
  expect(place?.file).toBe('file:///house/ddl.sql');
  const table = openFiles({ ...files, 'load.sql': 'UPDATE dw.DimKunde| SET b = 1;\nDELETE dw.Kunde;' });
  const entity = entityAt(table.view, table.position);
  if (entity === undefined) throw new Error('nothing at the cursor');
  expect(referencesIn(table.view, entity)).toHaveLength(2);
});
