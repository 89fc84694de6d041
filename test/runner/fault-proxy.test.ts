import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { affected, begin, commit, on, print, rows, script, stall } from '../support/tds/answers.ts';
import { packetType } from '../support/tds/packets.ts';
import type { Fault, FaultProxy } from '../support/tds/proxy.ts';
import type { TdsServer, TdsServerOptions } from '../support/tds/server.ts';
import { connectDriver, RawClient, sendBatch, serve, serveFaults } from './tds-clients.ts';

const load = script(
  on('load', [
    begin(),
    print('loading'),
    affected(3),
    rows(
      ['n int', 'name nvarchar(20)'],
      [
        [1, 'a'],
        [2, null],
      ],
    ),
    commit(),
  ]),
  on('wait', [stall()]),
);

async function start(
  options: TdsServerOptions = {},
): Promise<{ readonly server: TdsServer; readonly proxy: FaultProxy }> {
  const server = await serve({ handler: load, ...options });
  return { server, proxy: await serveFaults(server) };
}

/** Sends the load and waits until its answer ended or the fault struck, and the driver knows of it. */
async function run(proxy: FaultProxy, point: { readonly byte: number; readonly fault: Fault }) {
  const connection = await connectDriver(proxy);
  const struck = proxy.arm({ message: 1, ...point });
  const batch = sendBatch(connection, 'load');
  await struck;
  if (point.fault === 'stall' || point.fault === 'black-hole') connection.close();
  return { end: await batch.end, heard: batch.heard };
}

/** The load's answer in a run without a fault. */
async function cleanAnswer(proxy: FaultProxy) {
  const connection = await connectDriver(proxy);
  expect(await sendBatch(connection, 'load').end).toBeUndefined();
  const answer = proxy.messages.at(-1);
  if (answer === undefined) throw new Error('no message passed');
  connection.close();
  return answer;
}

describe('without a fault', () => {
  test('everything passes, and the messages are known', async () => {
    const { server, proxy } = await start();
    const connection = await connectDriver(proxy);
    const batch = sendBatch(connection, 'load');
    expect(await batch.end).toBeUndefined();
    expect(batch.heard).toContainEqual({ row: [2, null] });
    const types = proxy.messages.map(({ side, type }) => [side, type]);
    expect(types).toEqual([
      ['client', packetType.prelogin],
      ['server', packetType.answer],
      ['client', packetType.login],
      ['server', packetType.answer],
      ['client', packetType.batch],
      ['server', packetType.answer],
      ['client', packetType.batch],
      ['server', packetType.answer],
    ]);
    expect(proxy.messages.every(({ complete, packetEnds, length }) => complete && packetEnds.at(-1) === length)).toBe(
      true,
    );
    // 22 bytes of headers and four characters after the packet's own header.
    expect(proxy.messages.at(-2)).toMatchObject({ connection: 1, length: 38, packetEnds: [38] });
    expect(server.sessions).toMatchObject([{ commits: 1 }]);
  });

  test('the end of either side passes', async () => {
    const { server, proxy } = await start();
    const left = await connectDriver(proxy);
    left.close();
    await server.recorder.seen(({ kind }) => kind === 'disconnect');
    const dropped = await connectDriver(proxy);
    const lost = once(dropped, 'end');
    await server.close();
    await lost;
    await expect.poll(() => proxy.openConnections).toBe(0);
    expect(proxy.connections).toBe(2);
  });

  test('TLS passes; its bare records count as messages', async () => {
    const { proxy } = await start({ encryption: 'on' });
    const batch = sendBatch(await connectDriver(proxy, { encrypt: true }), 'load');
    expect(await batch.end).toBeUndefined();
    expect(batch.heard).toContainEqual({ row: [1, 'a'] });
    expect(proxy.messages.at(-1)).toMatchObject({ side: 'server', type: 0x17, complete: true });
  });

  test('bytes that are no TDS pass as one message without an end', async () => {
    const { server, proxy } = await start();
    const client = new RawClient(proxy);
    client.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    await client.closed();
    expect(server.recorder.entries.map(({ kind }) => kind)).toEqual(['connect', 'nonsense', 'disconnect']);
    expect(proxy.messages).toMatchObject([{ side: 'client', type: 'G'.charCodeAt(0), length: 18, complete: false }]);
  });
});

describe('slow networks', () => {
  test('slices to single bytes change nothing', async () => {
    for (const options of [{}, { encryption: 'on' }] as const) {
      const { proxy } = await start(options);
      proxy.slice = 1;
      const batch = sendBatch(await connectDriver(proxy, { encrypt: 'encryption' in options }), 'load');
      expect(await batch.end).toBeUndefined();
      expect(batch.heard.filter((each) => 'row' in each)).toEqual([{ row: [1, 'a'] }, { row: [2, null] }]);
    }
  });

  test('latency delays both ways', async () => {
    const { proxy } = await start();
    const connection = await connectDriver(proxy);
    proxy.latency = 20;
    const started = performance.now();
    expect(await sendBatch(connection, 'load').end).toBeUndefined();
    // Timers may fire a millisecond early.
    expect(performance.now() - started).toBeGreaterThanOrEqual(38);
  });
});

