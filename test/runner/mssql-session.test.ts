import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CellValue } from '../../protocol/run.ts';
import { readConnectionText } from '../../runner/src/connection-text.ts';
import { productWarnings } from '../../runner/src/drivers/mssql-product.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query } from '../../runner/src/queries.ts';
import type { BatchEnd, EngineError, Session } from '../../runner/src/session.ts';
import {
  begin,
  commit,
  disconnect,
  error,
  onAttention,
  print,
  rows,
  on as rule,
  script,
  stall,
} from '../support/tds/answers.ts';
import { certificate } from '../support/tds/certificate.ts';
import { mssqlSettings } from './settings.ts';
import { openOn, serveWarehouse } from './warehouse-server.ts';

interface Heard {
  readonly end: BatchEnd;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CellValue[])[];
  readonly messages: readonly string[];
  readonly errors: readonly EngineError[];
}

function execute(session: Session, text: string): Promise<Heard> {
  const heard = {
    columns: [] as string[],
    rows: [] as (readonly CellValue[])[],
    messages: [] as string[],
    errors: [] as EngineError[],
  };
  return session
    .execute(text, {
      columns: (columns) => heard.columns.push(...columns.map(({ name, type }) => `${name} ${type}`)),
      rows: (chunk) => heard.rows.push(...chunk),
      message: (message) => heard.messages.push(message),
      error: (one) => heard.errors.push(one),
    })
    .then((end) => ({ end, ...heard }));
}

test('the server says where the session is, and USE is followed', async () => {
  const server = await serveWarehouse();
  const session = await openOn(server, { database: 'dwh' });
  expect(session.facts).toEqual({
    platform: 'sqlserver',
    server: 'WH01',
    database: 'dwh',
    login: 'loader',
    about: ['Microsoft SQL Server 2022 · 16.0.1000 · Developer Edition', 'not encrypted'],
    warnings: [],
  });
  await session.changeDatabase('sta]ging');
  expect(session.facts.database).toBe('sta]ging');
  expect(server.recorder.sql().at(-1)).toBe('USE [sta]]ging]');
});

test('a server that is no such platform as the profile says is told', async () => {
  const server = await serveWarehouse();
  const session = await openOn(server, { platform: 'synapse' });
  expect(session.facts.warnings).toEqual([
    'The server is SQL Server, but the profile says synapse. Set "platform" of the profile to "sqlserver", else texts are made for another engine.',
  ]);
});

test.each([
  ['sqlserver', 3, '16.0.1000.6', 'dwh01', null],
  ['sqlserver', 3, '13.0.5026.0', 'dwh01', /SQL Server 2016: say "platform": "sqlserver:2016" in mergewright\.json/],
  ['sqlserver', 5, '12.0.2000.8', 'x.database.windows.net', /is Azure SQL Database, .* to "azuresql"/],
  ['azuresql', 5, '12.0.2000.8', 'x.database.windows.net', null],
  ['sqlserver', 8, '12.0.2000.8', 'mi.database.windows.net', null],
  ['azuresql', 6, '10.0.15225.0', 'x.sql.azuresynapse.net', /dedicated SQL pool, .* to "synapse"/],
  [
    'synapse',
    11,
    '12.0.2000.8',
    'x-ondemand.sql.azuresynapse.net',
    /serverless SQL pool, .* No platform stands for it/,
  ],
  ['fabric', 11, '12.0.2000.8', 'x.datawarehouse.fabric.microsoft.com', null],
  ['synapse', 11, '12.0.2000.8', 'x.datawarehouse.fabric.microsoft.com', /is Microsoft Fabric, .* to "fabric"/],
  ['sqlserver', 0, '', 'unheard-of', null],
] as const)('a profile of %s on engine edition %i of %s at %s', (platform, engineEdition, version, host, said) => {
  const warnings = productWarnings(platform, { engineEdition, version, host }).join(' ');
  if (said === null) expect(warnings).toBe('');
  else expect(warnings).toMatch(said);
});

