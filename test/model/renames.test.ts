import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { buildCatalog } from '../../server/src/model/catalog.ts';
import { readDefinitions } from '../../server/src/model/definitions.ts';
import { formatTableName } from '../../server/src/model/names.ts';
import { parse } from '../../server/src/syntax/parse.ts';

/** `schema.table: columns` of every table that some files leave behind, sorted. */
function left(files: readonly string[], platform: PlatformName = 'sqlserver'): readonly string[] {
  const read = files.map((text, index) => readDefinitions(parse(text, { platform }), `${index}.sql`));
  const { tables, problems } = buildCatalog(read);
  expect(problems).toEqual([]);
  return tables
    .map(({ name, columns }) => `${formatTableName(name)}: ${columns.map((each) => each.name).join(' ')}`)
    .sort();
}

const made = 'CREATE TABLE dw.Old (a int NOT NULL, b varchar(10) NULL);\n';

describe.each([
  ['sqlserver', "EXEC sp_rename 'dw.Old', 'New';"],
  ['azuresql', "EXECUTE sys.sp_rename @newname = N'New', @objname = N'[dw].[Old]', @objtype = 'OBJECT';"],
  ['fabric', "EXEC sp_rename N'dw.Old', N'New', 'object';"],
  ['synapse', 'RENAME OBJECT dw.Old TO New;'],
  ['synapse', 'RENAME OBJECT::[dw].[Old] TO [New];'],
  ['duckdb', 'ALTER TABLE dw.Old RENAME TO New;'],
  ['spark', 'ALTER TABLE dw.Old RENAME TO dw.New;'],
  ['databricks', 'ALTER TABLE dw.Old RENAME TO New;'],
] as const)('a new name on %s by %s', (platform, rename) => {
  test('in the file of the table, with changes before and behind', () => {
    const add = platform === 'duckdb' || platform === 'spark' || platform === 'databricks' ? 'ADD COLUMN' : 'ADD';
    const text = `${made}ALTER TABLE dw.Old ${add} c int;\n${rename}\nALTER TABLE dw.New ${add} d int;`;
    expect(left([text], platform)).toEqual(['dw.New: a b c d']);
  });

  test('in another file, whichever is read first, with changes under both names', () => {
    const add = platform === 'duckdb' || platform === 'spark' || platform === 'databricks' ? 'ADD COLUMN' : 'ADD';
    const files = [made, `ALTER TABLE dw.Old ${add} c int;`, rename, `ALTER TABLE dw.New ${add} d int;`];
    expect(left(files, platform)).toEqual(['dw.New: a b c d']);
    expect(left([...files].reverse(), platform)).toEqual(['dw.New: a b d c']);
  });
});

