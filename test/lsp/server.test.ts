import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Catalog } from '../../protocol/catalog.ts';
import type { LoadCandidate } from '../../protocol/requests.ts';
import { warehouse } from '../support/editor.ts';
import { LanguageClient } from '../support/language-client.ts';

let client: LanguageClient;
let folder: string;
let ddl: string;
let load: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-lsp-'));
  writeFileSync(join(folder, 'ddl.sql'), warehouse);
  ddl = pathToFileURL(join(folder, 'ddl.sql')).href;
  load = pathToFileURL(join(folder, 'load.sql')).href;
  client = new LanguageClient();
});

afterEach(() => {
  client.close();
  rmSync(folder, { recursive: true, force: true });
});

const at = (uri: string, line: number, character: number) => ({ textDocument: { uri }, position: { line, character } });

describe('documents', () => {
  test('diagnostics follow edits', async () => {
    await client.initialize(pathToFileURL(folder).href);
    client.open(load, 'SELECT 1 FROM');
    const wrong = await client.diagnostics(load, ({ version }) => version === 1);
    expect(wrong.diagnostics.map(({ code }) => code)).toEqual(['syntax']);
    client.change(load, 2, [
      { range: { start: { line: 0, character: 13 }, end: { line: 0, character: 13 } }, text: ' t' },
    ]);
    expect((await client.diagnostics(load, ({ version }) => version === 2)).diagnostics).toEqual([]);
  });

  test('several edits in one message are applied one after the other', async () => {
    await client.initialize(null);
    client.open(load, 'SELECT a\r\nFROM t');
    client.change(load, 2, [
      { range: { start: { line: 0, character: 7 }, end: { line: 1, character: 0 } }, text: 'x ' },
      { range: { start: { line: 0, character: 7 }, end: { line: 0, character: 8 } }, text: '😀' },
      { range: { start: { line: 0, character: 7 }, end: { line: 0, character: 9 } }, text: '' },
    ]);
    const { diagnostics } = await client.diagnostics(load, ({ version }) => version === 2);
    expect(diagnostics.length).toBeGreaterThan(0);
    client.change(load, 3, [{ text: 'SELECT 1' }]);
    expect((await client.diagnostics(load, ({ version }) => version === 3)).diagnostics).toEqual([]);
  });

  test('editors that pull diagnostics get no pushed ones', async () => {
    await client.initialize(null, { textDocument: { diagnostic: {} } });
    client.open(load, 'SELECT 1 FROM');
    const report = await client.request<{
      readonly items: readonly { readonly code: string; readonly data: object }[];
    }>('textDocument/diagnostic', { textDocument: { uri: load } });
    expect(report.items.map(({ code }) => code)).toEqual(['syntax']);
    expect(report.items[0]?.data).toEqual({ hazards: [], fixes: [] });
    expect(client.published).toEqual([]);
  });

  test('other requests are answered while a long text is checked', async () => {
    await client.initialize(null, { textDocument: { diagnostic: {} } });
    client.open(load, 'UPDATE dw.Unit SET Label = 1 WHERE UnitNo = 2;\n'.repeat(4000));
    const answers: string[] = [];
    const ask = (method: string, params: object) =>
      client.request(method, params).then(() => {
        answers.push(method);
      });
    await Promise.all([
      ask('textDocument/diagnostic', { textDocument: { uri: load } }),
      ask('textDocument/hover', at(load, 0, 10)),
    ]);
    expect(answers).toEqual(['textDocument/hover', 'textDocument/diagnostic']);
  });

  test('a text that changes while it is checked is checked as it is then', async () => {
    await client.initialize(null, { textDocument: { diagnostic: {} } });
    client.open(load, `${'UPDATE dw.Unit SET Label = 1 WHERE UnitNo = 2;\n'.repeat(4000)}SELECT 1 FROM`);
    const asked = client.request<{ readonly items: readonly { readonly code: string }[] }>('textDocument/diagnostic', {
      textDocument: { uri: load },
    });
    await client.request('textDocument/hover', at(load, 0, 10));
    client.change(load, 2, [{ text: 'SELECT 1 FROM;\nSELECT 2 FROM' }]);
    expect((await asked).items.map(({ code }) => code)).toEqual(['syntax', 'syntax']);
  });

  test('the status names the platform and where it comes from', async () => {
    await client.initialize(pathToFileURL(folder).href);
    client.open(load, 'CREATE TABLE t (a int) WITH (DISTRIBUTION = ROUND_ROBIN, HEAP)');
    expect(await client.notification('mergewright/status')).toEqual({
      uri: load,
      platform: 'synapse',
      origin: 'syntax',
      degraded: null,
    });
    client.notify('mergewright/connection', { uri: load, platform: 'fabric' });
    const status = await client.notification<{ readonly origin: string }>(
      'mergewright/status',
      ({ origin }) => origin === 'connection',
    );
    expect(status).toMatchObject({ platform: 'fabric' });
  });

  test('the platform of the setting counts for each folder, in closed files too, and when it changes', async () => {
    const other = mkdtempSync(join(tmpdir(), 'mergewright-lsp-'));
    const ddlText = 'CREATE TABLE dw.Item (a int, b varchar(20));';
    for (const place of [folder, other]) writeFileSync(join(place, 'ddl.sql'), ddlText);
    const roots = [folder, other].map((place) => pathToFileURL(place).href);
    const platforms = new Map([
      [roots[0], 'synapse'],
      [roots[1], 'duckdb'],
    ]);
    client.setting = ({ scopeUri }) => ({ platform: platforms.get(scopeUri) ?? 'fabric' });
    const workspaceFolders = roots.map((uri) => ({ uri, name: uri }));
    const capabilities = { workspace: { configuration: true, workspaceFolders: true } };
    await client.request('initialize', { processId: null, rootUri: null, workspaceFolders, capabilities });
    client.notify('initialized', {});
    const platformsOf = async () => {
      const catalogs = await Promise.all(
        roots.map((root) => client.request<Catalog>('mergewright/catalog', { folder: root })),
      );
      return catalogs.map(({ tables }) => tables.map(({ platform }) => platform));
    };
    client.open(`${roots[1]}/x.sql`, 'SELECT 1');
    client.open('file:///elsewhere.sql', 'SELECT 1');
    const status = (uri: string, platform: string) =>
      client.notification<{ readonly uri: string; readonly platform: string }>(
        'mergewright/status',
        (params) => params.uri === uri && params.platform === platform,
      );
    await status(`${roots[1]}/x.sql`, 'duckdb');
    await status('file:///elsewhere.sql', 'fabric');
    expect(await platformsOf()).toEqual([['synapse'], ['duckdb']]);
    platforms.set(roots[1] ?? '', 'databricks');
    client.notify('workspace/didChangeConfiguration', { settings: null });
    await status(`${roots[1]}/x.sql`, 'databricks');
    expect(await platformsOf()).toEqual([['synapse'], ['databricks']]);
    rmSync(other, { recursive: true, force: true });
  });

  test('a file of 10 MB is shown, not followed, and says so', async () => {
    await client.initialize(null);
    client.open(load, `${'INSERT INTO t VALUES (1)\n'.repeat(420_000)}SELECT FROM`);
    const status = await client.notification<{ readonly degraded: string | null }>('mergewright/status');
    expect(status.degraded).toContain('10.0 MB');
    expect((await client.diagnostics(load)).diagnostics).toEqual([]);
    expect(await client.request('textDocument/hover', at(load, 0, 13))).toBeNull();
  });
});

