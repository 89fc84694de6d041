/** What commands print for people: names as SQL takes them, several files apart. */
import { expect, test } from 'vitest';
import { counted } from '../../protocol/counted.ts';
import { parseTableName } from '../../server/src/model/names.ts';
import { writtenName, writtenTableName } from '../../server/src/model/written-names.ts';
import { splitBatches } from '../../server/src/syntax/batches.ts';

import { openTerminal } from './terminal.ts';

const ddl = `CREATE TABLE [stage area].[Order [2026]]] ([order no] int NOT NULL PRIMARY KEY, [Größe] varchar(20));
GO
CREATE TABLE dw.DimOrder ([order no] int NOT NULL, [Größe] varchar(20), ValidFrom datetime2(3) NOT NULL,
  ValidTo datetime2(3) NULL, IsCurrent bit NOT NULL);`;
const stage = '[stage area].[Order [2026]]]';

test.each([
  ['plain', 'sqlserver', 'plain'],
  ['Größe_2', 'duckdb', 'Größe_2'],
  ['#temp', 'sqlserver', '#temp'],
  ['two words', 'synapse', '[two words]'],
  ['a.b', 'fabric', '[a.b]'],
  ['x]y', 'azuresql', '[x]]y]'],
  ['x"y', 'duckdb', '"x""y"'],
  ['x`y', 'spark', '`x``y`'],
  ['2026', 'databricks', '`2026`'],
] as const)('%s on %s is written %s', (name, platform, written) => {
  expect(writtenName(name, platform)).toBe(written);
  const full = { database: 'Db', schema: null, table: name };
  expect(writtenTableName(full, platform)).toBe(`Db..${written}`);
  expect(parseTableName(writtenTableName(full, platform))).toEqual(full);
});

test('one of a thing is told in the singular', async () => {
  const terminal = await openTerminal({ 'ddl.sql': 'CREATE TABLE dbo.Unit (UnitNo int NOT NULL PRIMARY KEY);' });
  expect((await terminal.call('seed', '--ddl', 'ddl.sql', '--connection', 'duckdb:w.duckdb')).out).toBe(
    '1 table in duckdb:w.duckdb\n',
  );
  expect((await terminal.call('lint', 'ddl.sql')).out).toContain('1 file checked');
  expect((await terminal.call('init')).out).toMatch(/written: 1 table, 0 loads follow from them/);
  expect(counted(1234, 'row', '1,234')).toBe('1,234 rows');
});

test('catalog and seed write names so that SQL and --source take them', async () => {
  const terminal = await openTerminal({ 'ddl.sql': ddl, 'order.csv': 'order no,Größe\n1,L\n' });
  const catalog = await terminal.call('catalog', 'ddl.sql');
  expect(catalog.out).toContain(`${stage}: staging (`);
  expect(catalog.out).toContain('key: [order no]\n');
  expect(catalog.out).toMatch(/^ {4}\[order no\] {2}int +NOT NULL {2}business-key$/m);
  expect(catalog.out).toMatch(/^ {4}Größe {7}varchar\(20\) +attribute$/m);
  const file = ['--ddl', 'ddl.sql', '--connection', 'duckdb:w.duckdb', '--csv', `${stage}=order.csv`];
  expect((await terminal.call('seed', ...file)).out).toBe(`2 tables in duckdb:w.duckdb\n${stage}: 1 row\n`);
  const unknown = await terminal.call(
    'generate',
    'scd2',
    '--source',
    'nowhere',
    '--target',
    'dw.DimOrder',
    '--ddl',
    '.',
  );
  expect(unknown.err[0]).toContain(`known are ${stage}, dw.DimOrder`);
});

test('a specification in a file names tables whose names hold dots and brackets', async () => {
  const terminal = await openTerminal({ 'ddl.sql': ddl });
  const command = ['generate', 'scd2', '--ddl', 'ddl.sql', '--json'];
  const first = await terminal.call(...command, '--source', stage, '--target', 'dw.DimOrder');
  expect([first.code, first.err]).toEqual([0, []]);
  const { specification, files } = JSON.parse(first.out);
  await terminal.write('load.json', JSON.stringify(specification));
  const again = await terminal.call(...command, '--spec', 'load.json');
  expect(again.err).toEqual([]);
  expect(JSON.parse(again.out).files).toEqual(files);
  await terminal.write(
    'other.json',
    JSON.stringify({ ...specification, source: { ...specification.source, table: 'No' } }),
  );
  const other = await terminal.call(...command, '--spec', 'other.json');
  expect([other.code, other.err[0]]).toEqual([
    2,
    expect.stringContaining('"source" of --spec other.json names no table'),
  ]);
});

test('several files stand apart, each under its name and in a batch of its own', async () => {
  const terminal = await openTerminal({ 'ddl.sql': ddl });
  const command = ['generate', 'scd2', '--ddl', 'ddl.sql', '--source', stage, '--target', 'dw.DimOrder'];
  const procedure = [...command, '--form', 'procedure'];
  const { files } = JSON.parse((await terminal.call(...procedure, '--json')).out);
  expect(files).toHaveLength(2);
  const { out } = await terminal.call(...procedure);
  expect(out).toBe(`-- File: ${files[0].path}\n${files[0].text}GO\n\n-- File: ${files[1].path}\n${files[1].text}GO\n`);
  expect(
    splitBatches(out, 'sqlserver').filter(
      ({ text }) => /^EXEC /m.test(text) && /CREATE (OR ALTER )?PROCEDURE/.test(text),
    ),
  ).toEqual([]);
  const script = await terminal.call(...command);
  expect(script.out).toBe(JSON.parse((await terminal.call(...command, '--json')).out).files[0].text);
});