describe('a fault', () => {
  const outcomes: Readonly<Record<Fault, string>> = {
    end: 'ECONNRESET',
    reset: 'ECONNRESET',
    stall: 'ECLOSE',
    'black-hole': 'ECLOSE',
  };

  test.each(['end', 'reset', 'stall', 'black-hole'] as const)(
    '%s strikes at every byte of an answer',
    async (fault) => {
      const { proxy } = await start();
      const { length } = await cleanAnswer(proxy);
      const bytes = Array.from({ length }, (_, index) => index);
      for (const byte of bytes) {
        const passed = proxy.messages.length;
        const { end, heard } = await run(proxy, { byte, fault });
        expect(end, `at byte ${byte}`).toBe(outcomes[fault]);
        // The answer is one packet, and the driver hands on whole packets.
        expect(heard, `at byte ${byte}`).toEqual([]);
        const cut = proxy.messages.slice(passed).at(-1);
        if (byte > 0) expect(cut).toMatchObject({ side: 'server', length: byte, complete: false });
      }
      expect(await sendBatch(await connectDriver(proxy), 'load').end).toBeUndefined();
    },
  );

  test.each(['end', 'reset'] as const)('%s after the whole answer comes too late to hurt it', async (fault) => {
    const { server, proxy } = await start();
    const connection = await connectDriver(proxy);
    const struck = proxy.arm({ message: 1, byte: 100_000, fault });
    const gone = once(connection, 'end');
    const batch = sendBatch(connection, 'load');
    await struck;
    await gone;
    expect(batch.heard.at(-1)).toMatchObject({ done: 'statement', more: false });
    expect(server.sessions).toMatchObject([{ commits: 1 }]);
  });

  test('at the border of a token shows the tokens before it', async () => {
    const { proxy } = await start({ packetEnds: 'token' });
    const { packetEnds, length } = await cleanAnswer(proxy);
    // BEGIN, its end, message, count, columns, two rows, their end, COMMIT; its end is in the last packet.
    expect(packetEnds).toHaveLength(10);
    expect(packetEnds.at(-1)).toBe(length);
    const told: number[] = [];
    for (const byte of packetEnds.slice(0, -1)) {
      const { end, heard } = await run(proxy, { byte, fault: 'end' });
      expect(end).toBe('ECONNRESET');
      told.push(heard.length);
    }
    expect(told).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 7]);
  });

  test('stall lets the other side go on', async () => {
    const { server, proxy } = await start();
    const connection = await connectDriver(proxy, { cancelTimeout: 20 });
    const struck = proxy.arm({ message: 1, byte: 10, fault: 'stall' });
    const batch = sendBatch(connection, 'load');
    await struck;
    batch.cancel();
    await server.recorder.seen(({ kind }) => kind === 'attention');
    expect(await batch.end).toBe('ETIMEOUT');
    await server.recorder.seen(({ kind }) => kind === 'disconnect');
  });

  test('black hole hides the end of the connection too', async () => {
    const { server, proxy } = await start();
    const connection = await connectDriver(proxy);
    const batch = sendBatch(connection, 'wait');
    await server.recorder.seen((entry) => entry.kind === 'batch');
    proxy.strike('black-hole');
    batch.cancel();
    connection.close();
    await expect.poll(() => proxy.openConnections).toBe(0);
    expect(server.openSessions).toHaveLength(1);
    expect(server.recorder.entries.at(-1)).toMatchObject({ kind: 'batch', sql: 'wait' });
    await proxy.close();
    await server.recorder.seen(({ kind }) => kind === 'disconnect');
  });

  test.each(['end', 'reset'] as const)('%s in the middle of a request: the server never sees it', async (fault) => {
    const { server, proxy } = await start();
    const connection = await connectDriver(proxy);
    const struck = proxy.arm({ side: 'client', message: 1, byte: 37, fault });
    const batch = sendBatch(connection, 'load');
    await struck;
    expect(await batch.end).toBe('ECONNRESET');
    await server.recorder.seen(({ kind }) => kind === 'disconnect');
    expect(server.recorder.sql()).toEqual([]);
  });

  test('can strike in a later message, in another connection, and be taken back', async () => {
    const { proxy } = await start();
    const first = await connectDriver(proxy);
    const struck = proxy.arm({ message: 3, byte: 9, fault: 'reset' });
    expect(await sendBatch(first, 'load').end).toBeUndefined();
    expect(await sendBatch(first, 'load').end).toBeUndefined();
    expect(await sendBatch(first, 'load').end).toBe('ECONNRESET');
    await struck;

    void proxy.arm({ message: 2, byte: 5, fault: 'end' });
    await expect(connectDriver(proxy)).rejects.toMatchObject({ code: 'ESOCKET' });

    void proxy.arm({ message: 1, byte: 0, fault: 'reset' });
    proxy.disarm();
    expect(await sendBatch(await connectDriver(proxy), 'load').end).toBeUndefined();
  });

  test('of a TLS connection strikes in its records', async () => {
    const { proxy } = await start({ encryption: 'on' });
    const connection = await connectDriver(proxy, { encrypt: true });
    const struck = proxy.arm({ message: 1, byte: 20, fault: 'reset' });
    const batch = sendBatch(connection, 'load');
    await struck;
    expect(await batch.end).toBe('ECONNRESET');
    expect(batch.heard).toEqual([]);
  });
});