describe('the folder', () => {
  test('code lens, hover and loads of files that were never opened', async () => {
    await client.initialize(pathToFileURL(folder).href);
    const loads = await client.request<readonly LoadCandidate[]>('mergewright/loads', {});
    expect(loads.map(({ title, uri }) => `${title} ${uri}`)).toEqual([`Satellite · load from Dev_Patient_ ${ddl}`]);
    client.open(load, 'DELETE FROM raw.SatPatient');
    const hover = await client.request<{ readonly contents: { readonly value: string } }>(
      'textDocument/hover',
      at(load, 0, 18),
    );
    expect(hover.contents.value).toContain('satellite');
    const [definition] = await client.request<
      readonly { readonly uri: string; readonly range: { readonly start: object } }[]
    >('textDocument/definition', at(load, 0, 18));
    expect(definition).toMatchObject({ uri: ddl, range: { start: { line: 2, character: 0 } } });
    client.open(ddl, warehouse);
    const lenses = await client.request<
      readonly {
        readonly command: { readonly title: string; readonly arguments?: readonly { readonly uri: string }[] };
      }[]
    >('textDocument/codeLens', { textDocument: { uri: ddl } });
    expect(lenses.map(({ command }) => command.title)).toContain('Satellite · load from Dev_Patient_');
    expect(lenses.find(({ command }) => command.title === 'Generate')?.command.arguments?.[0]?.uri).toBe(ddl);
  });

  test('links over what a script writes, with a preview where one can be made', async () => {
    await client.initialize(pathToFileURL(folder).href);
    await client.request('mergewright/loads', {});
    const shown = async (text: string, version: number) => {
      client.open(load, text, version);
      const lenses = await client.request<readonly { readonly command: object }[]>('textDocument/codeLens', {
        textDocument: { uri: load },
      });
      return lenses.map(({ command }) => command);
    };
    const title = { title: 'Writes satellite raw.SatPatient (UPDATE)', command: '' };
    expect(await shown("UPDATE raw.SatPatient SET City = ''", 1)).toEqual([
      title,
      { title: 'Preview', command: 'mergewright.previewLoad', arguments: [{ uri: load }] },
    ]);
    expect(await shown("WHILE 1 = 1 UPDATE raw.SatPatient SET City = ''", 2)).toEqual([title]);
    // Whether many writes can be previewed takes too long to be told behind each key.
    const many = "UPDATE raw.SatPatient SET City = '';\n".repeat(13);
    expect(await shown(many, 3)).toEqual([title]);
    const called = "CREATE PROCEDURE dw.Clear AS UPDATE raw.SatPatient SET City = ''";
    expect(await shown(called, 4)).toEqual([title]);
    writeFileSync(join(folder, 'clear.sql'), called);
    const uri = pathToFileURL(join(folder, 'clear.sql')).href;
    client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri, type: 1 }] });
    await expect.poll(() => shown('EXEC dw.Clear', 5)).toMatchObject([{ title: 'Preview' }]);
  });

  test('signatures and parameters of procedures in files that were never opened', async () => {
    writeFileSync(
      join(folder, 'proc.sql'),
      'CREATE PROCEDURE dw.LoadUnit @BatchTime datetime2 = NULL, @Debug bit AS SELECT 1',
    );
    await client.initialize(pathToFileURL(folder).href);
    await client.request('mergewright/loads', {});
    client.open(load, 'EXEC dw.LoadUnit @BatchTime = NULL, ');
    const help = await client.request<{ readonly signatures: readonly { readonly label: string }[] }>(
      'textDocument/signatureHelp',
      at(load, 0, 36),
    );
    expect(help.signatures.map(({ label }) => label)).toEqual(['dw.LoadUnit @BatchTime datetime2 = NULL, @Debug bit']);
    expect(help).toMatchObject({ activeParameter: 1 });
    const items = await client.request<readonly { readonly textEdit: { readonly newText: string } }[]>(
      'textDocument/completion',
      at(load, 0, 36),
    );
    expect(items.map(({ textEdit }) => textEdit.newText)).toEqual(['@Debug = ']);
    const proc = pathToFileURL(join(folder, 'proc.sql')).href;
    const parameter = at(load, 0, 20);
    expect(await client.request('textDocument/definition', parameter)).toMatchObject([{ uri: proc }]);
    expect(
      await client.request('textDocument/references', { ...parameter, context: { includeDeclaration: true } }),
    ).toMatchObject([{ uri: proc }, { uri: load }]);
    expect(await client.request('textDocument/rename', { ...parameter, newName: '@Now' })).toMatchObject({
      changes: { [proc]: [{ newText: '@Now' }], [load]: [{ newText: '@Now' }] },
    });
  });

  test('files that change outside of the editor are read again', async () => {
    await client.initialize(pathToFileURL(folder).href);
    await client.request('mergewright/loads', {});
    writeFileSync(join(folder, 'more.sql'), 'CREATE TABLE stg.New (a int)');
    const uri = pathToFileURL(join(folder, 'more.sql')).href;
    client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri, type: 1 }] });
    client.open(load, 'SELECT a FROM stg.New');
    await client.diagnostics(load);
    await expect
      .poll(() => client.request('textDocument/hover', at(load, 0, 19)))
      .toMatchObject({ contents: { kind: 'markdown' } });
    rmSync(join(folder, 'more.sql'));
    client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri, type: 3 }] });
    await expect.poll(() => client.request('textDocument/hover', at(load, 0, 19))).toBeNull();
  });

  test('a folder that is removed or moved as a whole is told by its own name only', async () => {
    const [before, after] = [join(folder, 'more'), join(folder, 'moved')];
    const uri = (path: string) => pathToFileURL(path).href;
    mkdirSync(join(before, 'deep'), { recursive: true });
    writeFileSync(join(before, 'deep', 'new.sql'), 'CREATE TABLE stg.New (a int)');
    writeFileSync(join(before, 'mergewright.json'), '{"platform": "oracle"}');
    await client.initialize(pathToFileURL(folder).href);
    await client.request('mergewright/loads', {});
    client.open(load, 'SELECT a FROM stg.New');
    const definition = () => client.request('textDocument/definition', at(load, 0, 19));
    expect(await definition()).toMatchObject([{ uri: uri(join(before, 'deep', 'new.sql')) }]);
    await client.diagnostics(uri(join(before, 'mergewright.json')), ({ diagnostics }) => diagnostics.length === 1);
    renameSync(before, after);
    client.notify('workspace/didChangeWatchedFiles', {
      changes: [
        { uri: uri(before), type: 3 },
        { uri: uri(after), type: 1 },
      ],
    });
    await expect.poll(definition).toMatchObject([{ uri: uri(join(after, 'deep', 'new.sql')) }]);
    await client.diagnostics(uri(join(before, 'mergewright.json')), ({ diagnostics }) => diagnostics.length === 0);
    await client.diagnostics(uri(join(after, 'mergewright.json')), ({ diagnostics }) => diagnostics.length === 1);
    rmSync(after, { recursive: true });
    client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri: uri(after), type: 3 }] });
    await expect.poll(definition).toEqual([]);
  });

  test('a settings file that is wrong is marked in it', async () => {
    writeFileSync(join(folder, 'mergewright.json'), '{"platform": "oracle"}');
    await client.initialize(pathToFileURL(folder).href);
    const uri = pathToFileURL(join(folder, 'mergewright.json')).href;
    const { diagnostics } = await client.diagnostics(uri);
    expect(diagnostics.map(({ code }) => code)).toEqual(['settings']);
  });

  test('rename reaches files that are not open, and the settings', async () => {
    writeFileSync(
      join(folder, 'mergewright.json'),
      '{ "tables": [{ "table": "raw.SatPatient", "columns": { "City": "attribute" } }] }',
    );
    await client.initialize(pathToFileURL(folder).href);
    client.open(load, 'UPDATE raw.SatPatient SET City = NULL');
    await client.request('mergewright/loads', {});
    const edit = await client.request<{
      readonly changes: Readonly<Record<string, readonly { readonly newText: string }[]>>;
    }>('textDocument/rename', { ...at(load, 0, 28), newName: 'Town' });
    const settings = pathToFileURL(join(folder, 'mergewright.json')).href;
    expect(Object.keys(edit.changes).sort()).toEqual([ddl, load, settings].sort());
    expect(edit.changes[settings]).toMatchObject([{ newText: '"Town"', range: { start: { line: 0, character: 55 } } }]);
    await expect(client.request('textDocument/rename', { ...at(load, 0, 28), newName: 'Address1' })).rejects.toThrow(
      'already has a column',
    );
  });
});

