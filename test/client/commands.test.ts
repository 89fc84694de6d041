import { describe, expect, test } from 'vitest';
import { AddConnectionCommand } from '../../client/src/commands/add-connection.ts';
import { ExplainRuleCommand } from '../../client/src/commands/explain-rule.ts';
import { GenerateLoadCommand } from '../../client/src/commands/generate-load.ts';
import { ImportConnectionCommand } from '../../client/src/commands/import-connection.ts';
import { offsetOf } from '../../client/src/commands/run-selection.ts';
import { back } from '../../client/src/ports.ts';
import { LoadChooser } from '../../client/src/runs/load-target.ts';
import type { LoadCandidate } from '../../protocol/requests.ts';
import type { LoadSpecification } from '../../protocol/specification.ts';
import { FakeServer, FakeWorkbench, fakeConnections, ScriptedPrompts } from './fakes.ts';

const specification: LoadSpecification = {
  version: 1,
  pattern: 'satellite',
  source: { database: null, schema: 'stg', table: 'Patient' },
  target: { database: null, schema: 'raw', table: 'SatPatient' },
  platform: 'synapse',
  form: 'script',
  shape: 'separate',
  options: {},
};
const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const candidate = (title: string): LoadCandidate => ({
  title,
  specification,
  confidence: 1,
  reasons: [],
  uri: 'file:///w/a.sql',
  range,
});

function generating(candidates: readonly LoadCandidate[], ...answers: readonly unknown[]) {
  return generatingForms(['script', 'procedure'], candidates, ...answers);
}

function generatingForms(
  forms: readonly string[],
  candidates: readonly LoadCandidate[],
  ...answers: readonly unknown[]
) {
  const prompts = new ScriptedPrompts(...answers);
  const workbench = new FakeWorkbench();
  const server = new FakeServer({
    'mergewright/loads': () => candidates,
    'mergewright/generate': ({ specification: asked }) => ({
      files: forms.includes(asked.form) ? [{ path: 'loads/a b.sql', text: asked.form }] : [],
      folder: asked.target.table === 'SatElsewhere' ? 'file:///w/generated%20code' : null,
      specification: asked,
      problems: forms.includes(asked.form)
        ? []
        : [{ code: 'unsupported', severity: 'error', message: `unsupported: form ${asked.form}` }],
    }),
  });
  const command = new GenerateLoadCommand(new LoadChooser(server, prompts, workbench), server, prompts, workbench);
  return { command, workbench, server, prompts };
}

test('the code lens of a script means its text, whatever loads its tables suggest', async () => {
  const server = new FakeServer({ 'mergewright/loads': () => [candidate('One')] });
  const workbench = new FakeWorkbench();
  workbench.texts.set('file:///w/my%20load.sql', 'DELETE raw.SatPatient');
  const target = await new LoadChooser(server, new ScriptedPrompts(), workbench).forRun({
    uri: 'file:///w/my%20load.sql',
  });
  expect(target).toEqual({
    kind: 'text',
    uri: 'file:///w/my%20load.sql',
    text: 'DELETE raw.SatPatient',
    line: 0,
    title: 'my load.sql',
  });
});

