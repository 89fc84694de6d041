/** What the TDS test server answers: results, messages, scripts, transactions. */
import { once } from 'node:events';
import sql from 'mssql';
import { describe, expect, test } from 'vitest';
import {
  affected,
  begin,
  commit,
  disconnect,
  done,
  error,
  info,
  on,
  print,
  procedure,
  rows,
  script,
  stall,
  until,
} from '../support/tds/answers.ts';
import { connectDriver, connectPool, gate, sendBatch, serve } from './tds-clients.ts';

describe('an answer', () => {
  test('holds several result sets, empty ones, and columns of equal names or none', async () => {
    const server = await serve({
      handler: script(
        on('all', [
          rows(
            ['id int', 'name nvarchar(10)'],
            [
              [1, 'a'],
              [2, null],
            ],
          ),
          rows(['id int'], []),
          rows(['[] int', 'id int', 'id int', '__proto__ int', '[a ]]b] int not null'], [[1, 2, 3, 4, 5]]),
        ]),
      ),
    });
    const batch = sendBatch(await connectDriver(server), 'all');
    expect(await batch.end).toBeUndefined();
    expect(batch.heard).toEqual([
      { columns: ['id', 'name'] },
      { row: [1, 'a'] },
      { row: [2, null] },
      { done: 'statement', count: 2, more: true },
      { columns: ['id'] },
      { done: 'statement', count: 0, more: true },
      { columns: ['', 'id', 'id', '__proto__', 'a ]b'] },
      { row: [1, 2, 3, 4, 5] },
      { done: 'statement', count: 1, more: false },
    ]);
  });

  test('reaches a pool of the mssql package as record sets', async () => {
    const server = await serve({
      handler: script(on('MERGE', [affected(3), rows(['inserted int', 'expired int'], [[2, 1]], { counted: false })])),
    });
    const pool = await connectPool(server);
    const result = await pool.request().batch('MERGE dw.Customer …');
    expect(result.recordsets).toEqual([[{ inserted: 2, expired: 1 }]]);
    expect(result.rowsAffected).toEqual([3]);
    expect(server.recorder.sql()).toEqual(['MERGE dw.Customer …']);
  });

  test('through mssql can be cancelled, and its connection can be lost', async () => {
    const server = await serve({
      handler: script(on('wait', [print('waiting'), stall()]), on('drop', [affected(1), disconnect('reset')])),
    });
    const pool = await connectPool(server);
    const request = pool.request();
    const waiting = request.batch('wait');
    request.on('info', () => request.cancel());
    await expect(waiting).rejects.toMatchObject({ code: 'ECANCEL' });
    await expect(pool.request().batch('drop')).rejects.toMatchObject({ code: 'ECONNRESET' });
    // The pool opens another session by itself: a run that must stay on one session cannot use it.
    await expect(pool.request().batch('SELECT 1')).resolves.toMatchObject({ rowsAffected: [1] });
    const sessions = server.recorder.entries.flatMap((entry) => (entry.kind === 'batch' ? [entry.session] : []));
    expect(sessions).toEqual([2, 2, 3]);
  });

  test('has the counts of a procedure inside it, and its return status', async () => {
    const server = await serve({
      handler: script(on('EXEC', [affected(1), procedure([affected(2), done()], 5), done()])),
    });
    const batch = sendBatch(await connectDriver(server), 'EXEC dw.Load');
    expect(await batch.end).toBeUndefined();
    expect(batch.heard).toEqual([
      { done: 'statement', count: 1, more: true },
      { done: 'in procedure', count: 2, more: true },
      { done: 'in procedure', count: undefined, more: true },
      { returned: 5 },
      { done: 'procedure', count: undefined, more: true },
      { done: 'statement', count: undefined, more: false },
    ]);
  });

  test('has several errors, each with number, procedure and line', async () => {
    const server = await serve({
      handler: script(
        on('load', [
          error({ number: 2627, text: 'Violation of PRIMARY KEY', class: 14, line: 3 }),
          info({ number: 3621, text: 'The statement has been terminated.', class: 0 }),
          done(),
          error({ number: 8134, text: 'Divide by zero', line: 12, procedure: 'dw.Load' }),
        ]),
      ),
    });
    const connection = await connectDriver(server);
    const batch = sendBatch(connection, 'load');
    expect(await batch.end).toBe('EREQUEST');
    expect(batch.heard).toEqual([
      { error: 'Violation of PRIMARY KEY', number: 2627, procedure: '', line: 3 },
      { message: 'The statement has been terminated.', number: 3621, class: 0, line: 1 },
      { done: 'statement', count: undefined, more: true },
      { error: 'Divide by zero', number: 8134, procedure: 'dw.Load', line: 12 },
      { done: 'statement', count: undefined, more: false },
    ]);
    const pool = await connectPool(server);
    await expect(pool.request().batch('load')).rejects.toMatchObject({
      code: 'EREQUEST',
      number: 8134,
      class: 16,
      state: 1,
      lineNumber: 12,
      procName: 'dw.Load',
      serverName: 'TDS-TEST',
      precedingErrors: [{ number: 2627, class: 14, lineNumber: 3 }],
    });
  });

  test('sends messages before its end when it is told to', async () => {
    const { opened, open } = gate();
    const server = await serve({
      handler: script(
        on('slow', async function* () {
          yield print('one');
          yield info({ number: 50000, text: 'two', class: 1, line: 2 });
          yield until(opened);
          yield print('three', 9);
        }),
      ),
    });
    const connection = await connectDriver(server);
    const second = new Promise((resolve) => {
      connection.on('infoMessage', ({ message: text }) => text === 'two' && resolve(undefined));
    });
    const batch = sendBatch(connection, 'slow');
    await second;
    expect(batch.heard).toEqual([
      { message: 'one', number: 0, class: 0, line: 1 },
      { message: 'two', number: 50000, class: 1, line: 2 },
    ]);
    open();
    expect(await batch.end).toBeUndefined();
    expect(batch.heard.slice(2)).toEqual([
      { message: 'three', number: 0, class: 0, line: 9 },
      { done: 'statement', count: undefined, more: false },
    ]);
  });

  test('of 100,000 rows comes within seconds', async () => {
    const many = Array.from({ length: 100_000 }, (_, index) => [index, `name ${index}`, '2024-02-29 12:34:56.1234567']);
    const columns = ['id int not null', 'name nvarchar(50)', 'loaded datetime2(7)'];
    const server = await serve({ handler: script(on('many', [rows(columns, many)])) });
    const pool = await connectPool(server);
    const started = process.cpuUsage();
    const { recordset } = await pool.request().batch('many');
    const { user, system } = process.cpuUsage(started);
    expect(recordset).toHaveLength(100_000);
    expect(recordset[99_999]).toMatchObject({ id: 99_999, name: 'name 99999' });
    // Microseconds of this process, in which server and client both are: other tests on the machine do not count.
    expect(user + system).toBeLessThan(5_000_000);
  });
});