describe('sturdiness', () => {
  /** The server still answers. */
  const alive = async () => {
    client.open('untitled:alive.sql', 'SELECT 1');
    expect(
      await client.request('textDocument/documentSymbol', { textDocument: { uri: 'untitled:alive.sql' } }),
    ).toEqual([]);
  };

  test('malformed messages', async () => {
    await client.initialize(null);
    for (const body of [
      '{',
      'null',
      '[]',
      '{"jsonrpc":"2.0"}',
      '{"jsonrpc":"2.0","method":1}',
      '{"jsonrpc":"2.0","id":7,"method":"no/such"}',
    ]) {
      client.toServer.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
    }
    client.notify('textDocument/didChange', { textDocument: {}, contentChanges: null });
    client.notify('textDocument/didOpen', {});
    await alive();
  });

  test('wrong order and versions that go backwards', async () => {
    await client.initialize(null);
    client.change(load, 5, [{ text: 'SELECT' }]);
    client.notify('textDocument/didClose', { textDocument: { uri: load } });
    client.open(load, 'SELECT 1', 9);
    client.change(load, 3, [{ text: 'SELECT 2 FROM' }]);
    client.open(load, 'SELECT 3', 1);
    expect((await client.diagnostics(load, ({ version }) => version === 1)).diagnostics).toEqual([]);
    await alive();
  });

  test('positions outside of the text', async () => {
    await client.initialize(null);
    client.open(load, 'SELECT a FROM t');
    for (const [line, character] of [
      [99, 0],
      [0, 9999],
      [-1, -1],
    ] as const) {
      for (const method of ['hover', 'definition', 'completion', 'references', 'signatureHelp']) {
        await client.request(`textDocument/${method}`, {
          ...at(load, line, character),
          context: { includeDeclaration: true },
        });
      }
    }
    client.change(load, 2, [
      { range: { start: { line: 7, character: 3 }, end: { line: 2, character: 1 } }, text: 'x' },
    ]);
    await alive();
  });

  test('a thousand cancelled requests', async () => {
    await client.initialize(null);
    client.open(load, 'SELECT a FROM t');
    for (let id = 10_000; id < 11_000; id += 1) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'textDocument/hover', params: at(load, 0, 7) });
      const cancel = JSON.stringify({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } });
      client.toServer.write(
        `Content-Length: ${body.length}\r\n\r\n${body}Content-Length: ${cancel.length}\r\n\r\n${cancel}`,
      );
    }
    await alive();
  });
});