describe('Generate Load', () => {
  test('from a code lens opens the file without a question', async () => {
    const { command, workbench } = generating([]);
    await command.run({ uri: 'file:///w/a.sql', specification });
    expect(workbench.proposed).toEqual([{ uri: 'file:///w/loads/a%20b.sql', text: 'script' }]);
  });

  test('goes into the folder that the settings name', async () => {
    const { command, workbench } = generating([]);
    const elsewhere = { ...specification, target: { ...specification.target, table: 'SatElsewhere' } };
    await command.run({ uri: 'file:///w/a.sql', specification: elsewhere });
    expect(workbench.proposed[0]?.uri).toBe('file:///w/generated%20code/loads/a%20b.sql');
  });

  test('from the palette asks for the load and the form, with a way back', async () => {
    const { command, workbench, prompts } = generating(
      [candidate('One'), candidate('Two')],
      'One',
      back,
      'Two',
      'procedure',
    );
    await command.run(undefined);
    expect(workbench.proposed[0]?.text).toBe('procedure');
    expect(prompts.asked).toHaveLength(4);
  });

  test('offers the forms that can be made, and asks for none where there is one', async () => {
    const { command, prompts } = generating([candidate('One')], 'procedure');
    await command.run(undefined);
    expect(prompts.offered.at(-1)).toEqual(['script', 'procedure']);
    const only = generatingForms(['script'], [candidate('One')]);
    await only.command.run(undefined);
    expect(only.prompts.asked).toEqual([]);
    expect(only.workbench.proposed[0]?.text).toBe('script');
    const none = generatingForms([], [candidate('One')]);
    await expect(none.command.run(undefined)).rejects.toThrow('unsupported: form script');
  });

  test('says what to do where no load fits', async () => {
    const { command, prompts } = generating([]);
    await command.run(undefined);
    expect(prompts.said.join()).toContain('CREATE TABLE');
  });
});

describe('Add Connection', () => {
  test('asks step by step, goes back, keeps the password out of the settings, and tests', async () => {
    const prompts = new ScriptedPrompts(
      'sqlserver',
      'dwh0l',
      back,
      'dwh01,1444',
      'DW',
      'SQL login',
      'loader',
      'canary',
      'Production',
      'Prod',
    );
    const { connections, settings, vault, sessions } = fakeConnections(prompts);
    await new AddConnectionCommand(connections, settings, prompts).run();
    expect(JSON.stringify(settings.user)).toContain('dwh01');
    expect(JSON.stringify(settings.user)).not.toContain('canary');
    expect([...vault.secrets.values()]).toEqual(['canary']);
    expect(sessions.opened[0]).toMatchObject({ secret: 'canary', session: { isClosed: true } });
    expect(prompts.said).toEqual(['Prod answers: dwh01 · DW · login loader · version 1']);
  });

  test('a server of another platform is told with the answer of the test, and again when a file connects', async () => {
    const prompts = new ScriptedPrompts('sqlserver', 'dwh01', 'DW', 'SQL login', 'loader', 'pw', 'Development', 'Dev');
    const { connections, settings, sessions } = fakeConnections(prompts);
    sessions.prepare = (session) => {
      session.warnings = ['The server is Azure SQL Database, but the profile says sqlserver.'];
    };
    await new AddConnectionCommand(connections, settings, prompts).run();
    expect(prompts.said).toEqual([
      'The server is Azure SQL Database, but the profile says sqlserver. Dev answers: dwh01 · DW · login loader · version 1',
    ]);
    settings.name = 'Dev';
    await connections.session('file:///w/a.sql');
    await connections.session('file:///w/a.sql');
    expect(prompts.said.slice(1)).toEqual(['Dev: The server is Azure SQL Database, but the profile says sqlserver.']);
  });

  test('a failing test is told and the profile stays', async () => {
    const prompts = new ScriptedPrompts('duckdb', 'x.duckdb', 'Development', 'File');
    const { connections, settings, sessions } = fakeConnections(prompts);
    sessions.open = () => Promise.reject(new Error('the file is locked'));
    await new AddConnectionCommand(connections, settings, prompts).run();
    expect(prompts.said).toEqual(['File does not answer: the file is locked']);
    expect(settings.user).toHaveLength(1);
  });
});

