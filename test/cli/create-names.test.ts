/** The name of a created table: every part of it that was stated, where the platform can create it there. */
import { expect, test } from 'vitest';
import { readConnectionText } from '../../runner/src/connection-text.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { queryRows } from '../../runner/src/queries.ts';
import { openTerminal } from './terminal.ts';

async function create(target: string, platform: string, pattern = 'hub') {
  const terminal = await openTerminal({ 'tables.sql': 'CREATE TABLE stg.Unit (unit_no int NOT NULL PRIMARY KEY);' });
  const from = pattern === 'run-log' ? [] : ['--source', 'stg.Unit', '--ddl', 'tables.sql'];
  return terminal.call('create', pattern, ...from, '--target', target, '--platform', platform);
}

test.each([
  ['Vault.rdv.HubUnit', 'sqlserver', '[Vault].[rdv].[HubUnit]'],
  ['Vault.rdv.HubUnit', 'fabric', '[Vault].[rdv].[HubUnit]'],
  ['[The Vault].[r.d]].v].HubUnit', 'sqlserver', '[The Vault].[r.d]].v].[HubUnit]'],
  ['Vault..HubUnit', 'sqlserver', '[Vault].[rdv].[HubUnit]'],
  ['rdv.HubUnit', 'synapse', '[rdv].[HubUnit]'],
  ['HubUnit', 'azuresql', '[rdv].[HubUnit]'],
])('%s on %s', async (target, platform, written) => {
  const { code, out, err } = await create(target, platform);
  expect([code, err]).toEqual([0, []]);
  expect(out.split('\n')[0]).toBe(`CREATE TABLE ${written} (`);
});

test.each(['azuresql', 'synapse'])('%s creates tables in its own database only', async (platform) => {
  const message = `unsupported: cross-database: Vault.rdv.Unit names a database, and ${platform} creates tables in its own only; the nearest is rdv.Unit, created on a connection to Vault.`;
  for (const pattern of ['hub', 'run-log']) {
    const { code, out, err } = await create('Vault.rdv.Unit', platform, pattern);
    expect([code > 0, out, err.length]).toEqual([true, '', 1]);
    expect(err[0]).toContain(message);
  }
});

test('the embedded engine creates it in an attached database', async () => {
  const { out } = await create('vault.rdv.HubUnit', 'duckdb');
  const read = readConnectionText('duckdb::memory:');
  if (read.kind !== 'settings') throw new Error('no settings');
  const session = await openSession(read.settings, null);
  try {
    for (const text of ["ATTACH ':memory:' AS vault", out]) await queryRows(session, text);
    const found = 'SELECT database_name, schema_name FROM duckdb_tables()';
    expect(await queryRows(session, found)).toEqual([['vault', 'rdv']]);
  } finally {
    await session.close();
  }
});

/** The columns of a created table, by name, and what was said. */
async function createFrom(columns: string, pattern: string, platform = 'sqlserver') {
  const terminal = await openTerminal({ 'tables.sql': `CREATE TABLE stg.Customer (${columns});` });
  const made = await terminal.call(
    ...['create', pattern, '--source', 'stg.Customer', '--ddl', 'tables.sql', '--platform', platform],
  );
  return { ...made, columns: [...made.out.matchAll(/^ {4}\[(.+?)\] /gm)].map(([, name]) => name), terminal };
}

