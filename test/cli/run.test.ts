import { describe, expect, onTestFinished, test } from 'vitest';
import { countNames } from '../../protocol/counts.ts';
import type { PreviewResult, RunResult } from '../../protocol/run.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query, queryRows } from '../../runner/src/queries.ts';
import { duckdbSettings } from '../runner/settings.ts';
import { serveWarehouse } from '../runner/warehouse-server.ts';
import { begin, disconnect, error, print, rows, on as rule, script } from '../support/tds/answers.ts';
import { type Called, openTerminal, type Terminal } from './terminal.ts';

const ddl = `CREATE TABLE dbo.StageUnit (UnitNo int NOT NULL, Name nvarchar(20) NULL)
GO
CREATE TABLE dbo.Unit (UnitNo int NOT NULL, Name nvarchar(20) NULL, valid_from datetime2(6) NOT NULL,
  valid_to datetime2(6) NULL, is_current bit NOT NULL, PRIMARY KEY (UnitNo, valid_from))
GO
`;

/** What `--json` gave. */
function resultOf({ out, err }: Called): RunResult {
  if (out === '') throw new Error(err.join('\n'));
  const result: RunResult = JSON.parse(out);
  return result;
}

function previewOf({ out, err }: Called): PreviewResult {
  if (out === '') throw new Error(err.join('\n'));
  const result: PreviewResult = JSON.parse(out);
  return result;
}

async function onFile(terminal: Terminal, text: string) {
  const session = await openSession(duckdbSettings(terminal.path('w.duckdb')), null);
  onTestFinished(() => session.close());
  try {
    return await queryRows(session, text);
  } finally {
    await session.close();
  }
}

describe('run on the embedded engine', () => {
  test('gives the contract’s JSON', async () => {
    const terminal = await openTerminal({
      'load.sql':
        "SELECT 'empty_stage' AS warning_code, 'nothing staged' AS message;\nSELECT 2 AS inserted, 1 AS expired;\n",
    });
    const called = await terminal.call('run', 'load.sql', '--connection', 'duckdb::memory:', '--json');
    expect(called).toMatchObject({ code: 0, err: [] });
    const result = resultOf(called);
    expect(Object.keys(result)).toEqual(['status', 'counts', 'batches', 'warnings', 'error', 'elapsedMs']);
    expect(Object.keys(result.counts)).toEqual([...countNames]);
    expect(result).toMatchObject({
      status: 'done',
      counts: { inserted: 2, expired: 1, updated: null },
      warnings: [{ code: 'empty_stage', message: 'nothing staged' }],
      error: null,
    });
    expect(Object.keys(result.batches[0] ?? {})).toEqual(['text', 'elapsedMs', 'rows', 'messages']);
    expect(result.batches[0]?.text).toBe(
      "SELECT 'empty_stage' AS warning_code, 'nothing staged' AS message;\nSELECT 2 AS inserted, 1 AS expired;\n",
    );
  });

  test('shows what is sent, the counts and the warnings', async () => {
    const terminal = await openTerminal({ 'load.sql': 'SELECT 2 AS inserted;' });
    const { out } = await terminal.call('run', 'load.sql', '--connection', 'duckdb::memory:');
    expect(out).toContain('SELECT 2 AS inserted;');
    expect(out).toMatch(/done in \d+ ms\n {2}inserted +2\n$/);
  });

  test('a guard stops the load: exit 1, its code and keys, nothing written', async () => {
    const terminal = await openTerminal({
      'ddl.sql': ddl,
      'load.sql':
        "BEGIN;\nINSERT INTO dbo.\"StageUnit\" VALUES (1, 'a');\nSELECT error('duplicate_key: K10, K20');\nCOMMIT;",
    });
    await terminal.call('seed', '--ddl', 'ddl.sql', '--connection', 'duckdb:w.duckdb');
    const called = await terminal.call('run', 'load.sql', '--connection', 'duckdb:w.duckdb', '--json');
    expect(called.code).toBe(1);
    expect(called.err[0]).toBe(
      'duplicate_key: K10, K20 (batch 1). The open transaction was rolled back. Correct these rows in the source, or the option of the load that stops for them.',
    );
    expect(resultOf(called)).toMatchObject({
      status: 'failed',
      error: { code: 'duplicate_key', message: 'duplicate_key: K10, K20', batch: 0 },
    });
    expect(await onFile(terminal, 'SELECT count(*) FROM dbo."StageUnit"')).toEqual([['0']]);
  });

  test('a file of UTF-16, with a comment alone or with nothing: nothing to run', async () => {
    const terminal = await openTerminal({
      'wide.sql': Buffer.from('\ufeffSELECT 1 AS inserted;', 'utf16le'),
      'remarks.sql': '-- only remarks here\n/* and\n   here */\nGO\n',
      'empty.sql': '',
    });
    expect(
      resultOf(await terminal.call('run', 'wide.sql', '--connection', 'duckdb::memory:', '--json')).counts.inserted,
    ).toBe(1);
    for (const name of ['remarks.sql', 'empty.sql']) {
      const called = await terminal.call('run', name, '--connection', 'duckdb:none.duckdb', '--json');
      expect(called).toMatchObject({ code: 0, err: ['Nothing to run: the script holds no statement.'] });
      expect(resultOf(called)).toMatchObject({ status: 'done', batches: [] });
    }
  });
});

