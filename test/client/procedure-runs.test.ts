import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RunPanel } from '../../client/src/panel/run-panel.ts';
import { RunHistory } from '../../client/src/runs/history.ts';
import type { LoadTarget } from '../../client/src/runs/load-target.ts';
import { RunController } from '../../client/src/runs/run-controller.ts';
import type { PlatformName } from '../../protocol/platform.ts';
import { calledProcedures } from '../../server/src/workspace/called-procedures.ts';
import { executableLoad } from '../../server/src/workspace/executable.ts';
import { loadOf } from '../../server/src/workspace/load-of.ts';
import { folderOf } from '../support/folders.ts';
import { FakeServer, fakeConnections, RecordedPage, ScriptedPrompts } from './fakes.ts';

const ddl = `CREATE TABLE dbo.StageUnit (UnitNo int NULL, Name nvarchar(20) NULL);
GO
CREATE TABLE dbo.HubUnit (UnitKey char(64) NOT NULL PRIMARY KEY, UnitNo int NOT NULL, LoadDate datetime2(6) NOT NULL,
  RecordSource varchar(20) NOT NULL);
`;
const specification = {
  version: 1,
  pattern: 'hub',
  source: { database: null, schema: 'dbo', table: 'StageUnit' },
  target: { database: null, schema: 'dbo', table: 'HubUnit' },
  platform: 'sqlserver',
  form: 'procedure',
  shape: 'separate',
  options: {
    keys: ['UnitNo'],
    target_key: ['UnitKey'],
    hash_key: { UnitKey: ['UnitNo'] },
    load_ts: 'LoadDate',
    record_source: 'RecordSource',
    parameters: { RecordSource: 'RecordSource' },
  },
} as const;

/** The extension's way from a click to the batches of a session, over the core itself. */
async function clicksOn(platform: PlatformName, ...answers: readonly unknown[]) {
  const { value, problems: inTheWay } = loadOf(await folderOf({ 'tables.sql': ddl }), specification);
  if (value === null) throw new Error(inTheWay[0]?.message);
  const [definition = '', call = ''] = value.files.map(({ text }) => text);
  const folder = await folderOf({ 'tables.sql': ddl, 'hub_HubUnit.sql': definition, 'run_hub_HubUnit.sql': call });
  const targetOf = (name: string, text: string): LoadTarget => ({
    kind: 'text',
    uri: `file:///w/${name}`,
    text,
    line: 0,
    title: name,
  });
  const targets = {
    definition: targetOf('hub_HubUnit.sql', definition),
    call: targetOf('run_hub_HubUnit.sql', call),
    ofText: (text: string) => targetOf('run_hub_HubUnit.sql', text),
  };
  const procedures = await calledProcedures(folder, call, platform);
  const prompts = new ScriptedPrompts(...answers);
  const parts = fakeConnections(prompts);
  parts.settings.user = [{ name: 'Warehouse', platform, server: 'dwh01', database: 'DW', user: 'loader' }];
  parts.settings.name = platform === 'duckdb' ? '' : 'Warehouse';
  const server = new FakeServer({
    'mergewright/executable': ({ text = '', parameters }) => {
      const { value: load, problems } = executableLoad(folder, { text, platform, parameters, title: '', procedures });
      return { load, problems: problems.map(({ code, severity, message }) => ({ code, severity, message })) };
    },
  });
  const root = await mkdtemp(join(tmpdir(), 'mergewright-clicks-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const history = new RunHistory(join(root, 'history.jsonl'), () => 100);
  const page = new RecordedPage();
  const runs = new RunController({
    ...parts,
    server,
    prompts,
    history,
    panel: new RunPanel(page, () => history.entries()),
    problems: { show: () => undefined, clear: () => undefined },
    notifyAfterSeconds: () => 10,
    sqlcmdVariables: () => false,
  });
  const sent = () =>
    parts.sessions.opened
      .flatMap(({ session }) => session.jobs)
      .flatMap(({ batches }) => batches)
      .map(({ text }) => text)
      .join('\n');
  return { ...targets, prompts, page, runs, sent };
}

const givenSource = ['RecordSource', 'EMED', 'Use these values'];

test('a preview of the file that creates a procedure counts with the values that were given', async () => {
  const { runs, definition, prompts, sent } = await clicksOn('sqlserver', ...givenSource, 'password');
  await runs.start('preview', definition);
  expect(prompts.said).toEqual([]);
  expect(sent()).toMatch(/^DECLARE @RecordSource varchar\(20\) = N?'EMED';$/m);
});

test('a run of that file asks for no value, sends it as it is, and says what calls the procedure', async () => {
  const { runs, definition, sent, page } = await clicksOn('sqlserver', 'password');
  await runs.start('run', definition);
  expect(sent()).toBe(definition.kind === 'text' ? definition.text : '');
  expect(page.run?.parameters).toEqual([]);
  expect(page.run?.notes).toContain('The procedure was created and not called; run_hub_HubUnit.sql calls it.');
});

test.each(['preview', 'run'] as const)('a %s of the file that calls it asks and puts the values in', async (mode) => {
  const { runs, call, prompts, sent } = await clicksOn('sqlserver', ...givenSource, 'password');
  await runs.start(mode, call);
  expect(prompts.said).toEqual([]);
  expect(sent()).toMatch(/^DECLARE @RecordSource varchar\(20\) = N?'EMED';$/m);
  expect(/^EXEC /m.test(sent())).toBe(mode === 'run');
});

test.each([
  ['preview', 'definition'],
  ['run', 'definition'],
  ['preview', 'call'],
  ['run', 'call'],
] as const)('on the embedded engine a %s of its %s is the load itself', async (mode, file) => {
  const { runs, prompts, sent, ...targets } = await clicksOn('duckdb', ...givenSource);
  await runs.start(mode, targets[file]);
  expect(prompts.said).toEqual([]);
  expect(sent()).toContain("SET VARIABLE RecordSource = CAST('EMED' AS VARCHAR);");
  expect(/^INSERT INTO .*HubUnit/m.test(sent())).toBe(mode === 'run');
});

test('values of an earlier text of the document stop nothing, be it a part without parameters or a new load', async () => {
  const { runs, call, ofText, prompts, sent } = await clicksOn('sqlserver', ...givenSource, 'password');
  await runs.start('run', call);
  await runs.start('run', ofText('SELECT 1 AS inserted;'));
  expect(prompts.said).toEqual([]);
  expect(sent()).toMatch(/SELECT 1 AS inserted;$/);
});

test('a value that its parameter cannot take is said, and not remembered', async () => {
  const { runs, call, prompts, sent } = await clicksOn('sqlserver', 'BatchTime', 'soon', ...givenSource);
  expect(await runs.start('run', call)).toBeUndefined();
  expect(prompts.said).toEqual(['BatchTime is datetime2(7), and soon is no such value.']);
  expect(sent()).toBe('');
});