describe('code actions', () => {
  interface Action {
    readonly title: string;
    readonly edit: {
      readonly changes?: object;
      readonly documentChanges?: readonly {
        readonly kind?: string;
        readonly edits?: readonly { readonly newText: string }[];
      }[];
    };
  }

  test('fixes, and ways to switch a rule off on the line, in the file and in the folder', async () => {
    await client.initialize(pathToFileURL(folder).href);
    await client.request('mergewright/loads', {});
    client.open(
      load,
      'MERGE raw.SatPatient AS t USING StageEmedsys.Dev_Patient_ AS s ON t.City = s.city WHEN MATCHED THEN DELETE\nSELECT 1',
    );
    const { diagnostics } = await client.diagnostics(load, (published) =>
      published.diagnostics.some(({ code }) => code === 'merge-lacks-semicolon'),
    );
    expect(diagnostics.length).toBeGreaterThan(0);
    const whole = { start: { line: 0, character: 0 }, end: { line: 1, character: 8 } };
    const actions = await client.request<readonly Action[]>('textDocument/codeAction', {
      textDocument: { uri: load },
      range: whole,
      context: { diagnostics: [] },
    });
    const titles = actions.map(({ title }) => title);
    expect(titles).toContain('Disable merge-lacks-semicolon for this line');
    expect(titles).toContain('Disable merge-lacks-semicolon in this file');
    const inFolder =
      actions.find(({ title }) => title === 'Disable merge-lacks-semicolon in this folder')?.edit.documentChanges ?? [];
    expect(inFolder[0]?.kind).toBe('create');
    expect(JSON.parse(inFolder[1]?.edits?.[0]?.newText ?? '')).toEqual({ rules: { 'merge-lacks-semicolon': 'off' } });
    const all = await client.request<readonly Action[]>('textDocument/codeAction', {
      textDocument: { uri: load },
      range: whole,
      context: { diagnostics: [], only: ['source.fixAll'] },
    });
    expect(all.map(({ title }) => title)).toEqual(['Fix all safe problems']);
  });
});