test('one connection, the text as it is, values without a lost digit', async () => {
  const server = await serveWarehouse({
    handler: script(
      rule('SELECT everything', [
        rows(
          [
            'b bigint',
            'i int',
            't tinyint',
            'd decimal(10,2)',
            'wide decimal(38,10)',
            'm money',
            'd7 datetime2(7)',
            'dt datetime',
            'day date',
            'clock time(3)',
            'bytes varbinary(4)',
            'yes bit',
            'n nvarchar(20)',
            'nothing int',
            '__proto__ varchar(3)',
            'i int',
          ],
          [
            [
              '9007199254740993',
              -5,
              200,
              '-12.30',
              '12345678901234567890.1234567891',
              '1.5000',
              '2026-03-01 23:59:59.1234567',
              '2026-03-01 23:59:59.997',
              '0001-01-01',
              '10:20:30.5',
              Buffer.from('0aff', 'hex'),
              true,
              'Łódź',
              null,
              'x',
              2,
            ],
          ],
        ),
      ]),
    ),
  });
  const session = await openOn(server);
  const text = "SELECT everything -- as it is\r\n\t'€'";
  const heard = await execute(session, text);
  expect(heard.errors).toEqual([]);
  expect(server.recorder.sql().at(-1)).toBe(text);
  expect(heard.rows).toEqual([
    [
      '9007199254740993',
      -5,
      200,
      '-12.30',
      expect.stringMatching(/^≈12345678901234567/),
      '1.5000',
      '2026-03-01 23:59:59.1234567',
      '2026-03-01 23:59:59.997',
      '0001-01-01',
      '10:20:30.500',
      '0aff',
      true,
      'Łódź',
      null,
      'x',
      2,
    ],
  ]);
  expect(heard.columns.slice(0, 8)).toEqual([
    'b bigint',
    'i int',
    't tinyint',
    'd decimal(10,2)',
    'wide decimal(38,10)',
    'm money',
    'd7 datetime2(7)',
    'dt datetime',
  ]);
  expect(server.openSessions).toHaveLength(1);
});

test('every error of a batch comes with its line; one of a procedure stands on its call', async () => {
  const server = await serveWarehouse({
    handler: script(
      rule('EXEC dw.Load', [
        print('hello'),
        error({ number: 207, text: "Invalid column name 'x'.", line: 3 }),
        error({ number: 50010, text: 'duplicate_key: K10, K20', line: 12, procedure: 'dw.Load' }),
      ]),
    ),
  });
  const session = await openOn(server);
  const heard = await execute(session, 'SET NOCOUNT ON;\n\nEXEC dw.Load;');
  expect(heard.end).toEqual({ kind: 'finished' });
  expect(heard.messages).toEqual(['hello']);
  expect(heard.errors).toEqual([
    { code: '207', message: "Invalid column name 'x'.", line: 2 },
    { code: 'duplicate_key', message: 'duplicate_key: K10, K20 (procedure dw.Load, line 12)', line: 2 },
  ]);
});

test('transactions are known without a query', async () => {
  const server = await serveWarehouse();
  const session = await openOn(server);
  await execute(session, 'BEGIN TRANSACTION');
  expect(session.inTransaction).toBe(true);
  await session.endTransaction('rollback');
  expect(session.inTransaction).toBe(false);
  expect(server.recorder.sql().slice(-2)).toEqual(['BEGIN TRANSACTION', 'ROLLBACK TRANSACTION']);
});

test('a cancel is acknowledged; what stays is known by the transaction', async () => {
  const server = await serveWarehouse({
    handler: script(rule('open', [begin(), stall()]), rule('autocommit', [stall()])),
  });
  const session = await openOn(server);
  const running = execute(session, 'open');
  await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === 'open');
  session.cancel();
  expect((await running).end).toEqual({ kind: 'cancelled', effect: 'rolled-back' });
  expect(session.inTransaction).toBe(true);
  await session.endTransaction('rollback');
  const second = execute(session, 'autocommit');
  await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === 'autocommit');
  session.cancel();
  expect((await second).end).toEqual({ kind: 'cancelled', effect: 'partly' });
});

test('a cancel that crosses the commit says that it was committed', async () => {
  const server = await serveWarehouse({
    handler: script(rule('load', [begin(), onAttention('stop', [commit()]), stall()])),
  });
  const session = await openOn(server);
  const running = execute(session, 'load');
  await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === 'load');
  session.cancel();
  expect((await running).end).toEqual({ kind: 'cancelled', effect: 'committed' });
  expect(server.sessions[0]?.commits).toBe(1);
});

test('a lost connection stays lost', async () => {
  const server = await serveWarehouse({ handler: script(rule('bye', [disconnect('reset')])) });
  const session = await openOn(server);
  const heard = await execute(session, 'bye');
  expect(heard.end).toMatchObject({ kind: 'lost', sent: true });
  expect(session.isLost).toBe(true);
  await expect(session.lost).resolves.toContain('lost');
  expect(await execute(session, 'again')).toMatchObject({ end: { kind: 'lost', sent: false } });
  expect(server.recorder.sql()).not.toContain('again');
});

test('a connection that ends between two batches is told', async () => {
  const server = await serveWarehouse();
  const session = await openOn(server);
  await server.close();
  await expect(session.lost).resolves.toMatch(/closed|lost/);
});

test('an encrypted session, by name of its authority', async () => {
  const place = await mkdtemp(join(tmpdir(), 'mergewright-'));
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  const caFile = join(place, 'ca.pem');
  await writeFile(caFile, certificate);
  const server = await serveWarehouse({ encryption: 'on' });
  const session = await openOn(server, { encrypt: 'true', caFile });
  expect(session.facts.about).toContain('encrypted');
  const strict = await serveWarehouse({ encryption: 'strict' });
  expect((await openOn(strict, { encrypt: 'strict', caFile })).facts.about).toContain('encrypted (TDS 8)');
  await expect(openSession(mssqlSettings(server.port, { encrypt: 'true' }), 'x')).rejects.toThrow(/is not trusted/);
});

