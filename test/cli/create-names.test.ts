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
