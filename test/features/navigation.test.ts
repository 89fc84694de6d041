import { describe, expect, test } from 'vitest';
import { entityAt } from '../../server/src/features/entity.ts';
import { hover } from '../../server/src/features/hover.ts';
import { definition, filesMentioning, referencesIn } from '../../server/src/features/navigation.ts';
import { renameEdits, renameRange, renameRefusal } from '../../server/src/features/rename.ts';
import { documentSymbols } from '../../server/src/features/symbols.ts';
import { expectRanges, openFiles, textAt, underlined, warehouse } from '../support/editor.ts';

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