describe('Import Connection', () => {
  const text = 'Server=dwh01;User ID=loader;Password=canary;Failover Partner=x';
  const importing = (prompts: ScriptedPrompts, shared: string | undefined, isPresent: boolean) => {
    const parts = fakeConnections(prompts);
    const adding = new AddConnectionCommand(parts.connections, parts.settings, prompts);
    const source = { isPresent: () => isPresent, connectionString: async () => shared };
    return { ...parts, command: new ImportConnectionCommand(parts.connections, prompts, adding, source) };
  };

  test('keeps the password in the vault and lists what is lost', async () => {
    const prompts = new ScriptedPrompts(text, 'Imported');
    const { command, settings, vault } = importing(prompts, undefined, false);
    await command.run();
    expect([...vault.secrets.values()]).toEqual(['canary']);
    expect(prompts.said.join()).toContain('Failover Partner');
    expect(JSON.stringify(settings.user) + prompts.said.join()).not.toContain('canary');
  });

  test('takes the connection that the SQL Server extension hands over', async () => {
    const { command, vault } = importing(new ScriptedPrompts('SQL Server extension', 'Imported'), text, true);
    await command.run();
    expect([...vault.secrets.values()]).toEqual(['canary']);
  });

  test('says what to do when that extension gives none', async () => {
    const prompts = new ScriptedPrompts('SQL Server extension');
    await importing(prompts, undefined, true).command.run();
    expect(prompts.said.join()).toContain('allow sharing');
  });
});

describe('a secret', () => {
  test('that the server refuses is asked for again', async () => {
    const prompts = new ScriptedPrompts('wrong', 'right');
    const { connections, settings, sessions, vault } = fakeConnections(prompts);
    settings.user = [{ name: 'A', platform: 'sqlserver', server: 's', user: 'u' }];
    settings.name = 'A';
    const open = sessions.open.bind(sessions);
    sessions.open = () => Promise.reject(new Error('Login failed for user u.'));
    await expect(connections.session('file:///a.sql')).rejects.toThrow('Login failed');
    expect(vault.secrets.size).toBe(0);
    sessions.open = open;
    await connections.session('file:///a.sql');
    expect(sessions.opened[0]?.secret).toBe('right');
  });

  test('never reaches the log', async () => {
    const prompts = new ScriptedPrompts('canary');
    const { connections, settings, log, lines } = fakeConnections(prompts);
    settings.user = [{ name: 'A', platform: 'sqlserver', server: 's', user: 'u' }];
    settings.name = 'A';
    await connections.session('file:///a.sql');
    log.error('login with canary failed');
    expect(lines.join()).not.toContain('canary');
  });

  test('of Entra is a token of the moment and is kept nowhere', async () => {
    const { connections, settings, sessions, vault } = fakeConnections();
    settings.user = [{ name: 'A', platform: 'azuresql', server: 's', auth: 'entra' }];
    settings.name = 'A';
    await connections.session('file:///a.sql');
    expect(sessions.opened[0]?.secret).toBe('token-canary');
    expect(vault.secrets.size).toBe(0);
  });

  test("a workspace's profile of the same name does not find the user's", async () => {
    const prompts = new ScriptedPrompts('user-secret', undefined);
    const { connections, settings, sessions } = fakeConnections(prompts);
    const entry = { name: 'A', platform: 'sqlserver', server: 's', user: 'u' };
    settings.user = [entry];
    settings.name = 'A';
    await connections.session('file:///a.sql');
    settings.workspace = [{ ...entry, server: 'evil' }];
    expect(await connections.session('file:///b.sql')).toBeUndefined();
    expect(sessions.opened).toHaveLength(1);
  });
});

test('Explain This Rule opens the page of the rule it is given', async () => {
  const workbench = Object.assign(new FakeWorkbench(), { rulesAt: () => [] });
  const command = new ExplainRuleCommand(
    '/x/rules',
    async () => ['merge-lacks-semicolon'],
    workbench,
    new ScriptedPrompts(),
  );
  await command.run('merge-lacks-semicolon');
  expect(workbench.opened).toBe('/x/rules/merge-lacks-semicolon.md');
});

test.each([
  ['a\r\nbc', 1, 1, 4],
  ['a\nbc', 1, 2, 4],
  ['a\rbc', 1, 0, 2],
  ['abc', 5, 0, 3],
  ['abc', 0, 9, 3],
])('the place of a position in %j', (text, line, character, offset) => {
  expect(offsetOf(text, { line, character })).toBe(offset);
});