describe('a script', () => {
  test('answers by the first rule that matches, so often as it says', async () => {
    const server = await serve({
      handler: script(
        on('deadlock', [error({ number: 1205, text: 'victim', class: 13 })], 1),
        on(/^deadlock$/, [affected(1)]),
        on(
          (request) => request.kind === 'batch' && request.sql.endsWith('!'),
          (request, session) => [print(`${request.sql} ${session.id}`)],
        ),
      ),
    });
    const connection = await connectDriver(server);
    expect(await sendBatch(connection, 'DEADLOCK').end).toBe('EREQUEST');
    expect(await sendBatch(connection, 'deadlock').end).toBeUndefined();
    const shout = sendBatch(connection, 'hey!');
    await shout.end;
    expect(shout.heard[0]).toMatchObject({ message: 'hey! 1' });
  });

  test('that does not know the text, or fails, answers an error that says so', async () => {
    const server = await serve({ handler: script(on('bad', [rows(['id tinyint'], [[300]])])) });
    const connection = await connectDriver(server);
    const unknown = sendBatch(connection, 'SELECT 2');
    await unknown.end;
    expect(unknown.heard[0]).toMatchObject({
      number: 50000,
      error: expect.stringContaining('no answer for:  SELECT 2'),
    });
    const failing = sendBatch(connection, 'bad');
    await failing.end;
    expect(failing.heard).toContainEqual(
      expect.objectContaining({ error: expect.stringContaining('300 does not fit into 1 bytes') }),
    );
  });

  test('can be replaced between two requests', async () => {
    const server = await serve();
    const connection = await connectDriver(server);
    server.handler = script(on('x', [affected(1)]));
    expect(await sendBatch(connection, 'x').end).toBeUndefined();
    server.handler = script();
    expect(await sendBatch(connection, 'x').end).toBe('EREQUEST');
  });

  test('sees the statement and the parameters of sp_executesql, and the procedure of a call', async () => {
    const server = await serve({ handler: (request) => [request.kind === 'rpc' ? affected(2) : done()] });
    const pool = await connectPool(server);
    const result = await pool.request().input('key', sql.Int, 5).input('at', sql.NVarChar, 'x').query('SELECT @key');
    expect(result.rowsAffected).toEqual([2]);
    const called = await pool.request().input('day', sql.Date, '2024-02-29').execute('dw.Load');
    expect(called.returnValue).toBe(0);
    expect(server.recorder.entries.filter(({ kind }) => kind === 'rpc')).toEqual([
      { session: 2, kind: 'rpc', procedure: 'sp_executesql', sql: 'SELECT @key', parameters: { key: 5, at: 'x' } },
      { session: 2, kind: 'rpc', procedure: 'dw.Load', sql: '', parameters: { day: '2024-02-29' } },
    ]);
  });
});