describe('loads for the editor', () => {
  interface Executable {
    readonly load: {
      readonly batches: readonly { readonly text: string }[];
      readonly preview: object | null;
      readonly parameters: readonly { readonly name: string; readonly value: string | null }[];
    } | null;
    readonly problems: readonly { readonly message: string }[];
  }

  const specification = async () => {
    const [candidate] = await client.request<readonly LoadCandidate[]>('mergewright/loads', { uri: ddl });
    if (candidate === undefined) throw new Error('no load');
    return candidate.specification;
  };

  test('generate gives the file of the target’s platform', async () => {
    await client.initialize(pathToFileURL(folder).href);
    const { files, problems } = await client.request<{
      readonly files: readonly { readonly path: string; readonly text: string }[];
      readonly problems: readonly object[];
    }>('mergewright/generate', {
      uri: ddl,
      specification: await specification(),
    });
    expect(problems).toEqual([]);
    expect(files).toHaveLength(1);
    expect(files[0]?.text).toContain('[raw].[SatPatient]');
  });

  test('generate names the folder that mergewright.json states for generated files', async () => {
    writeFileSync(join(folder, 'mergewright.json'), '{"out": "../gen 1"}');
    await client.initialize(pathToFileURL(folder).href);
    const made = await client.request<{ readonly folder: string | null }>('mergewright/generate', {
      uri: ddl,
      specification: await specification(),
    });
    expect(made.folder).toBe(pathToFileURL(join(folder, '..', 'gen 1')).href);
  });

  test('executable gives the load for the connection’s platform, with parameter values', async () => {
    await client.initialize(pathToFileURL(folder).href);
    const request = {
      uri: ddl,
      specification: await specification(),
      platform: 'duckdb',
      parameters: { RecordSource: 'EMED' },
    };
    const { load: executable, problems } = await client.request<Executable>('mergewright/executable', request);
    expect(problems).toEqual([]);
    expect(executable?.batches.map(({ text }) => text).join()).toContain("'EMED'");
    expect(executable?.preview).not.toBeNull();
    expect(executable?.parameters.find(({ name }) => name === 'RecordSource')?.value).toBe('EMED');
    const wrong = await client.request<Executable>('mergewright/executable', { ...request, platform: 'oracle' });
    expect(wrong.load).toBeNull();
    expect(wrong.problems[0]?.message).toContain('oracle');
  });

  test('seed creates the folder’s tables and fills those with a CSV file', async () => {
    writeFileSync(join(folder, 'patient.csv'), 'patient_id,address1,city\n1,Mill Road,Dover\n');
    await client.initialize(pathToFileURL(folder).href);
    const csv = [
      { table: { database: null, schema: 'StageEmedsys', table: 'Dev_Patient_' }, path: join(folder, 'patient.csv') },
      { table: { database: null, schema: null, table: 'Nobody' }, path: join(folder, 'patient.csv') },
    ];
    const { batches, problems } = await client.request<{
      readonly batches: readonly { readonly text: string }[];
      readonly problems: readonly { readonly message: string }[];
    }>('mergewright/seed', { folder: pathToFileURL(folder).href, csv });
    const text = batches.map((batch) => batch.text).join('\n');
    for (const part of ['"Dev_Patient_"', '"SatPatient"', 'patient.csv']) expect(text).toContain(part);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('Nobody is not one table of this folder'),
    ]);
  });
});
