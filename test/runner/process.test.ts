import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ConnectionSettings } from '../../protocol/connection.ts';
import type { Batch, RunEvent } from '../../protocol/run.ts';
import type { FromRunner, RunnerMethod, RunnerRequests, SessionEnd, ToRunner } from '../../protocol/runner-process.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { queryRows } from '../../runner/src/queries.ts';
import { bundle } from '../support/bundle.ts';
import { begin, flush, raw, rows, on as rule, script, stall } from '../support/tds/answers.ts';
import { duckdbSettings, mssqlSettings } from './settings.ts';
import { serveWarehouse } from './warehouse-server.ts';

let program: string;

beforeAll(async () => {
  program = await bundle('runner/src/main.ts');
});

/** A client of the runner process, as small as the protocol allows. */
class Client {
  readonly child: ChildProcess;
  readonly events: RunEvent[] = [];
  readonly messages: FromRunner[] = [];
  #id = 0;

  constructor() {
    this.child = fork(program, [], { execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'json' });
    this.child.on('message', (message: FromRunner) => {
      this.messages.push(message);
      if (message.kind === 'event') this.events.push(message.event);
    });
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  send(message: ToRunner): void {
    this.child.send(message);
  }

  async request<M extends RunnerMethod>(kind: M, session: string, params: RunnerRequests[M]['params']) {
    this.#id += 1;
    const id = this.#id;
    const request = { kind, id, session, params };
    this.child.send(request);
    for (;;) {
      const answer = this.messages.find((message) => 'id' in message && message.id === id);
      if (answer?.kind === 'error') throw new Error(answer.message);
      if (answer?.kind === 'answer') return answer.value as RunnerRequests[M]['result'];
      await once(this.child, 'message');
    }
  }

  connect(session: string, settings: ConnectionSettings, secret: string | null = null) {
    return this.request('connect', session, { settings, secret });
  }

  run(session: string, ...texts: string[]): Promise<SessionEnd> {
    return this.request('run', session, { mode: 'run', batches: texts.map((text): Batch => ({ text, line: 0 })) });
  }

  async heard(matches: (message: FromRunner) => boolean): Promise<FromRunner> {
    for (;;) {
      const found = this.messages.find(matches);
      if (found !== undefined) return found;
      await once(this.child, 'message');
    }
  }
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'mergewright-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('sessions run side by side, one run at a time each', async () => {
  const client = new Client();
  const path = join(await folder(), 'house.duckdb');
  const description = await client.connect('a', duckdbSettings(path));
  expect(description).toMatchObject({
    facts: { name: 'embedded', platform: 'duckdb', database: 'house', environment: 'embedded' },
    isLost: false,
    openTransaction: false,
  });
  await client.connect('b', duckdbSettings(path));
  await expect(client.connect('a', duckdbSettings(path))).rejects.toThrow('open already');
  const end = await client.run('a', 'CREATE TABLE t (a INTEGER)', 'INSERT INTO t VALUES (1); SELECT 1 AS inserted');
  expect(end.result).toMatchObject({ status: 'done', counts: { inserted: 1 } });
  const [set] = await client.request('query', 'b', { batches: [{ text: 'SELECT a FROM t', line: 0 }] });
  expect(set?.rows).toEqual([[1]]);
  expect(await client.request('tables', 'b', null)).toEqual([
    { database: null, schema: 'main', name: 't', kind: 'table' },
  ]);
  const [described] = await client.request('describe', 'b', { tables: [{ database: null, schema: null, table: 't' }] });
  expect(described?.text).toBe('CREATE TABLE main.t (\n  a INTEGER\n);\n');
  const long = client.run('a', 'SELECT sum(a.range) FROM range(1000000) a, range(1000000) b');
  await expect(client.run('a', 'SELECT 1')).rejects.toThrow('still going on');
  client.send({ kind: 'cancel', session: 'a' });
  expect((await long).result.status).toBe('cancelled');
  expect((await client.run('a', 'BEGIN')).openTransaction).toBe(true);
  expect(await client.request('endTransaction', 'a', { action: 'rollback' })).toMatchObject({ openTransaction: false });
  await client.request('disconnect', 'a', null);
  await expect(client.run('a', 'SELECT 1')).rejects.toThrow('connect first');
});

test('what is asked of one session at once is done in turn', async () => {
  const client = new Client();
  const server = await serveWarehouse({ handler: script(rule('count', [rows(['n int'], [[1]])])) });
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  const batches = [{ text: 'count', line: 0 }];
  const reads = Array.from({ length: 5 }, () => client.request('query', 'a', { batches }));
  const run = client.run('a', 'SELECT 1');
  for (const sets of await Promise.all(reads)) expect(sets[0]?.rows).toEqual([[1]]);
  expect((await run).result.status).toBe('done');
});