describe('a transaction', () => {
  test('is followed by the driver without a query', async () => {
    const server = await serve({
      handler: script(
        on('whole', [begin(), affected(1), commit()]),
        on('open', [begin(), begin(), affected(1), commit()]),
      ),
    });
    const connection = await connectDriver(server);
    const inTransaction = async (text: string) => {
      await sendBatch(connection, text).end;
      return [Reflect.get(connection, 'inTransaction'), server.sessions[0]?.transactionCount];
    };
    expect(await inTransaction('BEGIN TRANSACTION')).toEqual([true, 1]);
    expect(await inTransaction('begin tran;')).toEqual([true, 2]);
    expect(await inTransaction('COMMIT')).toEqual([true, 1]);
    expect(await inTransaction('COMMIT TRANSACTION;')).toEqual([false, 0]);
    expect(await inTransaction('whole')).toEqual([false, 0]);
    expect(await inTransaction('open')).toEqual([true, 1]);
    expect(await inTransaction('IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;')).toEqual([false, 0]);
    expect(await inTransaction('IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;')).toEqual([false, 0]);
    expect(server.sessions).toMatchObject([{ commits: 2, rollbacks: 1 }]);
  });

  test('that was not begun cannot be ended', async () => {
    const connection = await connectDriver(await serve());
    for (const [text, number] of [
      ['COMMIT', 3902],
      ['ROLLBACK', 3903],
    ] as const) {
      const batch = sendBatch(connection, text);
      expect(await batch.end).toBe('EREQUEST');
      expect(batch.heard[0]).toMatchObject({ number });
    }
  });

  test('can be begun by a request of its own', async () => {
    const server = await serve({ handler: script(on('x', [affected(1)])) });
    const pool = await connectPool(server);
    const transaction = pool.transaction();
    await transaction.begin();
    await transaction.request().batch('x');
    await transaction.commit();
    await transaction.begin();
    await transaction.rollback();
    expect(server.sessions.at(-1)).toMatchObject({ commits: 1, rollbacks: 1, transactionCount: 0 });
    expect(server.recorder.entries.filter(({ session }) => session === 2).map((entry) => entry.kind)).toEqual([
      'connect',
      'login',
      'settings',
      'transaction',
      'batch',
      'transaction',
      'transaction',
      'transaction',
    ]);
  });
});

test('USE changes the database and is told to the client', async () => {
  const server = await serve();
  const connection = await connectDriver(server);
  const changed = once(connection, 'databaseChange');
  const batch = sendBatch(connection, 'USE [My ]] Data];');
  expect(await changed).toEqual(['My ] Data']);
  await batch.end;
  expect(batch.heard[0]).toMatchObject({ number: 5701 });
  expect(server.sessions[0]?.database).toBe('My ] Data');
});
