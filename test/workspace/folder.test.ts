import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { formatTableName } from '../../server/src/model/names.ts';
import type { Folder } from '../../server/src/workspace/folder.ts';
import { fitsGlob, joinPath, liesIn } from '../../server/src/workspace/port.ts';
import { tableIn } from '../support/catalogs.ts';
import { folderOf } from '../support/folders.ts';

const names = (folder: Awaited<ReturnType<typeof folderOf>>) =>
  folder.catalog.tables.map((table) => formatTableName(table.name)).sort();

describe('paths', () => {
  test('joins with dots, backslashes and URIs', () => {
    expect(joinPath('a/b', '..\\c\\d.sql')).toBe('a/c/d.sql');
    expect(joinPath('.', './x.sql')).toBe('x.sql');
    expect(joinPath('file:///c:/a', '../b')).toBe('file:///c:/b');
    expect(joinPath('/abs', 'x')).toBe('/abs/x');
  });

  test('patterns', () => {
    expect(fitsGlob('a/b/c.sql', '**/*.sql')).toBe(true);
    expect(fitsGlob('c.sql', '**/*.sql')).toBe(true);
    expect(fitsGlob('a/b.sql', '*.sql')).toBe(false);
    expect(fitsGlob('archive/x/y.sql', 'archive')).toBe(true);
    expect(fitsGlob('a+b/c.sql', 'a+b/*')).toBe(true);
  });

  test('a folder holds what lies below it, not what begins like it', () => {
    expect(liesIn('a/b/c', 'a/b')).toBe(true);
    expect(liesIn('a/bc', 'a/b')).toBe(false);
    expect(liesIn('../x', '.')).toBe(false);
  });
});

describe('a catalog of many tables', () => {
  const ddl = (count: number, more = '') =>
    Array.from(
      { length: count },
      (_, index) => `CREATE TABLE stg.Thing${index} (thing_no int NOT NULL, name varchar(30)${more})
GO
CREATE TABLE dv.SatThing${index} (thing_hk char(64) NOT NULL, load_date datetime2 NOT NULL, hash_diff char(64) NOT NULL, record_source varchar(20) NOT NULL, name varchar(30))
GO
CREATE VIEW dv.v${index} AS SELECT * FROM stg.Thing${index}
GO`,
    ).join('\n');

  test('is made in slices, answered from the last one meanwhile, and the same as if made at once', async () => {
    const seen: number[] = [];
    const pause = async () => void seen.push(folder?.catalog.tables.length ?? 0);
    let folder: Folder | null = null;
    folder = await folderOf({ 'a.sql': ddl(400) }, { pause });
    await folder.refreshInSlices();
    expect(folder.catalog.tables).toHaveLength(1200);
    folder.takeText('a.sql', ddl(450, ', city varchar(30)'));
    seen.length = 0;
    const refreshed = folder.refreshInSlices();
    folder.takeText('b.sql', 'CREATE TABLE dbo.Later (a int)');
    await folder.refreshInSlices();
    await refreshed;
    expect(seen.length).toBeGreaterThan(1);
    expect(seen[0]).toBe(1200);
    expect(folder.isStale).toBe(false);
    const atOnce = await folderOf({
      'a.sql': ddl(450, ', city varchar(30)'),
      'b.sql': 'CREATE TABLE dbo.Later (a int)',
    });
    expect(folder.catalog.tables).toEqual(atOnce.catalog.tables);
    expect(folder.catalog.feeds.length).toBeGreaterThan(400);
    expect(folder.loads).toEqual(atOnce.loads);
  });
});