describe('a load by its specification', () => {
  const generateArguments = [
    'scd2',
    '--source',
    'StageUnit',
    '--target',
    'Unit',
    '--ddl',
    'ddl',
    '--set',
    'keys=["UnitNo"]',
  ];

  async function seeded(): Promise<Terminal> {
    const terminal = await openTerminal({
      'ddl/tables.sql': ddl,
      'day1.csv': 'UnitNo,Name\n1,a\n2,b\n',
      'day2.csv': 'UnitNo,Name\n1,A\n2,b\n3,c\n',
    });
    await terminal.call('seed', '--ddl', 'ddl', '--connection', 'duckdb:w.duckdb', '--csv', 'StageUnit=day1.csv');
    return terminal;
  }

  test('runs day by day, and again changes nothing', async () => {
    const terminal = await seeded();
    const generated = await terminal.call('generate', ...generateArguments, '--platform', 'duckdb');
    expect(generated).toMatchObject({ code: 0 });
    await terminal.write('load.sql', generated.out);
    const load = (when: string) =>
      terminal.call(
        'run',
        'load.sql',
        '--ddl',
        'ddl',
        '--connection',
        'duckdb:w.duckdb',
        '--json',
        '--param',
        `BatchTime=${when}`,
      );
    expect(resultOf(await load('2026-03-01 06:00:00'))).toMatchObject({
      status: 'done',
      counts: { inserted: 2, unchanged: 0 },
    });
    expect(resultOf(await load('2026-03-01 07:00:00'))).toMatchObject({
      status: 'done',
      counts: { inserted: 0, unchanged: 2 },
    });
    await terminal.call('seed', '--ddl', 'ddl', '--connection', 'duckdb:w.duckdb', '--csv', 'StageUnit=day2.csv');
    expect(resultOf(await load('2026-03-02 06:00:00'))).toMatchObject({
      counts: { inserted: 2, expired: 1, unchanged: 1 },
    });
    expect(
      await onFile(
        terminal,
        'SELECT "Name", valid_from, valid_to FROM dbo."Unit" WHERE "UnitNo" = 1 ORDER BY valid_from',
      ),
    ).toEqual([
      ['a', '2026-03-01 06:00:00.000000', '2026-03-02 06:00:00.000000'],
      ['A', '2026-03-02 06:00:00.000000', null],
    ]);
  });

  test.each(['duckdb', 'sqlserver', 'synapse'])(
    'of %s is previewed and run on the embedded engine with the same counts',
    async (platform) => {
      const terminal = await seeded();
      const generated = await terminal.call('generate', ...generateArguments, '--platform', platform);
      await terminal.write('load.sql', generated.out.replaceAll('\n', '\r\n'));
      const on = ['load.sql', '--ddl', 'ddl', '--connection', 'duckdb:w.duckdb', '--json'];
      const preview = await terminal.call('preview', ...on);
      expect(preview).toMatchObject({ code: 0, err: [] });
      const seen = previewOf(preview);
      expect(seen).toMatchObject({ status: 'done', counts: { inserted: 2, expired: 0, unchanged: 0 } });
      expect(seen.samples.inserted).toHaveLength(2);
      expect(seen.samples.inserted?.[0]).toMatchObject({ UnitNo: 1, Name: 'a' });
      expect(await onFile(terminal, 'SELECT count(*) FROM dbo."Unit"')).toEqual([['0']]);
      const run = await terminal.call('run', ...on);
      expect(resultOf(run).counts).toEqual(seen.counts);
      expect(resultOf(run).batches[0]?.text).toContain('BEGIN TRANSACTION');
      expect(await onFile(terminal, 'SELECT count(*) FROM dbo."Unit"')).toEqual([['2']]);
    },
  );

  test('that a person changed runs as it is at home, is not previewed, and is not translated', async () => {
    const terminal = await seeded();
    const on = ['--ddl', 'ddl', '--connection', 'duckdb:w.duckdb', '--json'];
    const own = await terminal.call('generate', ...generateArguments, '--platform', 'duckdb');
    await terminal.write('own.sql', `${own.out}\nSELECT 77 AS inserted;\n`);
    expect(resultOf(await terminal.call('run', 'own.sql', ...on)).counts.inserted).toBe(77);
    expect((await terminal.call('preview', 'own.sql', ...on)).err[0]).toMatch(/no longer what its specification gives/);
    const other = await terminal.call('generate', ...generateArguments, '--platform', 'sqlserver');
    await terminal.write('other.sql', `${other.out}\nDELETE FROM dbo.Unit;\n`);
    const called = await terminal.call('run', 'other.sql', ...on);
    expect(called).toMatchObject({ code: 2, out: '' });
    expect(called.err[0]).toMatch(/can't be translated for duckdb/);
  });

  test('whose tables no DDL defines is one clear line', async () => {
    const terminal = await seeded();
    const { out } = await terminal.call('generate', ...generateArguments, '--platform', 'sqlserver');
    await terminal.write('elsewhere/load.sql', out);
    const called = await terminal.call(
      'run',
      'elsewhere/load.sql',
      '--ddl',
      'elsewhere',
      '--connection',
      'duckdb:w.duckdb',
    );
    expect(called).toMatchObject({ code: 2, out: '' });
    expect(called.err[0]).toMatch(/StageUnit is not defined in the DDL that was read/);
  });

  test('a parameter that the script has not is wrong usage', async () => {
    const terminal = await seeded();
    const generated = await terminal.call('generate', ...generateArguments, '--platform', 'duckdb');
    await terminal.write('load.sql', generated.out);
    const called = await terminal.call(
      'run',
      'load.sql',
      '--ddl',
      'ddl',
      '--connection',
      'duckdb:w.duckdb',
      '--param',
      'colour=red',
    );
    expect(called).toMatchObject({ code: 2, out: '' });
    expect(called.err[0]).toMatch(/no parameter colour/);
  });

  test('with a parameter of a NOT NULL column is neither previewed nor run before it has a value', async () => {
    const terminal = await openTerminal({
      'ddl/hub.sql': `CREATE TABLE stg_unit (unit_no VARCHAR);
CREATE TABLE hub_unit (unit_hk VARCHAR(64) NOT NULL PRIMARY KEY, load_date TIMESTAMP NOT NULL, record_source VARCHAR NOT NULL, unit_no VARCHAR NOT NULL);
`,
      'units.csv': 'unit_no\nU1\n',
    });
    const onWarehouse = ['--ddl', 'ddl', '--connection', 'duckdb:w.duckdb'];
    await terminal.call('seed', ...onWarehouse, '--csv', 'stg_unit=units.csv');
    const tables = ['hub', '--source', 'stg_unit', '--target', 'hub_unit', '--ddl', 'ddl'];
    const home = await terminal.call('generate', ...tables, '--platform', 'duckdb');
    const foreign = await terminal.call('generate', ...tables, '--platform', 'sqlserver');
    for (const { out } of [home, foreign]) {
      await terminal.write('load.sql', out);
      for (const command of ['preview', 'run']) {
        const called = await terminal.call(command, 'load.sql', ...onWarehouse);
        expect(called).toMatchObject({ code: 2, out: '' });
        expect(called.err).toEqual([
          'record_source has no value and fills a NOT NULL column, so nothing was sent; give --param record_source=VALUE.',
        ]);
        const given = [...onWarehouse, '--param', 'record_source=EMED', '--json'];
        const counts = { inserted: out === home.out ? 1 : 0 };
        expect(resultOf(await terminal.call(command, 'load.sql', ...given))).toMatchObject({ status: 'done', counts });
      }
    }
    expect(await onFile(terminal, 'SELECT unit_no, record_source FROM hub_unit')).toEqual([['U1', 'EMED']]);
  });
});

describe('profiles', () => {
  const settings = (port: number, more = '') => `{
    // the warehouse
    "mergewright.connections": [
      { "name": "House", "platform": "sqlserver", "server": "localhost", "port": ${port}, "user": "loader", "encrypt": "false", ${more} },
      { "name": "File", "platform": "duckdb", "file": "data/w.duckdb", "readOnly": true },
    ],
  }`;

  test('are found by name in the settings of the folder upwards; the password comes from the environment', async () => {
    const server = await serveWarehouse({
      users: { loader: 'p@ss wörd' },
      handler: script(rule('EXEC dw.Load', [print('hello'), rows(['inserted int'], [[3]])])),
    });
    const terminal = await openTerminal({
      '.vscode/settings.json': settings(server.port),
      'deep/er/load.sql': 'EXEC dw.Load\nGO\n',
    });
    const called = await terminal.call('run', 'deep/er/load.sql', '--connection', 'house', '--json');
    expect(called).toMatchObject({ code: 1, out: '' });
    expect(called.err[0]).toMatch(/Login failed/);
    terminal.env['MERGEWRIGHT_PASSWORD'] = 'p@ss wörd';
    const good = await terminal.call('run', 'deep/er/load.sql', '--connection', 'House', '--json');
    expect(good.code).toBe(0);
    expect(resultOf(good)).toMatchObject({
      counts: { inserted: 3 },
      batches: [{ text: 'EXEC dw.Load\n', messages: ['hello'] }],
    });
    expect(JSON.stringify([good, called])).not.toContain('p@ss');
  });

  test('a run whose end is not seen has null counts and prints the query that finds out', async () => {
    const server = await serveWarehouse({ handler: script(rule('INSERT', [disconnect('reset')])) });
    const terminal = await openTerminal({
      '.vscode/settings.json': settings(server.port),
      'ddl.sql': ddl,
      'load.sql': 'INSERT INTO dbo.Unit SELECT 1, NULL, NULL, NULL, 1;',
    });
    const called = await terminal.call('run', 'load.sql', '--connection', 'House', '--json', '--ddl', 'ddl.sql');
    expect(called.code).toBe(1);
    const { status, counts } = resultOf(called);
    expect({ status, counts: Object.values(counts) }).toEqual({
      status: 'unknown',
      counts: countNames.map(() => null),
    });
    expect(called.err.at(-1)).toMatch(/SELECT TOP \(10\)\s+t\.\[valid_from\][\s\S]*FROM \[dbo\]\.\[Unit\]/);
  });

  test('that are protected need --yes with their name', async () => {
    const server = await serveWarehouse({ handler: script(rule('EXEC', [rows(['inserted int'], [[1]])])) });
    const terminal = await openTerminal({
      '.vscode/settings.json': settings(server.port, '"protected": true'),
      'l.sql': 'EXEC x',
    });
    const run = (...more: string[]) => terminal.call('run', 'l.sql', '--connection', 'House', '--json', ...more);
    for (const args of [[], ['--yes', 'house2']]) {
      const called = await run(...args);
      expect(called).toMatchObject({ code: 2, out: '' });
      expect(called.err[0]).toMatch(/"House" is protected; add --yes House/);
    }
    expect(server.recorder.entries).toEqual([]);
    expect((await run('--yes', 'House')).code).toBe(0);
  });

  test('that are read-only take nothing but reads', async () => {
    const terminal = await openTerminal({
      '.vscode/settings.json': settings(1),
      'data/ddl.sql': ddl,
      'write.sql': 'INSERT INTO dbo."Unit" SELECT 1;',
      'hidden.sql': 'EXEC x',
      'read.sql': 'SELECT count(*) AS unchanged FROM dbo."Unit";',
    });
    await terminal.call('seed', '--ddl', 'data', '--connection', 'duckdb:data/w.duckdb');
    for (const name of ['write.sql', 'hidden.sql']) {
      const called = await terminal.call('run', name, '--connection', 'File');
      expect(called).toMatchObject({ code: 2 });
      expect(called.err[0]).toMatch(/is read-only, and this script is not proved to be a read/);
    }
    const read = await terminal.call('run', 'read.sql', '--connection', 'File', '--json');
    expect(resultOf(read).counts.unchanged).toBe(0);
  });

  test.each<[string, string, RegExp]>([
    ['no settings', '{}', /There is no connection "Home": no \.vscode\/settings\.json/],
    ['another name', settings(1), /There is no connection "Home": known are House, File/],
    ['settings that are no JSON', '{ "a": ', /no valid JSON/],
    ['a list that is none', '{ "mergewright.connections": 5 }', /must be a list/],
    [
      'a profile with a password',
      '{ "mergewright.connections": [{ "name": "Home", "platform": "sqlserver", "server": "x", "password": "p" }] }',
      /holds a password/,
    ],
  ])('%s is one clear line', async (_, content, message) => {
    const terminal = await openTerminal({ '.vscode/settings.json': content, 'l.sql': 'SELECT 1' });
    const called = await terminal.call('run', 'l.sql', '--connection', 'Home');
    expect(called).toMatchObject({ code: 2, out: '' });
    expect(called.err).toHaveLength(1);
    expect(called.err[0]).toMatch(message);
  });
});

test.each<[string, readonly string[], RegExp]>([
  ['no script', ['run', '--connection', 'duckdb::memory:'], /Name one script/],
  ['a script that is not there', ['run', 'none.sql', '--connection', 'duckdb::memory:'], /none\.sql can't be read/],
  ['no connection', ['run', 'l.sql'], /--connection/],
  ['a password in the address', ['run', 'l.sql', '--connection', 'mssql://u:p@h/d'], /MERGEWRIGHT_PASSWORD/],
  ['an unknown option of the address', ['run', 'l.sql', '--connection', 'mssql://u@h/d?secure=1'], /"secure"/],
  ['Databricks', ['run', 'l.sql', '--connection', 'databricks://x'], /not available yet/],
  ['Spark', ['run', 'l.sql', '--connection', 'spark:local'], /not available yet/],
  [
    'a database file that is not there',
    ['run', 'l.sql', '--connection', 'duckdb:none.duckdb'],
    /does not exist; create it with mergewright seed/,
  ],
  ['a parameter without a value', ['run', 'l.sql', '--connection', 'duckdb::memory:', '--param', 'x'], /NAME=VALUE/],
  [
    'T-SQL by hand on the embedded engine',
    ['run', 't.sql', '--connection', 'duckdb::memory:'],
    /written for sqlserver/,
  ],
  ['an unknown command', ['rum', 'l.sql'], /There is no command "rum"/],
  [
    'a preview of a script that writes nothing',
    ['preview', 'l.sql', '--connection', 'duckdb::memory:'],
    /No preview: .*writes to no table/,
  ],
])('%s: exit 2 and one line', async (_, args, message) => {
  const terminal = await openTerminal({
    'l.sql': 'SELECT 1;',
    't.sql': 'DECLARE @x int = 1;\nGO\nSELECT [a] FROM [dbo].[t];',
  });
  const called = await terminal.call(...args);
  expect(called).toMatchObject({ code: 2, out: '' });
  expect(called.err).toHaveLength(1);
  expect(called.err[0]).toMatch(message);
});

test('a server that nobody reaches is a failed run, not a wrong call: exit 1 and one line', async () => {
  const terminal = await openTerminal({ 'l.sql': 'SELECT 1;' });
  const called = await terminal.call('run', 'l.sql', '--connection', 'mssql://u@localhost:1/d?encrypt=false');
  expect(called).toEqual({ code: 1, out: '', err: ['Nothing listens at localhost:1. Check server and port.'] });
});

test('a transaction that a script leaves open is rolled back, and said', async () => {
  const server = await serveWarehouse({
    handler: script(rule('load', [begin(), error({ number: 547, text: 'conflict', line: 1 })])),
  });
  const terminal = await openTerminal({ 'l.sql': 'load' });
  const called = await terminal.call(
    'run',
    'l.sql',
    '--connection',
    `mssql://u@localhost:${server.port}/d?encrypt=false`,
  );
  expect(called.code).toBe(1);
  expect(called.err).toEqual([
    '547: conflict (batch 1, line 1). The open transaction was rolled back. mergewright preview names the keys and the missing values; correct them in the source or in the script.',
  ]);
  expect(server.sessions[0]).toMatchObject({ commits: 0 });
});

test('describe writes the DDL of live tables', async () => {
  const terminal = await openTerminal({ 'ddl.sql': ddl });
  await terminal.call('seed', '--ddl', 'ddl.sql', '--connection', 'duckdb:w.duckdb');
  const called = await terminal.call('describe', 'dbo.StageUnit', '--connection', 'duckdb:w.duckdb');
  expect(called).toMatchObject({ code: 0, err: [] });
  const session = await openSession(duckdbSettings(), null);
  onTestFinished(() => session.close());
  await query(session, `CREATE SCHEMA dbo; ${called.out}`);
  const missing = await terminal.call('describe', 'dbo.None', '--connection', 'duckdb:w.duckdb');
  expect(missing).toMatchObject({
    code: 2,
    out: '',
    err: ['The database has no table dbo.None; check its name and schema.'],
  });
});
