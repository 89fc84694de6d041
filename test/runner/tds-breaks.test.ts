/** How a request on the TDS test server ends before its answer does: attention, lost connections, bytes that are no TDS. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  affected,
  begin,
  commit,
  disconnect,
  flush,
  on,
  onAttention,
  print,
  raw,
  rollback,
  rows,
  script,
  stall,
  until,
} from '../support/tds/answers.ts';
import { message, packetType } from '../support/tds/packets.ts';
import { connectDriver, gate, kinds, RawClient, seen, sendBatch, serve } from './tds-clients.ts';

describe('an attention', () => {
  test('ends an answer that waits; the session stays', async () => {
    const server = await serve({ handler: script(on('wait', [print('before'), affected(3), stall()])) });
    const connection = await connectDriver(server);
    const batch = sendBatch(connection, 'WAIT');
    await once(connection, 'infoMessage');
    batch.cancel();
    expect(await batch.end).toBe('ECANCEL');
    expect(await sendBatch(connection, 'BEGIN TRAN').end).toBeUndefined();
    expect(kinds(server)).toEqual(['connect', 'login', 'settings', 'batch', 'attention', 'batch']);
  });

  test('ends a long answer in the middle', async () => {
    let read = 0;
    const endless = function* () {
      for (;;) {
        read += 1;
        yield [read];
      }
    };
    const server = await serve({ handler: script(on('endless', [rows(['n int'], endless())])) });
    const connection = await connectDriver(server);
    const batch = sendBatch(connection, 'endless');
    await expect.poll(() => batch.heard.length).toBeGreaterThan(1000);
    batch.cancel();
    expect(await batch.end).toBe('ECANCEL');
    const atEnd = read;
    expect(await sendBatch(connection, 'SET NOCOUNT ON').end).toBeUndefined();
    expect(read).toBe(atEnd);
  });

  test('may roll back, as XACT_ABORT does', async () => {
    const server = await serve({
      handler: script(on('wait', [begin(), print('begun'), onAttention('stop', [rollback()]), stall()])),
    });
    const connection = await connectDriver(server);
    const batch = sendBatch(connection, 'wait');
    await once(connection, 'infoMessage');
    expect(Reflect.get(connection, 'inTransaction')).toBe(true);
    batch.cancel();
    expect(await batch.end).toBe('ECANCEL');
    expect(Reflect.get(connection, 'inTransaction')).toBe(false);
    expect(server.sessions).toMatchObject([{ commits: 0, rollbacks: 1 }]);
  });

  test('may meet a commit that it does not stop', async () => {
    const { opened, open } = gate();
    const server = await serve({
      handler: script(on('commit', [begin(), affected(1), onAttention('finish'), until(opened), commit()])),
    });
    const connection = await connectDriver(server);
    const batch = sendBatch(connection, 'commit');
    await seen(server, 'batch');
    batch.cancel();
    await seen(server, 'attention');
    open();
    expect(await batch.end).toBe('ECANCEL');
    expect(server.sessions).toMatchObject([{ commits: 1, rollbacks: 0, open: true }]);
    expect(await sendBatch(connection, 'BEGIN TRAN').end).toBeUndefined();
  });

  test('may stay without an acknowledgement', async () => {
    const server = await serve({ handler: script(on('wait', [onAttention('ignore'), stall()])) });
    const connection = await connectDriver(server, { cancelTimeout: 20 });
    const batch = sendBatch(connection, 'wait');
    await seen(server, 'batch');
    batch.cancel();
    expect(await batch.end).toBe('ETIMEOUT');
    await seen(server, 'disconnect');
    expect(kinds(server).slice(3)).toEqual(['batch', 'attention', 'disconnect']);
  });

  test('without a request is acknowledged by a message of its own', async () => {
    const server = await serve();
    const client = new RawClient(server);
    await client.logIn();
    client.send(message(packetType.attention, Buffer.alloc(0), 4096));
    const attentionDone = Buffer.from([0xfd, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(await client.receive()).toEqual(attentionDone);
  });

  test('after an answer that was cut comes in a second message', async () => {
    const server = await serve({ handler: script(on('wait', [affected(3), stall()])) });
    const client = new RawClient(server);
    await client.logIn();
    client.sendBatch('wait');
    await seen(server, 'batch');
    client.send(message(packetType.attention, Buffer.alloc(0), 4096));
    const cut = await client.receive();
    expect(cut.subarray(0, 3).toString('hex')).toBe('fd1100');
    expect(cut.subarray(13, 16).toString('hex')).toBe('fd0200');
    expect((await client.receive()).subarray(0, 3).toString('hex')).toBe('fd2000');
  });
});

test('a request that its client gave up is not carried out', async () => {
  const server = await serve({ handler: () => [affected(1)] });
  const client = new RawClient(server);
  await client.logIn();
  const givenUp = message(packetType.batch, Buffer.from([4, 0, 0, 0, 120, 0]), 4096);
  const lastAndIgnored = 0x03;
  givenUp.writeUInt8(lastAndIgnored, 1);
  client.send(givenUp);
  const failed = Buffer.from([0xfd, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(await client.receive()).toEqual(failed);
  expect(kinds(server)).toEqual(['connect', 'login', 'abandoned']);
});

describe('a lost connection', () => {
  test.each(['end', 'reset'] as const)(
    '%s in mid answer reaches the driver; the transaction is rolled back',
    async (ending) => {
      const server = await serve({ handler: script(on('x', [begin(), rows(['n int'], [[1]]), disconnect(ending)])) });
      const connection = await connectDriver(server);
      const batch = sendBatch(connection, 'x');
      expect(await batch.end).toBe('ECONNRESET');
      await seen(server, 'disconnect');
      expect(server.sessions).toMatchObject([{ open: false, commits: 0, rollbacks: 1 }]);
      expect(server.recorder.entries.at(-1)).toEqual({ session: 1, kind: 'disconnect', inTransaction: true });
    },
  );

  test('on the client’s side ends the answer', async () => {
    const { opened, open } = gate();
    const server = await serve({
      handler: script(
        on('stop', [begin(), until(opened), commit()]),
        on('finish', [begin(), onAttention('finish'), until(opened), commit()]),
      ),
    });
    for (const text of ['stop', 'finish']) {
      const connection = await connectDriver(server);
      void sendBatch(connection, text);
      await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === text);
      connection.close();
    }
    await server.recorder.seen((entry) => entry.kind === 'disconnect' && entry.session === 2);
    open();
    await expect.poll(() => server.sessions.map(({ commits }) => commits)).toEqual([0, 1]);
    expect(server.sessions.map(({ rollbacks }) => rollbacks)).toEqual([1, 0]);
  });

  test('closing the server drops every session', async () => {
    const server = await serve({ handler: script(on('wait', [flush(), stall()])) });
    const connection = await connectDriver(server);
    const batch = sendBatch(connection, 'wait');
    await seen(server, 'batch');
    await server.close();
    expect(await batch.end).toBe('ECONNRESET');
    expect(server.openSessions).toEqual([]);
  });
});

describe('bytes that are no TDS', () => {
  test.each([
    {
      what: 'a TLS hello',
      bytes: Buffer.from('16030100a5010000a1030300', 'hex'),
      reason: 'packet type 22 is not known',
    },
    { what: 'a length under 8', bytes: Buffer.from('1201000700000000', 'hex'), reason: 'packet length 7 is shorter' },
    { what: 'a length of 0', bytes: Buffer.from('1201000000000000', 'hex'), reason: 'packet length 0 is shorter' },
    {
      what: 'a batch before the login',
      bytes: message(packetType.batch, Buffer.alloc(4), 4096),
      reason: 'PRELOGIN was',
    },
    { what: 'an empty PRELOGIN', bytes: message(packetType.prelogin, Buffer.alloc(0), 4096), reason: '' },
  ])('$what closes the socket', async ({ bytes, reason }) => {
    const server = await serve();
    const client = new RawClient(server);
    client.send(bytes);
    await client.closed();
    await seen(server, 'disconnect');
    expect(server.recorder.entries).toEqual([
      { session: 1, kind: 'connect' },
      { session: 1, kind: 'nonsense', reason: expect.stringContaining(reason) },
      { session: 1, kind: 'disconnect', inTransaction: false },
    ]);
  });

  test('can be sent by the server', async () => {
    const server = await serve({ handler: script(on('x', [raw(Buffer.from('HTTP/1.1 400 Bad Request')), stall()])) });
    const client = new RawClient(server);
    await client.logIn();
    client.sendBatch('x');
    await client.closed();
    expect(client.nonsense).toBe('HTTP/1.1 400 Bad Request');
  });
});