describe('folders', () => {
  test('files in every encoding', async () => {
    const utf16 = Buffer.from('\uFEFFCREATE TABLE dbo.Größe (a int)', 'utf16le');
    const windows = Buffer.from([...Buffer.from('CREATE TABLE dbo.Stra'), 0xdf, ...Buffer.from('e (a int)')]);
    const folder = await folderOf({
      'a.sql': new Uint8Array(utf16),
      'b.sql': new Uint8Array(windows),
      'c.txt': 'CREATE TABLE no (a int)',
    });
    expect(names(folder)).toEqual(['dbo.Größe', 'dbo.Straße']);
  });

  test('platform by settings, else by syntax', async () => {
    const folder = await folderOf({
      'a.sql': 'CREATE TABLE t1 (a int) WITH (DISTRIBUTION = ROUND_ROBIN, HEAP)',
      'duck/mergewright.json': '{"platform": "duckdb"}',
      'duck/b.sql': 'CREATE TABLE t2 (a int)',
    });
    expect(tableIn(folder.catalog, 't1').platform).toBe('synapse');
    expect(tableIn(folder.catalog, 't2').platform).toBe('duckdb');
  });

  test('settings of the nearest folder upwards', async () => {
    const folder = await folderOf({
      'mergewright.json': '{"parameters": {"RecordSource": "outer"}}',
      'in/mergewright.json': '{"parameters": {"RecordSource": "inner"}}',
      'in/deep/a.sql': '',
      'b.sql': '',
    });
    expect(folder.settingsOf('in/deep/a.sql').parameters).toEqual({ RecordSource: 'inner' });
    expect(folder.settingsOf('b.sql').parameters).toEqual({ RecordSource: 'outer' });
  });

  test.each([
    ['no JSON', '{"platform": ', 'is no valid JSON', { line: 0, character: 0 }],
    ['an unknown key', '{\n  "platfrom": "duckdb"\n}', 'platfrom', { line: 0, character: 0 }],
    [
      'a wrong value',
      '{\n  "loads": [\n    {"pattern": "satelite", "source": "a", "target": "b"}\n  ]\n}',
      'loads[0].pattern',
      { line: 2, character: 5 },
    ],
    ['a wrong option', '{"options": {"closing": "noon"}}', 'options.closing', { line: 0, character: 13 }],
    ['an unknown option', '{"options": {"clsoing": "minus-3-ms"}}', 'options', { line: 0, character: 1 }],
  ])('%s in mergewright.json is one problem at its place', async (_, text, part, start) => {
    const folder = await folderOf({ 'mergewright.json': text });
    expect(folder.problems).toHaveLength(1);
    expect(folder.problems[0]).toMatchObject({ code: 'settings', severity: 'error', file: 'mergewright.json' });
    expect(folder.problems[0]?.message).toContain(part);
    expect(folder.problems[0]?.message).not.toContain('\n');
    if (start.line > 0 || start.character > 0) expect(folder.problems[0]?.range?.start).toEqual(start);
  });

  test('excluded files are not read', async () => {
    const folder = await folderOf({
      'mergewright.json': '{"exclude": ["old", "**/*_bak.sql"]}',
      'a.sql': 'CREATE TABLE a (x int)',
      'b_bak.sql': 'CREATE TABLE b (x int)',
      'old/c.sql': 'CREATE TABLE c (x int)',
    });
    expect(names(folder)).toEqual(['a']);
  });

  test('typing in a load keeps the catalog, typing in a table does not', async () => {
    const folder = await folderOf({ 'a.sql': 'CREATE TABLE t (a int)', 'b.sql': 'DELETE FROM t' });
    const { catalog } = folder;
    folder.takeText('b.sql', '-- moved\nDELETE FROM t WHERE a = 1');
    folder.takeText('a.sql', '\n\nCREATE TABLE t (a int)');
    expect(folder.catalog).toBe(catalog);
    expect(folder.definitionsOf('a.sql')?.tables[0]?.range.start.line).toBe(2);
    folder.takeText('a.sql', 'CREATE TABLE t (a int, b int)');
    expect(folder.catalog).not.toBe(catalog);
    expect(tableIn(folder.catalog, 't').columns).toHaveLength(2);
  });

  test('a load that comes or goes keeps the catalog, a table does not', async () => {
    const folder = await folderOf({ 'ddl.sql': 'CREATE TABLE dw.Unit (UnitNo int)' });
    const { catalog } = folder;
    folder.takeText('load.sql', 'DELETE FROM dw.Unit');
    expect(folder.mentionsOf(tableIn(catalog, 'Unit')).map(({ file }) => file)).toEqual(['ddl.sql', 'load.sql']);
    folder.forget('load.sql');
    expect(folder.catalog).toBe(catalog);
    folder.takeText('more.sql', 'CREATE TABLE dw.Site (SiteNo int)');
    expect(names(folder)).toEqual(['dw.Site', 'dw.Unit']);
    folder.forget('more.sql');
    expect(names(folder)).toEqual(['dw.Unit']);
  });
});

