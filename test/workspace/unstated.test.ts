import { expect, test } from 'vitest';
import { formatTableName } from '../../server/src/model/names.ts';
import { Workspace } from '../../server/src/workspace/workspace.ts';
import { folderOf } from '../support/folders.ts';

const neutral = 'create or replace view v as select 1 as a;';

test('a folder knows the tables of a text that only another platform reads', async () => {
  const folder = await folderOf({
    'a.sql': 'create table t (a int);\nalter table t add column z integer;',
    'b.sql': 'SELEC a FROM b',
  });
  const [table] = folder.catalog.tables;
  expect(table === undefined ? null : formatTableName(table.name)).toBe('t');
  expect(table?.columns.map(({ name }) => name)).toEqual(['a', 'z']);
  expect(folder.problems.map(({ file }) => file)).toEqual(['b.sql']);
});

test('a stated platform holds whatever reads a text', async () => {
  const stated = await folderOf({ 'a.sql': neutral, 'mergewright.json': '{ "platform": "sqlserver" }' });
  expect(stated.platformOf('a.sql', neutral)).toBe('sqlserver');
  const expected = await folderOf({ 'a.sql': neutral }, { platform: 'sqlserver' });
  expect(expected.platformOf('a.sql', neutral)).toBe('sqlserver');
});

test('an open document takes the platform that reads it when it is opened, and keeps it while it is edited', async () => {
  const workspace = new Workspace({ list: async () => [], read: async () => undefined }, async () => {});
  expect(workspace.platformOf('file:///a.sql', neutral)).toEqual({ platform: 'duckdb', origin: 'syntax' });
  expect(workspace.platformOf('file:///a.sql', 'SELEC a FROM b')).toEqual({ platform: 'sqlserver', origin: 'default' });
  expect(workspace.open('file:///a.sql', 'sql', 1, neutral)?.script.platform).toBe('duckdb');
  expect(workspace.change('file:///a.sql', 2, [{ text: 'SELEC a FROM b' }])?.script.platform).toBe('duckdb');
  expect(workspace.open('file:///b.sql', 'sql', 1, 'SELECT a FROM b')?.script.platform).toBe('sqlserver');
  expect(workspace.change('file:///b.sql', 2, [{ text: neutral }])?.script.platform).toBe('sqlserver');
  await workspace.expectPlatform(null, 'fabric');
  expect(workspace.platformOf('file:///a.sql', neutral)).toEqual({ platform: 'fabric', origin: 'setting' });
  // T-SQL of every platform of its family is no sign against one of them, in open documents as in the folder's files.
  const shared = 'CREATE TABLE t (a datetime2(6))';
  expect(workspace.platformOf('file:///a.sql', shared)).toEqual({ platform: 'fabric', origin: 'setting' });
  expect(workspace.folderOf('file:///a.sql').platformOf('file:///a.sql', shared)).toBe('fabric');
  const lake = 'CREATE TABLE t (a STRING) USING DELTA';
  expect(workspace.platformOf('file:///a.sql', lake)).toEqual({ platform: 'databricks', origin: 'syntax' });
});