describe('new names', () => {
  test('ALTER SCHEMA … TRANSFER moves a table, and nothing of another class', () => {
    expect(left([`${made}ALTER SCHEMA mart TRANSFER dw.Old;`])).toEqual(['mart.Old: a b']);
    expect(left([made, 'ALTER SCHEMA [mart] TRANSFER OBJECT::[dw].[Old]'])).toEqual(['mart.Old: a b']);
    expect(left([`${made}ALTER SCHEMA mart TRANSFER TYPE::dw.Old;`])).toEqual(['dw.Old: a b']);
  });

  test('a new name is taken as it is written', () => {
    expect(left([`${made}EXEC sp_rename 'dw.Old', 'mart.New'`])).toEqual(['dw.mart.New: a b']);
  });

  test('what only the run knows, other objects and names of nothing change nothing', () => {
    const others = `EXEC sp_rename @old, 'New'
EXEC sp_rename 'dw.Old', @new
EXEC sp_rename 'dw.PK_Old', 'PK_New'
EXEC sp_rename 'dw.Old.IX', 'New', 'INDEX'
EXEC sp_rename 'dw.Other', 'New'`;
    expect(left([made + others])).toEqual(['dw.Old: a b']);
  });

  test('RENAME OBJECT … COLUMN of Synapse renames a column of the table, not the table', () => {
    expect(left([`${made}RENAME OBJECT dw.Old COLUMN b TO city;`], 'synapse')).toEqual(['dw.Old: a city']);
  });

  test('one after the other, and back', () => {
    expect(left([`${made}EXEC sp_rename 'dw.Old', 'X'\nEXEC sp_rename 'dw.X', 'New'`])).toEqual(['dw.New: a b']);
    expect(left([made, "EXEC sp_rename 'dw.Old', 'X'\nEXEC sp_rename 'dw.X', 'New'"])).toEqual(['dw.New: a b']);
    expect(left([made, "EXEC sp_rename 'dw.Old', 'X'\nEXEC sp_rename 'dw.X', 'Old'"])).toEqual(['dw.Old: a b']);
  });

  test('a table made anew takes the name of one that was archived', () => {
    const anew = 'CREATE TABLE dw.Old (a int, z date);';
    const archive = "EXEC sp_rename 'dw.Old', 'Old_2019'";
    expect(left([`${made}ALTER TABLE dw.Old ADD c int\n${archive}\nGO\n${anew}`])).toEqual([
      'dw.Old: a z',
      'dw.Old_2019: a b c',
    ]);
    expect(left([made, 'ALTER TABLE dw.Old ADD c int', archive, anew])).toEqual(['dw.Old: a z', 'dw.Old_2019: a b c']);
  });

  test('a table that is put in the place of one that goes has its own columns and changes', () => {
    const swap = `${made}ALTER TABLE dw.Old ADD gone int
CREATE TABLE dw.tmp (a bigint, b varchar(20), c int)
DROP TABLE dw.Old
EXEC sp_rename 'dw.tmp', 'Old'`;
    expect(left([swap])).toEqual(['dw.Old: a b c']);
  });

  test('a load that swaps new rows in leaves the table as its DDL says', () => {
    const names = `RENAME OBJECT dw.Old TO Old_before;
RENAME OBJECT dw.New TO Old;
DROP TABLE dw.Old_before;`;
    const swap = `CREATE TABLE dw.New WITH (DISTRIBUTION = ROUND_ROBIN) AS SELECT a, upper(b) AS b, 1 AS x FROM dw.Old;\n${names}`;
    expect(left([made, swap], 'synapse')).toEqual(['dw.Old: a b']);
    expect(left([swap, made], 'synapse')).toEqual(['dw.Old: a b']);
    expect(left([`${made}ALTER TABLE dw.Old ADD c int;\n${swap}`], 'synapse')).toEqual(['dw.Old: a b c']);
    const dropped = swap.replace('RENAME OBJECT dw.Old TO Old_before;', 'DROP TABLE dw.Old;');
    expect(left([made, dropped], 'synapse')).toEqual(['dw.Old: a b']);
    expect(left([`${made}ALTER TABLE dw.Old ADD c int;\n${dropped}`], 'synapse')).toEqual(['dw.Old: a b c']);
  });

  test('a name that another table of the folder has stays with that one', () => {
    expect(left([made, "EXEC sp_rename 'dw.Old', 'New'", 'CREATE TABLE dw.New (x int)'])).toEqual([
      'dw.New: x',
      'dw.Old: a b',
    ]);
  });

  test('views go on reading the old name, copies have the columns that they were made with', () => {
    const text = `${made}GO
CREATE VIEW dw.v AS SELECT * FROM dw.Old
GO
SELECT * INTO dw.Copy FROM dw.Old
EXEC sp_rename 'dw.Old', 'New'
GO
CREATE TABLE dw.Old (z int)`;
    expect(left([text])).toEqual(['dw.Copy: a b', 'dw.New: a b', 'dw.Old: z', 'dw.v: z']);
    expect(left([`${made}GO\nCREATE VIEW dw.v AS SELECT * FROM dw.Old`, "EXEC sp_rename 'dw.Old', 'New'"])).toEqual([
      'dw.New: a b',
      'dw.v: a b',
    ]);
  });

  test.each(['-- +goose Down', '-- migrate:down'])('nothing behind %s counts', (mark) => {
    const back = 'ALTER TABLE dw.New DROP COLUMN c;\nALTER TABLE dw.New RENAME TO Old;\nCREATE TABLE dw.Gone (a int);';
    const text = `${made}ALTER TABLE dw.Old ADD COLUMN c int;\nALTER TABLE dw.Old RENAME TO New;\n${mark}\n${back}`;
    expect(left([text], 'duckdb')).toEqual(['dw.New: a b c']);
  });
});
