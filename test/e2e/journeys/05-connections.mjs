import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesHolding, processesHolding } from '../lib/canary.mjs';
import { until } from '../lib/editor.mjs';
import { tdsServer } from '../lib/tds.mjs';

const identity = ['nvarchar(256)', 'sysname', 'sysname', 'nvarchar(128)', 'nvarchar(128)', 'nvarchar(4000)', 'int'].map(
  (type, index) => `c${index} ${type}`,
);
const otherPlatform = 'The server is Azure SQL Database, but the profile says sqlserver';
const password = 'canary-9f3b1c';

/** A connection to a SQL server and one to a DuckDB file: added, tested, protected, cancelled, described. */
export async function journey({ editor, open, root }) {
  const tds = await tdsServer(root);
  const server = await tds.startTdsServer({
    users: { loader: password },
    database: 'Warehouse',
    handler: tds.script(
      tds.on(/SERVERPROPERTY/, [
        tds.rows(identity, [
          ['WH01', 'Warehouse', 'loader', '12.0.2000.8', 'SQL Azure', 'Microsoft SQL Azure (RTM)', 5],
        ]),
      ]),
      tds.on('BEGIN TRANSACTION', [tds.begin()]),
      tds.on('ROLLBACK', [tds.rollback()]),
      tds.on('INSERT', [tds.affected(3), tds.rows(['inserted int', 'expired int'], [[3, 1]])]),
      tds.on('WAITFOR', [tds.print('waiting'), tds.flush(), tds.stall()]),
    ),
  });
  try {
    const folder = editor.workspace(join(root, 'test', 'e2e', 'fixtures', 'scripts'));
    const workbench = await open(folder);
    await workbench.openFile('insert.sql');
    await addServer(workbench, server.port);
    await trustCertificate(workbench, editor);
    await connect(workbench, 'Production');
    await workbench.notification(otherPlatform);
    await workbench.command('Notifications: Clear All Notifications');
    await workbench.page.locator('.statusbar-item', { hasText: 'Production · Warehouse (prod, protected)' }).waitFor();
    await workbench.screenshot('status-bar');

    await confirmed(workbench, server);
    await cancelled(workbench);
    await duckdbFile(workbench, folder);
    // The browser's own storage is the editor's secret storage here, and lies outside of this folder.
    assert.deepEqual(filesHolding(editor.home, password), [], 'no file holds the password');
    assert.deepEqual(processesHolding(password), [], 'no process has the password among its arguments or variables');
  } finally {
    await server.close();
  }
}

/** Adds a production server step by step; the last message tells what answered. */
async function addServer(workbench, port) {
  await workbench.command('Mergewright: Add Connection');
  await workbench.choose('sqlserver');
  await workbench.answer('Server: host', `127.0.0.1,${port}`);
  await workbench.answer('Database', 'Warehouse');
  await workbench.choose('SQL login');
  await workbench.answer('User', 'loader');
  await workbench.answer('Password of loader', password);
  await workbench.choose('Production');
  await workbench.answer('Name of the connection', 'Production');
  // The certificate of the test server is signed by nobody: the test says so in words.
  const toast = await workbench.notification('Production does not answer');
  assert.match(await toast.textContent(), /certificate/i);
}

/** Accepts the certificate in the settings, as a person would for a test server; the password is then asked again. */
async function trustCertificate(workbench, editor) {
  const file = join(editor.data, 'User', 'settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  for (const profile of settings['mergewright.connections']) profile.trustServerCertificate = true;
  writeFileSync(file, JSON.stringify(settings));
  await workbench.reload();
  await workbench.openFile('insert.sql');
  await workbench.command('Mergewright: Test Connection');
  await workbench.choose('Production');
  await workbench.answer('Password of loader', password);
  const toast = await workbench.notification('Production answers');
  assert.ok((await toast.textContent()).includes(otherPlatform), 'the test tells of the other platform');
  await workbench.screenshot('other-platform');
  await workbench.command('Notifications: Clear All Notifications');
}

async function connect(workbench, name) {
  await workbench.command('Mergewright: Connect');
  await workbench.choose(name);
}

/** A protected connection asks first; only a yes sends anything. */
async function confirmed(workbench, server) {
  await workbench.command('Mergewright: Run Load');
  const question = await workbench.dialog('Cancel');
  for (const part of ['Production', 'WH01', 'Warehouse', 'loader', 'prod', 'INSERT INTO dbo.Target']) {
    assert.ok(question.includes(part), `the question names ${part}: ${question}`);
  }
  assert.match(await workbench.runEnd('insert.sql'), /^Cancelled/);
  assert.deepEqual(
    server.recorder.sql().filter((text) => text.includes('INSERT')),
    [],
  );
  await workbench.command('Mergewright: Run Load');
  await workbench.dialog('Run');
  await workbench.panel.locator('.state[data-status=done]').waitFor();
  const counts = await workbench.counts();
  assert.deepEqual([counts.inserted, counts.expired, counts.updated], [3, 1, null]);
  await workbench.screenshot('sql-server-run');
  await workbench.command('Mergewright: Dry Run Load');
  const dryRun = await workbench.dialog('Run and Roll Back');
  assert.ok(dryRun.includes('ROLLBACK after it'), `the question tells of the rollback: ${dryRun}`);
  assert.match(await workbench.runEnd('Dry run'), /^Done.*rolled back$/);
  const sent = server.recorder.sql();
  const begun = sent.findLastIndex((text) => text.includes('BEGIN TRANSACTION'));
  assert.deepEqual(
    sent.slice(begun).map((text) => text.trim().split(/\s/)[0]),
    ['BEGIN', 'INSERT', 'ROLLBACK'],
  );
  await workbench.screenshot('sql-server-dry-run');
}

async function cancelled(workbench) {
  await workbench.openFile('wait.sql');
  await connect(workbench, 'Production');
  await workbench.command('Mergewright: Run Load');
  await workbench.dialog('Run');
  await workbench.panel.locator('.state[data-status=running]').waitFor();
  await workbench.command('Mergewright: Cancel Run');
  assert.match(await workbench.runEnd('wait.sql'), /^(Cancelled|Unknown)/);
}

async function duckdbFile(workbench, folder) {
  await workbench.openFile('rows.sql');
  await workbench.command('Mergewright: Add Connection');
  await workbench.choose('duckdb');
  await workbench.answer('Path of the DuckDB file', join(folder, 'local.duckdb'));
  await workbench.choose('Development');
  await workbench.answer('Name of the connection', 'Local file');
  await workbench.notification('Local file answers');
  await connect(workbench, 'Local file');
  await workbench.page.locator('.statusbar-item', { hasText: 'Local file' }).waitFor();
  await workbench.command('Mergewright: Run Load');
  assert.match(await workbench.runEnd('rows.sql'), /^Done/);
  await until('the file is there', () => readFileSync(join(folder, 'local.duckdb')).length > 0);
}