describe('database projects', () => {
  test('the files of an old project are those that it builds', async () => {
    const folder = await folderOf({
      'db/db.sqlproj':
        '<Project><ItemGroup><Build Include="dbo\\Tables\\A.sql" /><Build Include="dbo\\Views\\*.sql" /><None Include="x.sql" /></ItemGroup></Project>',
      'db/dbo/Tables/A.sql': 'CREATE TABLE dbo.A (a int)',
      'db/dbo/Tables/NotBuilt.sql': 'CREATE TABLE dbo.NotBuilt (a int)',
      'db/dbo/Views/V.sql': 'CREATE VIEW dbo.V AS SELECT a FROM dbo.A',
      'db/x.sql': 'CREATE TABLE dbo.X (a int)',
      'other.sql': 'CREATE TABLE dbo.Other (a int)',
    });
    expect(names(folder)).toEqual(['dbo.A', 'dbo.Other', 'dbo.V']);
  });

  test('an SDK-style project builds everything that it does not remove', async () => {
    const folder = await folderOf({
      'db/db.sqlproj':
        '<Project DefaultTargets="Build"><Sdk Name="Microsoft.Build.Sql" Version="1.0.0" /><ItemGroup><Build Remove="scratch/**" /></ItemGroup></Project>',
      'db/a.sql': 'CREATE TABLE dbo.A (a int)',
      'db/scratch/b.sql': 'CREATE TABLE dbo.B (a int)',
      'db/bin/Debug/c.sql': 'CREATE TABLE dbo.C (a int)',
    });
    expect(names(folder)).toEqual(['dbo.A']);
  });
});

