import { expect, onTestFinished, test } from 'vitest';
import type { PreviewResult, RunResult } from '../../protocol/run.ts';
import { startTsqlServer } from '../support/tsql-engine/server.ts';
import { openTerminal } from './terminal.ts';

const ddl = `CREATE TABLE dbo.StageUnit (UnitNo int NULL, Name nvarchar(20) NULL);
GO
CREATE TABLE dbo.HubUnit (UnitKey char(64) NOT NULL, UnitNo int NOT NULL, LoadDate datetime2(6) NOT NULL,
  RecordSource varchar(20) NOT NULL);
`;

/** A hub's procedure, generated into a folder, and a server that has the tables and three staged rows. */
async function procedureOnServer() {
  const server = await startTsqlServer({
    product: 'sqlserver',
    version: 2022,
    backwards: false,
    now: () => new Date(),
  });
  onTestFinished(() => server.close());
  const connection = `mssql://loader@127.0.0.1:${server.port}/dwh?encrypt=false`;
  const rows =
    "INSERT INTO dbo.StageUnit (UnitNo, Name) SELECT 1, N'a' UNION ALL SELECT 2, N'b' UNION ALL SELECT 2, N'c';";
  const terminal = await openTerminal({ 'tables.sql': ddl, 'rows.sql': `${ddl}GO\n${rows}\n` });
  terminal.env['MERGEWRIGHT_PASSWORD'] = 'p@ss';
  const generated = ['--source', 'dbo.StageUnit', '--target', 'dbo.HubUnit', '--ddl', 'tables.sql', '--out', '.'];
  const made = await terminal.call('generate', 'hub', ...generated, '--form', 'procedure');
  expect(made.code).toBe(0);
  const on = (command: string, script: string, ...more: string[]) =>
    terminal.call(command, script, '--connection', connection, '--json', ...more);
  expect(await on('run', 'rows.sql')).toMatchObject({ code: 0, err: [] });
  return { terminal, on };
}

const source = ['--param', 'RecordSource=EMED'];

test('a procedure is created by one file, loads by the other, and both preview what it loads', async () => {
  const { on } = await procedureOnServer();
  for (const script of ['hub_HubUnit.sql', 'run_hub_HubUnit.sql']) {
    const called = await on('preview', script, '--ddl', '.', ...source);
    expect(called).toMatchObject({ code: 0, err: [] });
    const previewed: PreviewResult = JSON.parse(called.out);
    expect(previewed.counts).toMatchObject({ inserted: 2, unchanged: 0, skipped: 0 });
  }
  expect(await on('run', 'hub_HubUnit.sql')).toMatchObject({
    code: 0,
    err: ['The procedure was created and not called; run run_hub_HubUnit.sql to load.'],
  });
  const counts = [];
  for (let i = 0; i < 2; i += 1) {
    const run: RunResult = JSON.parse((await on('run', 'run_hub_HubUnit.sql', ...source)).out);
    counts.push([run.counts.inserted, run.counts.unchanged]);
  }
  expect(counts).toEqual([
    [2, 0],
    [0, 2],
  ]);
});

test('values for the file that only creates the procedure are refused with the file that takes them', async () => {
  const { on } = await procedureOnServer();
  expect(await on('run', 'hub_HubUnit.sql', ...source)).toMatchObject({
    code: 2,
    err: [
      'hub_HubUnit.sql creates a procedure, which takes values where it is called; leave --param out here and give it to run_hub_HubUnit.sql.',
    ],
  });
  const unknown = await on('preview', 'hub_HubUnit.sql', '--ddl', '.', '--param', 'Source=EMED');
  expect(unknown.err).toEqual(['The script has no parameter Source; it has BatchTime, RecordSource.']);
  const open = await on('preview', 'run_hub_HubUnit.sql', '--ddl', '.');
  expect(open.err).toEqual([expect.stringMatching(/^RecordSource has no value and fills a NOT NULL column/)]);
});