test('encryption is not stripped: no login is sent to a server that answers "not supported"', async () => {
  const server = await serveWarehouse({ encryption: 'not-supported' });
  await expect(
    openSession(mssqlSettings(server.port, { encrypt: 'true', trustServerCertificate: true }), 'p@ss'),
  ).rejects.toThrow(/does not encrypt, so no login was sent/);
  expect(server.recorder.entries.map(({ kind }) => kind)).not.toContain('login');
});

test('refusals are the server’s own words, and never hold the secret', async () => {
  const server = await serveWarehouse({ users: { loader: 'right' }, databases: ['dwh'], tokens: ['good'] });
  const secret = 'wrong-secret';
  const refused = openSession(mssqlSettings(server.port), secret);
  await expect(refused).rejects.toThrow(/refused the login: Login failed for user 'loader'. \(error 18456\)/);
  await expect(refused).rejects.not.toThrow(secret);
  await expect(openSession(mssqlSettings(server.port, { database: 'none' }), 'right')).rejects.toThrow(
    /Cannot open database/,
  );
  await expect(openSession(mssqlSettings(server.port, { auth: 'entra' }), null)).rejects.toThrow(/access token/);
  await expect(openSession(mssqlSettings(server.port, { user: null }), null)).rejects.toThrow(/SQL login/);
  const { port } = server;
  await server.close();
  await expect(openSession(mssqlSettings(port), 'right')).rejects.toThrow(/Nothing listens/);
});

test('token and Windows logins', async () => {
  const server = await serveWarehouse({ tokens: ['good'], users: { windows: '' }, encryption: 'on' });
  const more = { encrypt: 'true', trustServerCertificate: true } as const;
  const byToken = await openSession(mssqlSettings(server.port, { ...more, auth: 'entra', user: null }), 'good');
  await byToken.close();
  const byWindows = await openSession(
    mssqlSettings(server.port, { ...more, auth: 'ntlm', user: 'windows', domain: 'CORP' }),
    'x',
  );
  await byWindows.close();
  expect(server.recorder.entries.filter(({ kind }) => kind === 'login')).toHaveLength(2);
});

test('connecting can be cancelled', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const attempt = new AbortController();
  const opening = openSession(mssqlSettings(port), 'x', attempt.signal);
  attempt.abort();
  const started = Date.now();
  await expect(opening).rejects.toThrow(/cancelled/);
  expect(Date.now() - started).toBeLessThan(1000);
});

test('a result set of our own rejects with the error', async () => {
  const server = await serveWarehouse({
    handler: script(rule('bad', [error({ number: 208, text: "Invalid object name 'x'." })])),
  });
  const session = await openOn(server);
  await expect(query(session, 'bad')).rejects.toThrow("Invalid object name 'x'.");
});

// A real server is no part of CI: `MERGEWRIGHT_TEST_MSSQL=mssql://user@host:port/database` and MERGEWRIGHT_PASSWORD name one.
const address = process.env['MERGEWRIGHT_TEST_MSSQL'];
if (address !== undefined) {
  test('the same holds on a real server', async () => {
    const read = readConnectionText(address);
    if (read.kind !== 'settings') throw new Error(`MERGEWRIGHT_TEST_MSSQL is no address: ${address}`);
    const session = await openSession(read.settings, process.env['MERGEWRIGHT_PASSWORD'] ?? null);
    onTestFinished(() => session.close());
    expect(session.facts.server).not.toBe('');
    const heard = await execute(
      session,
      "SELECT CAST(9007199254740993 AS bigint) AS b, CAST('2026-03-01T23:59:59.1234567' AS datetime2(7)) AS t;",
    );
    expect(heard.rows).toEqual([['9007199254740993', '2026-03-01 23:59:59.1234567']]);
    await execute(session, 'CREATE TABLE #t (a int); BEGIN TRANSACTION; INSERT INTO #t VALUES (1);');
    expect(session.inTransaction).toBe(true);
    const running = execute(session, "WAITFOR DELAY '00:01:00'");
    setTimeout(() => session.cancel(), 200);
    expect((await running).end).toEqual({ kind: 'cancelled', effect: 'rolled-back' });
    await session.endTransaction('rollback');
    expect((await execute(session, 'SELECT count(*) FROM #t')).rows).toEqual([[0]]);
    expect((await execute(session, 'SELECT 1\n\nSELECT nothing FROM #t')).errors).toMatchObject([
      { code: '207', line: 2 },
    ]);
    await session.tables();
  });
}
