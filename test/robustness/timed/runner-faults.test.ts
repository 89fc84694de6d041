import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unknownCounts } from '../../../protocol/counts.ts';
import type { RunResult } from '../../../protocol/run.ts';
import { openSession } from '../../../runner/src/open-session.ts';
import { Run } from '../../../runner/src/run.ts';
import { mssqlSettings } from '../../runner/settings.ts';
import { begin, commit, rows, on as rule, script } from '../../support/tds/answers.ts';
import { type Fault, startFaultProxy } from '../../support/tds/proxy.ts';
import { startTdsServer, type TdsServer } from '../../support/tds/server.ts';

/** Milliseconds that a stalled connection has: for its login, or for answering a cancel. Nobody answers, so all pass. */
const deadline = 200;
/** What a machine under load may take where nothing stalls, in milliseconds. */
const patience = 20_000;
const atOnce = 40;
const load = 'BEGIN TRANSACTION; MERGE …; COMMIT;';
const read = 'SELECT many FROM dw.Unit';
const countColumns = [
  'inserted int',
  'updated int',
  'expired int',
  'inactivated int',
  'deleted int',
  'unchanged int',
  'skipped int',
];
const counts = { inserted: 3, updated: null, expired: 2, inactivated: 0, deleted: null, unchanged: 9, skipped: 0 };
/** Messages of the server's side before the first answer to a batch: PRELOGIN, login, the driver's settings, what it is. */
const messagesBefore = 4;

let server: TdsServer;

beforeAll(async () => {
  server = await startTdsServer({
    packetEnds: 'token',
    handler: script(
      rule("SERVERPROPERTY('ServerName')", [
        rows(
          ['a nvarchar(9)', 'b nvarchar(9)', 'c nvarchar(9)', 'd nvarchar(9)', 'e nvarchar(9)', 'f nvarchar(9)'],
          [['WH01', 'dwh', 'loader', '16', 'Dev', 'SQL']],
        ),
      ]),
      rule('MERGE', [begin(), commit(), rows(countColumns, [[3, null, 2, 0, null, 9, 0]])]),
      rule('SELECT many', [
        rows(
          ['n int', 't nvarchar(40)'],
          [
            [1, 'one'],
            [2, 'two'],
            [3, 'three'],
            [4, 'four'],
          ],
        ),
      ]),
    ),
  });
});

afterAll(() => server.close());

interface Outcome {
  /** Null where no session came about. */
  readonly result: RunResult | null;
  readonly isLost: boolean;
}

/** Opens a session through a proxy that fails at one place, and runs. */
async function runThrough(fault: Fault, message: number, byte: number, texts: readonly string[]): Promise<Outcome> {
  const proxy = await startFaultProxy(server.port);
  const struck = proxy.arm({ message, byte, fault });
  try {
    const stallsWhileConnecting = fault === 'stall' && message <= messagesBefore;
    const connectTimeout = stallsWhileConnecting ? deadline : patience;
    const settings = mssqlSettings(proxy.port, { connectTimeoutSeconds: connectTimeout / 1000 });
    const session = await openSession(settings, 'p@ss').catch(() => null);
    if (session === null) return { result: null, isLost: true };
    const batches = texts.map((text) => ({ text, line: 0 }));
    const run = new Run(
      session,
      { mode: 'run', batches },
      {
        timeLimitMs: patience,
        cancelDeadlineMs: fault === 'stall' ? deadline : patience,
        retries: 0,
        emit: () => undefined,
      },
    );
    const end = run.start();
    // A run that stalls is cancelled when it does, not after a time in which a machine under load may still be at work.
    if (fault === 'stall') void struck.then(() => run.cancel());
    const { result } = await end;
    const { isLost } = session;
    await session.close();
    return { result, isLost };
  } finally {
    await proxy.close();
  }
}

async function inParallel<T>(jobs: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const queue = jobs.entries();
  const worker = async () => {
    for (const [index, job] of queue) results[index] = await job();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

const bytes = Array.from({ length: 200 }, (_, index) => index);

describe.each<Fault>(['end', 'stall', 'reset'])('%s at each of the first 200 bytes', (fault) => {
  test.each(Array.from({ length: messagesBefore }, (_, index) => index + 1))(
    'of message %i before the first batch: no session, nothing sent',
    async (message) => {
      const before = server.recorder.sql().filter((sql) => sql === load).length;
      const outcomes = await inParallel(bytes.map((byte) => () => runThrough(fault, message, byte, [load])));
      for (const { result } of outcomes) {
        // Bytes beyond the message's end let it pass, and the fault hits nothing.
        if (result !== null) expect(['done', 'unknown', 'failed']).toContain(result.status);
        if (result?.status === 'done') expect(result.counts).toEqual(counts);
        if (result !== null && result.status !== 'done') expect(result.counts).toEqual(unknownCounts);
      }
      expect(outcomes.some(({ result }) => result === null)).toBe(true);
      const sent = server.recorder.sql().filter((sql) => sql === load).length - before;
      expect(sent).toBeLessThanOrEqual(outcomes.filter(({ result }) => result !== null).length);
    },
  );

  test('of the answer to a load: unknown, or done with its counts', async () => {
    const outcomes = await inParallel(bytes.map((byte) => () => runThrough(fault, messagesBefore + 1, byte, [load])));
    for (const { result } of outcomes) {
      expect(['done', 'unknown']).toContain(result?.status);
      expect(result?.counts).toEqual(result?.status === 'done' ? counts : unknownCounts);
    }
    expect(outcomes[0]).toMatchObject({ result: { status: 'unknown' }, isLost: true });
    const next = await runThrough('end', 1000, 0, [load]);
    expect(next.result).toMatchObject({ status: 'done', counts });
  });

  test('of the answer to a read: failed, or done', async () => {
    const outcomes = await inParallel(bytes.map((byte) => () => runThrough(fault, messagesBefore + 1, byte, [read])));
    for (const { result, isLost } of outcomes) {
      expect(['done', 'failed']).toContain(result?.status);
      if (result?.status === 'failed') expect(isLost).toBe(true);
    }
    expect(outcomes[0]?.result?.status).toBe('failed');
  });

  test('of the second answer: the first batch stays, the second one is unknown', async () => {
    const outcomes = await inParallel(
      bytes.map((byte) => () => runThrough(fault, messagesBefore + 2, byte, [read, load])),
    );
    for (const { result } of outcomes) {
      expect(['done', 'unknown']).toContain(result?.status);
      expect(result?.batches[0]).toMatchObject({ text: read, rows: 4 });
      expect(result?.counts).toEqual(result?.status === 'done' ? counts : unknownCounts);
    }
    expect(outcomes[0]?.result?.status).toBe('unknown');
  });
});

describe.each([1, 3, 7])('a network that gives %i bytes at a time', (slice) => {
  test('changes nothing', async () => {
    const proxy = await startFaultProxy(server.port);
    proxy.slice = slice;
    const session = await openSession(mssqlSettings(proxy.port), 'p@ss');
    const run = new Run(
      session,
      { mode: 'run', batches: [{ text: load, line: 0 }] },
      { timeLimitMs: 0, cancelDeadlineMs: 4000, retries: 0, emit: () => undefined },
    );
    expect((await run.start()).result).toMatchObject({ status: 'done', counts });
    await session.close();
    await proxy.close();
  });
});