describe('DACPAC', () => {
  const model = `<?xml version="1.0" encoding="utf-8"?>
<DataSchemaModel FileFormatVersion="1.2" xmlns="http://schemas.microsoft.com/sqlserver/dac/Serialization/2012/02"><Header /><Model>
  <Element Type="SqlTable" Name="[dbo].[Order]]s]"><Relationship Name="Columns">
    <Entry><Element Type="SqlSimpleColumn" Name="[dbo].[Order]]s].[Id]"><Property Name="IsNullable" Value="False" /><Property Name="IsIdentity" Value="True" />
      <Relationship Name="TypeSpecifier"><Entry><Element Type="SqlTypeSpecifier"><Relationship Name="Type"><Entry><References ExternalSource="BuiltIns" Name="[int]" /></Entry></Relationship></Element></Entry></Relationship></Element></Entry>
    <Entry><Element Type="SqlSimpleColumn" Name="[dbo].[Order]]s].[Price]">
      <Relationship Name="TypeSpecifier"><Entry><Element Type="SqlTypeSpecifier"><Property Name="Precision" Value="10" /><Property Name="Scale" Value="2" /><Relationship Name="Type"><Entry><References ExternalSource="BuiltIns" Name="[decimal]" /></Entry></Relationship></Element></Entry></Relationship></Element></Entry>
    <Entry><Element Type="SqlSimpleColumn" Name="[dbo].[Order]]s].[Note]">
      <Relationship Name="TypeSpecifier"><Entry><Element Type="SqlTypeSpecifier"><Property Name="IsMax" Value="True" /><Relationship Name="Type"><Entry><References ExternalSource="BuiltIns" Name="[nvarchar]" /></Entry></Relationship></Element></Entry></Relationship></Element></Entry>
    <Entry><Element Type="SqlComputedColumn" Name="[dbo].[Order]]s].[Twice]"><Property Name="ExpressionScript"><Value><![CDATA[[Price] * 2]]></Value></Property></Element></Entry>
    <Entry><Element Type="SqlComputedColumn" Name="[dbo].[Order]]s].[Kept]"><Property Name="ExpressionScript"><Value><![CDATA[[Id] * 2]]></Value></Property><Property Name="IsPersisted" Value="True" /><Property Name="IsPersistedNullable" Value="False" /></Element></Entry>
    <Entry><Element Type="SqlSimpleColumn" Name="[dbo].[Order]]s].[At]">
      <Relationship Name="TypeSpecifier"><Entry><Element Type="SqlTypeSpecifier"><Relationship Name="Type"><Entry><References ExternalSource="BuiltIns" Name="[time]" /></Entry></Relationship></Element></Entry></Relationship></Element></Entry>
    <Entry><Element Type="SqlSimpleColumn" Name="[dbo].[Order]]s].[$node_id]"><Property Name="GraphType" Value="2" />
      <Relationship Name="TypeSpecifier"><Entry><Element Type="SqlTypeSpecifier"><Property Name="Length" Value="1000" /><Relationship Name="Type"><Entry><References ExternalSource="BuiltIns" Name="[nvarchar]" /></Entry></Relationship></Element></Entry></Relationship></Element></Entry>
  </Relationship></Element>
  <Element Type="SqlView" Name="[dbo].[Recent]"><Property Name="QueryScript"><Value><![CDATA[ SELECT o.Id, o.Price AS [Amount] FROM dbo.[Order]]s] AS o]]></Value></Property></Element>
  <Element Type="SqlPrimaryKeyConstraint" Name="[dbo].[PK]"><Relationship Name="ColumnSpecifications"><Entry><Element Type="SqlIndexedColumnSpecification"><Relationship Name="Column"><Entry><References Name="[dbo].[Order]]s].[Id]" /></Entry></Relationship></Element></Entry></Relationship>
    <Relationship Name="DefiningTable"><Entry><References Name="[dbo].[Order]]s]" /></Entry></Relationship></Element>
  <Element Type="SqlDefaultConstraint" Name="[dbo].[DF]"><Property Name="DefaultExpressionScript"><Value><![CDATA[(N'a & b')]]></Value></Property>
    <Relationship Name="DefiningTable"><Entry><References Name="[dbo].[Order]]s]" /></Entry></Relationship><Relationship Name="ForColumn"><Entry><References Name="[dbo].[Order]]s].[Note]" /></Entry></Relationship></Element>
</Model></DataSchemaModel>`;

  test('tables with types, keys and defaults', async () => {
    const folder = await folderOf({
      'db.dacpac': zipSync({ 'model.xml': strToU8(model), 'Origin.xml': strToU8('<x/>') }),
    });
    expect(folder.problems).toEqual([]);
    const table = tableIn(folder.catalog, 'Order]s');
    expect(
      table.columns.map(
        (column) =>
          `${column.name} ${column.type} ${column.nullable} ${column.identity} ${column.computed} ${column.default}`,
      ),
    ).toEqual([
      'Id int false true false null',
      'Price decimal(10,2) true false false null',
      "Note nvarchar(max) true false false (N'a & b')",
      'Twice  true false true null',
      'Kept  false false true null',
      'At time(0) true false false null',
    ]);
    expect(tableIn(folder.catalog, 'Recent').columns.map((column) => `${column.name} ${column.type}`)).toEqual([
      'Id int',
      'Amount decimal(10,2)',
    ]);
    expect(table.keys).toEqual([{ kind: 'primary-key', columns: ['Id'], enforced: true }]);
  });

  test.each([
    ['no zip', strToU8('nothing')],
    ['no model', zipSync({ 'other.xml': strToU8('<x/>') })],
    ['a broken model', zipSync({ 'model.xml': strToU8('<a><b></a>') })],
  ])('%s is one clear problem', async (_, bytes) => {
    const folder = await folderOf({ 'db.dacpac': bytes });
    expect(folder.problems.map((problem) => problem.code)).toEqual(['unreadable-dacpac']);
  });
});