test('bytes that are no TDS end the run as unknown, and the process goes on', async () => {
  const client = new Client();
  const server = await serveWarehouse({
    handler: script(rule('INSERT', [rows(['a int'], [[1]]), flush(), raw(Buffer.alloc(64, 0x41))])),
  });
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  const end = await client.run('a', 'INSERT INTO t SELECT 1');
  expect(end.result.status).toBe('unknown');
  expect(end.description.isLost).toBe(true);
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  expect((await client.run('a', 'SELECT 1')).result.status).toBe('done');
});

test('tokens that are no TDS end the run as unknown, and the process goes on', async () => {
  const client = new Client();
  const packet = Buffer.concat([Buffer.from([4, 1, 0, 40, 0, 0, 1, 0]), Buffer.alloc(32, 0x07)]);
  const server = await serveWarehouse({ handler: script(rule('INSERT', [raw(packet)])) });
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  const end = await client.run('a', 'INSERT INTO t SELECT 1');
  expect(end.result).toMatchObject({ status: 'unknown', error: { code: 'connection_lost' } });
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  expect((await client.run('a', 'SELECT 1')).result.status).toBe('done');
});

test('a connection that is lost between two runs is told', async () => {
  const client = new Client();
  const server = await serveWarehouse();
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  await server.close();
  expect(await client.heard(({ kind }) => kind === 'session')).toMatchObject({
    session: 'a',
    description: { isLost: true },
  });
});

test('connecting is cancelled by the session’s name', async () => {
  const client = new Client();
  const server = await serveWarehouse({ handler: script(rule('SERVERPROPERTY', [stall()])) });
  const connecting = client.connect('a', mssqlSettings(server.port), 'p@ss');
  await client.heard((message) => message.kind === 'event' && message.event.kind === 'state');
  await server.recorder.seen((entry) => entry.kind === 'login');
  client.send({ kind: 'cancel', session: 'a' });
  await expect(connecting).rejects.toThrow('Connecting was cancelled.');
});

test('killed in a load on the embedded engine, the target is unchanged or complete', async () => {
  const path = join(await folder(), 'house.duckdb');
  const first = new Client();
  await first.connect('a', duckdbSettings(path));
  await first.run('a', 'CREATE TABLE t (a BIGINT)');
  void first.run(
    'a',
    'BEGIN; INSERT INTO t SELECT * FROM range(1000); INSERT INTO t SELECT sum(a.range) FROM range(1000000) a, range(1000000) b; COMMIT;',
  );
  await first.heard(
    (message) =>
      message.kind === 'event' && message.event.kind === 'batch-started' && message.event.text.startsWith('BEGIN'),
  );
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const session = await openSession(duckdbSettings(path), null);
  onTestFinished(() => session.close());
  expect(await queryRows(session, 'SELECT count(*) FROM t')).toEqual([['0']]);
});

test('killed in a load on a server, the socket closes and nothing more is sent', async () => {
  const server = await serveWarehouse({ handler: script(rule('load', [begin(), stall()])) });
  const client = new Client();
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  void client.run('a', 'load', 'next');
  await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === 'load');
  client.child.kill('SIGKILL');
  expect(await server.recorder.seen(({ kind }) => kind === 'disconnect')).toMatchObject({ inTransaction: true });
  expect(server.recorder.sql()).not.toContain('next');
});

test('the process ends with its client, and rolls back', async () => {
  const server = await serveWarehouse({ handler: script(rule('load', [begin()])) });
  const client = new Client();
  await client.connect('a', mssqlSettings(server.port), 'p@ss');
  await client.run('a', 'load');
  client.child.disconnect();
  await once(client.child, 'exit');
  expect(await server.recorder.seen(({ kind }) => kind === 'disconnect')).toMatchObject({ inTransaction: true });
});

test('no secret leaves the process, whatever happens to the connection', async () => {
  const secret = 'canary-secret-5c2f';
  const client = new Client();
  const printed: string[] = [];
  client.child.stdout?.on('data', (chunk) => printed.push(String(chunk)));
  client.child.stderr?.on('data', (chunk) => printed.push(String(chunk)));
  const refusing = await serveWarehouse({ users: { loader: 'other' } });
  await expect(client.connect('a', mssqlSettings(refusing.port), secret)).rejects.toThrow('Login failed');
  const server = await serveWarehouse({ handler: script(rule('INSERT', [raw(Buffer.alloc(64, 0x41))])) });
  await client.connect('a', mssqlSettings(server.port), secret);
  await client.run('a', 'INSERT INTO t SELECT 1');
  expect(JSON.stringify(client.messages) + printed.join('')).not.toContain(secret);
  expect(client.child.spawnargs.join(' ')).not.toContain(secret);
});