test.each([
  ['CustomerKey int NOT NULL PRIMARY KEY', 'hub', ['CustomerHashKey', 'LoadDate', 'RecordSource', 'CustomerKey']],
  ['customer_key int NOT NULL PRIMARY KEY', 'hub', ['CustomerHashKey', 'LoadDate', 'RecordSource', 'customer_key']],
  [
    'order_id int NOT NULL, order_no int NOT NULL, PRIMARY KEY (order_id, order_no)',
    'link',
    ['CustomerLinkKey', 'OrderIdKey', 'OrderNoKey', 'LoadDate', 'RecordSource'],
  ],
  [
    'the_key int NOT NULL, other_no int NOT NULL, PRIMARY KEY (the_key, other_no)',
    'link',
    ['CustomerLinkKey', 'TheHashKey', 'OtherKey', 'LoadDate', 'RecordSource'],
  ],
])('hash keys have names of their own: %s, %s', async (columns, pattern, expected) => {
  const made = await createFrom(columns, pattern);
  expect(made.columns).toEqual(expected);
  await made.terminal.write('target.sql', made.out);
  const target = /CREATE TABLE (\S+)/.exec(made.out)?.[1] ?? '';
  const load = ['--source', 'stg.Customer', '--target', target, '--ddl', 'tables.sql', 'target.sql'];
  expect((await made.terminal.call('generate', pattern, ...load)).code).toBe(0);
});

test.each([
  ['Id int NOT NULL PRIMARY KEY, ValidFrom date NULL, IsCurrent bit NULL', 'scd2', 'ValidFrom, IsCurrent twice'],
  ['Id int NOT NULL PRIMARY KEY, Name int NULL, CurrentName int NULL', 'scd6', 'CurrentName twice'],
  ['Id int NOT NULL PRIMARY KEY', 'satellite', 'would hold nothing; a hub holds the key'],
])('a table that could not be is not written: %s, %s', async (columns, pattern, said) => {
  const { code, out, err } = await createFrom(columns, pattern);
  expect([code, out]).toEqual([1, '']);
  expect(err.join('\n')).toContain(said);
});

test('a dimension with a staged date that is named like a start begins its versions at its key', async () => {
  const made = await createFrom('Id int NOT NULL PRIMARY KEY, EffectiveStartDT date NULL, flag bit NULL', 'scd6');
  await made.terminal.write('target.sql', made.out);
  const load = ['--source', 'stg.Customer', '--target', 'dw.DimCustomer', '--ddl', 'tables.sql', 'target.sql'];
  const { code, out } = await made.terminal.call('generate', 'scd6', ...load);
  expect([code, /"valid_from":"(\w+)"/.exec(out)?.[1], /"is_current":"(\w+)"/.exec(out)?.[1]]).toEqual([
    0,
    'ValidFrom',
    'IsCurrent',
  ]);
});

test('Fabric is told the key behind the table', async () => {
  const { out, terminal } = await createFrom('Id int NOT NULL PRIMARY KEY', 'hub', 'fabric');
  expect(out).toContain(
    'ALTER TABLE [rdv].[HubCustomer] ADD CONSTRAINT [PK_HubCustomer] PRIMARY KEY NONCLUSTERED ([CustomerKey]) NOT ENFORCED;',
  );
  await terminal.write('target.sql', out);
  const { out: catalog } = await terminal.call('catalog', 'target.sql', '--platform', 'fabric');
  expect(catalog).toContain('key: CustomerKey\n');
});

test('a change feed tells values apart that the server compares in no comparison', async () => {
  const columns = 'Id int NOT NULL, Seq bigint NOT NULL, Doc xml NULL, Place geography NULL';
  const terminal = await openTerminal({
    'tables.sql': `CREATE TABLE stg.Feed (${columns});
CREATE TABLE dw.Dim (Id int NOT NULL, ValidFrom bigint NOT NULL, ValidTo bigint NULL, Doc xml NULL, Place geography NULL, PRIMARY KEY (Id, ValidFrom));`,
  });
  const load = ['--source', 'stg.Feed', '--target', 'dw.Dim', '--ddl', 'tables.sql', '--set', 'keys=["Id"]'];
  const { out } = await terminal.call('generate', 'scd2_cdc', ...load, '--set', 'sequence_by=Seq');
  expect(out).toContain(
    'CAST(e.[Doc] AS nvarchar(max)) = CAST(n.[Doc] AS nvarchar(max)) COLLATE Latin1_General_100_BIN2',
  );
  expect(out).toContain('CAST(e.[Place] AS varbinary(max)) = CAST(n.[Place] AS varbinary(max))');
});
