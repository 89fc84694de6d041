import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { unknownCounts } from '../../protocol/counts.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query, queryRows } from '../../runner/src/queries.ts';
import { Run } from '../../runner/src/run.ts';
import type { Session } from '../../runner/src/session.ts';
import {
  affected,
  begin,
  commit,
  disconnect,
  done,
  error,
  flush,
  onAttention,
  print,
  rollback,
  rows,
  on as rule,
  script,
  stall,
  until,
} from '../support/tds/answers.ts';
import { duckdbSettings } from './settings.ts';
import { openOn, serveWarehouse, startRun } from './warehouse-server.ts';

const countColumns = [
  'inserted int',
  'updated int',
  'expired int',
  'inactivated int',
  'deleted int',
  'unchanged int',
  'skipped int',
];

async function embedded(): Promise<Session> {
  const session = await openSession(duckdbSettings(), null);
  onTestFinished(() => session.close());
  return session;
}

describe('counts', () => {
  test('come from the last result set, warnings from the one before it', async () => {
    const session = await embedded();
    const { end, events } = startRun(session, [
      `SELECT 'empty_stage' AS warning_code, 'nothing was staged' AS message;
       SELECT 3::BIGINT AS inserted, NULL::BIGINT AS updated, 2::HUGEINT AS expired, 0 AS inactivated, NULL AS deleted, 5 AS unchanged, 1 AS skipped;`,
    ]);
    const { result } = await end;
    expect(result.status).toBe('done');
    expect(result.counts).toEqual({
      inserted: 3,
      updated: null,
      expired: 2,
      inactivated: 0,
      deleted: null,
      unchanged: 5,
      skipped: 1,
    });
    expect(result.warnings).toEqual([{ code: 'empty_stage', message: 'nothing was staged' }]);
    expect(events.at(0)).toEqual({ kind: 'state', state: 'running' });
    expect(events.at(-1)).toEqual({ kind: 'state', state: 'finished' });
  });

  test('may name some of the seven only, in any letter case', async () => {
    const { result } = await startRun(await embedded(), ['SELECT 4 AS "Inserted", 1 AS deleted']).end;
    expect(result.counts).toEqual({ ...unknownCounts, inserted: 4, deleted: 1 });
  });

  test.each([
    ['two rows', 'SELECT 1 AS inserted UNION ALL SELECT 2'],
    ['another column', 'SELECT 1 AS inserted, 2 AS total'],
    ['a text', "SELECT 'x' AS inserted"],
    ['a result set behind it', 'SELECT 1 AS inserted; SELECT 2 AS something'],
  ])('are unknown with %s', async (_, text) => {
    expect((await startRun(await embedded(), [text]).end).result.counts).toEqual(unknownCounts);
  });

  test('are never added up from what the driver counts', async () => {
    const server = await serveWarehouse({
      handler: script(
        rule('UPDATE', [affected(1), affected(1), affected(1), rows(['inserted int', 'expired int'], [[1, 1]])]),
      ),
    });
    const { result } = await startRun(await openOn(server), ['UPDATE dw.Plan1 …']).end;
    expect(result.counts).toEqual({ ...unknownCounts, inserted: 1, expired: 1 });
  });
});

describe('a run', () => {
  test('sends batches in order on one session, and GO n as often as it says', async () => {
    const server = await serveWarehouse({ handler: script(rule('PRINT', [print('x')])) });
    const session = await openOn(server);
    const { end } = startRun(session, ['BEGIN TRANSACTION', { text: "PRINT N'x'", line: 2, repeat: 3 }, 'COMMIT']);
    const { result, openTransaction } = await end;
    expect(result.status).toBe('done');
    expect(openTransaction).toBe(false);
    expect(result.batches.map(({ text, messages }) => [text, messages])).toEqual([
      ['BEGIN TRANSACTION', []],
      ["PRINT N'x'", ['x', 'x', 'x']],
      ['COMMIT', []],
    ]);
    expect(server.recorder.sql(2)).toEqual([]);
    expect(server.recorder.sql(1).slice(1)).toEqual([
      'BEGIN TRANSACTION',
      "PRINT N'x'",
      "PRINT N'x'",
      "PRINT N'x'",
      'COMMIT',
    ]);
  });

  test('stops at the batch that fails, and tells every error at its line of the file', async () => {
    const server = await serveWarehouse({
      handler: script(
        rule('first', [print('one')]),
        rule('second', [
          error({ number: 207, text: 'Invalid column name.', line: 2 }),
          error({ number: 50010, text: 'duplicate_key: K10', line: 3 }),
        ]),
      ),
    });
    const { end, events } = startRun(await openOn(server), ['first', 'second\n\n', 'third']);
    const { result, notes } = await end;
    expect(result.status).toBe('failed');
    expect(result.counts).toEqual(unknownCounts);
    expect(result.error).toEqual({ code: 'duplicate_key', message: 'duplicate_key: K10', batch: 1, line: 4 });
    expect(events.filter(({ kind }) => kind === 'error')).toMatchObject([
      { error: { code: '207', line: 3 } },
      { error: { code: 'duplicate_key', line: 4 } },
    ]);
    expect(notes).toEqual(['Batch 1 stays committed.']);
    expect(server.recorder.sql()).not.toContain('third');
  });

  test('says what a batch without a transaction wrote before its error, and how often GO n did it', async () => {
    const failing = [error({ number: 547, text: 'conflict' })];
    const server = await serveWarehouse({
      handler: script(rule('UPDATE t', [affected(1)], 2), rule('UPDATE t', failing), rule('DELETE', failing)),
    });
    const session = await openOn(server);
    const repeated = await new Run(
      session,
      { mode: 'run', batches: [{ text: 'UPDATE t SET a = a + 1', line: 0, repeat: 3 }] },
      { timeLimitMs: 0, cancelDeadlineMs: 1000, retries: 0, emit: () => undefined },
    ).start();
    expect(repeated.result.status).toBe('failed');
    expect(repeated.notes).toEqual(['Batch 1 was done 2 times before, which stay.']);
    const parted = await startRun(session, ['SELECT 1', 'INSERT INTO l SELECT 1; DELETE FROM t']).end;
    expect(parted.notes).toEqual([
      'Batch 1 stays committed.',
      'Batch 2 ran outside a transaction: what it wrote before the error stays.',
    ]);
    const one = await startRun(session, ['DELETE FROM t']).end;
    expect(one.notes).toEqual([]);
  });

  test('hands messages over as they arrive, while the batch goes on', async () => {
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const server = await serveWarehouse({
      handler: script(rule('RAISERROR', [print('half'), flush(), until(gate), print('all'), done()])),
    });
    const { end, events } = startRun(await openOn(server), ["RAISERROR (N'half', 0, 1) WITH NOWAIT"]);
    const texts = () => events.flatMap((event) => (event.kind === 'message' ? [event.message.text] : []));
    await expect.poll(texts).toEqual(['half']);
    expect(events.some(({ kind }) => kind === 'batch-finished')).toBe(false);
    go();
    await end;
    expect(texts()).toEqual(['half', 'all']);
  });

  test('says that a transaction is left open, and rolls it back where that is asked for', async () => {
    const server = await serveWarehouse();
    const session = await openOn(server);
    const first = await startRun(session, ['BEGIN TRANSACTION']).end;
    expect(first.openTransaction).toBe(true);
    expect(first.notes).toEqual(['A transaction is still open. Commit it or roll it back.']);
    await session.endTransaction('commit');
    expect(server.sessions[0]?.commits).toBe(1);
    const second = await startRun(session, ['BEGIN TRANSACTION'], {}, { rollBackAtEnd: true }).end;
    expect(second.openTransaction).toBe(false);
    expect(server.sessions[0]?.inTransaction).toBe(false);
  });

  test('keeps the first rows of a long result and counts the others', async () => {
    const { end, events } = startRun(await embedded(), ['SELECT * FROM range(5000)'], {}, { maxRows: 10 });
    const { result } = await end;
    expect(result.batches[0]?.rows).toBe(5000);
    const set = events.find((event) => event.kind === 'result-set');
    expect(set?.resultSet.rows).toHaveLength(10);
    expect(set?.resultSet.rowCount).toBe(5000);
  });

  test('in a guard of the embedded engine leaves the target as it was', async () => {
    const session = await embedded();
    await query(session, 'CREATE TABLE t (a INTEGER)');
    const { result, openTransaction } = await startRun(session, [
      "BEGIN; INSERT INTO t VALUES (1); SELECT error('duplicate_key: K10, K20'); COMMIT;",
    ]).end;
    expect(result.error).toMatchObject({ code: 'duplicate_key', message: 'duplicate_key: K10, K20', batch: 0 });
    expect(openTransaction).toBe(false);
    expect(await queryRows(session, 'SELECT * FROM t')).toEqual([]);
  });
});

describe('a cancel', () => {
  test('that is acknowledged rolls the open transaction back', async () => {
    const server = await serveWarehouse({ handler: script(rule('load', [begin(), stall()])) });
    const session = await openOn(server);
    const { run, end, events } = startRun(session, ['load', 'next']);
    await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === 'load');
    const started = Date.now();
    run.cancel();
    const { result, notes } = await end;
    expect(Date.now() - started).toBeLessThan(1000);
    expect(result.status).toBe('cancelled');
    expect(result.error).toBeNull();
    expect(notes).toContain('The open transaction was rolled back.');
    expect(events).toContainEqual({ kind: 'state', state: 'cancelling' });
    expect(server.sessions[0]).toMatchObject({ inTransaction: false, rollbacks: 1, commits: 0 });
    expect((await startRun(session, ['SELECT 1']).end).result.status).toBe('done');
  });

  test('that crosses the commit is unknown, without counts and with the way to find out', async () => {
    const late = [commit(), rows(countColumns, [[1, 0, 0, 0, 0, 0, 0]])];
    const server = await serveWarehouse({
      handler: script(rule('MERGE', [begin(), flush(), onAttention('stop', late), stall()])),
    });
    const session = await openOn(server);
    const { run, end } = startRun(session, ['MERGE … COMMIT']);
    await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql.startsWith('MERGE'));
    run.cancel();
    const { result, notes } = await end;
    expect(result.status).toBe('unknown');
    expect(result.counts).toEqual(unknownCounts);
    expect(notes.join(' ')).toContain('run the preview');
  });

  test('before anything is sent sends nothing', async () => {
    const server = await serveWarehouse();
    const session = await openOn(server);
    const before = server.recorder.sql().length;
    const { run, end } = startRun(session, ['INSERT']);
    run.cancel();
    expect((await end).result.status).toBe('cancelled');
    expect(server.recorder.sql().length).toBeLessThanOrEqual(before + 1);
  });

  test('that a black hole swallows drops the connection in time', async () => {
    const server = await serveWarehouse({
      handler: script(
        rule('INSERT', [onAttention('ignore'), stall()]),
        rule('slowly', [onAttention('ignore'), stall()]),
      ),
    });
    const writer = startRun(await openOn(server), ['INSERT INTO t …'], { cancelDeadlineMs: 200 });
    await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql.startsWith('INSERT'));
    writer.run.cancel();
    expect((await writer.end).result).toMatchObject({ status: 'unknown', error: { code: 'connection_lost' } });
    const session = await openOn(server);
    const reader = startRun(session, ['SELECT slowly'], { cancelDeadlineMs: 200 });
    await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === 'SELECT slowly');
    reader.run.cancel();
    expect((await reader.end).result.status).toBe('failed');
    expect(session.isLost).toBe(true);
  });

  test('interrupts the embedded engine within a second', async () => {
    const session = await embedded();
    await query(session, 'CREATE TABLE t (a HUGEINT)');
    const { run, end } = startRun(session, [
      'BEGIN; INSERT INTO t VALUES (1); INSERT INTO t SELECT sum(a.range) FROM range(1000000) a, range(1000000) b; COMMIT;',
    ]);
    const started = Date.now();
    setTimeout(() => run.cancel(), 100);
    const { result } = await end;
    expect(Date.now() - started).toBeLessThan(1100);
    expect(result.status).toBe('cancelled');
    expect(await queryRows(session, 'SELECT * FROM t')).toEqual([]);
  });

  test('by the time limit of the connection says so', async () => {
    const server = await serveWarehouse({ handler: script(rule('load', [begin(), stall()])) });
    const { result } = await startRun(await openOn(server), ['load'], { timeLimitMs: 50 }).end;
    expect(result).toMatchObject({ status: 'cancelled', error: { code: 'time_limit' } });
  });
});

describe('a lost connection', () => {
  const lost = async (texts: readonly string[]) => {
    const server = await serveWarehouse({
      handler: script(rule('BEGIN TRANSACTION', [begin()]), rule(/lost/, [disconnect('reset')])),
    });
    const session = await openOn(server);
    const { result, notes } = await startRun(session, texts).end;
    expect(session.isLost).toBe(true);
    return { status: result.status, counts: result.counts, notes };
  };

  test('is unknown after a batch that may commit', async () => {
    const { status, counts, notes } = await lost(['INSERT INTO t SELECT 1 /* lost */']);
    expect(status).toBe('unknown');
    expect(counts).toEqual(unknownCounts);
    expect(notes[0]).toBe('Batch 1 of 1 was sent, and its end was not read: it may have committed, or not.');
    expect((await lost(['EXEC dw.lost'])).status).toBe('unknown');
    expect((await lost(['dw.lost'])).status).toBe('unknown');
    expect((await lost(['BEGIN TRANSACTION', 'UPDATE t SET a = 1 /* lost */; COMMIT'])).status).toBe('unknown');
  });

  test('is failed while nothing that was sent could commit', async () => {
    expect((await lost(['SELECT lost'])).status).toBe('failed');
    expect((await lost(["SELECT 'COMMIT' AS [INSERT] -- DELETE lost"])).status).toBe('failed');
    const open = await lost(['BEGIN TRANSACTION', 'UPDATE t SET a = 1 /* lost */']);
    expect(open.status).toBe('failed');
    expect(open.notes).toEqual(['No earlier batch was committed.']);
  });

  test('before the first batch is failed, and nothing is sent again', async () => {
    const server = await serveWarehouse();
    const session = await openOn(server);
    session.drop('The network went.');
    const { result } = await startRun(session, ['INSERT INTO t SELECT 1']).end;
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'connection_lost', message: 'The network went.' },
    });
  });
});

describe('a deadlock victim', () => {
  const load = 'BEGIN TRANSACTION; UPDATE t SET a = 1; COMMIT;';
  const serveDeadlocks = (times: number) =>
    serveWarehouse({
      handler: script(
        rule('UPDATE', [begin(), rollback(), error({ number: 1205, class: 13, text: 'deadlock victim' })], times),
        rule('UPDATE', [begin(), commit(), rows(['updated int'], [[1]])]),
      ),
    });

  test('is tried again as often as the profile allows, and each try is said', async () => {
    const server = await serveDeadlocks(2);
    const { end, events } = startRun(await openOn(server), [load], { retries: 2 });
    expect((await end).result).toMatchObject({ status: 'done', counts: { updated: 1 } });
    expect(events.filter(({ kind }) => kind === 'message')).toEqual([
      { kind: 'message', message: { text: 'deadlock victim Try 2 of 3 begins.' } },
      { kind: 'message', message: { text: 'deadlock victim Try 3 of 3 begins.' } },
    ]);
  });

  test('fails without leave, and where the batch does not hold its whole transaction', async () => {
    const never = await startRun(await openOn(await serveDeadlocks(1)), [load]).end;
    expect(never.result).toMatchObject({ status: 'failed', error: { code: '1205' } });
    const part = await startRun(await openOn(await serveDeadlocks(1)), ['UPDATE t SET a = 1'], { retries: 3 }).end;
    expect(part.result.status).toBe('failed');
    const inside = await startRun(await openOn(await serveDeadlocks(1)), ['BEGIN TRANSACTION', load], { retries: 3 })
      .end;
    expect(inside.result.status).toBe('failed');
  });
});

test('a load that needs more memory than our limit is tried again without it', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'mergewright-')), 'house.duckdb');
  onTestFinished(() => rm(dirname(path), { recursive: true, force: true }));
  const session = await openSession(duckdbSettings(path), null);
  onTestFinished(() => session.close());
  await query(session, "SET memory_limit = '10MB'");
  const { end, events } = startRun(session, [
    `BEGIN TRANSACTION;
     CREATE TABLE t AS SELECT string_agg(md5(CAST(range AS VARCHAR)), '') AS a FROM range(1000000);
     COMMIT;
     SELECT length(a) AS inserted FROM t;`,
  ]);
  expect((await end).result).toMatchObject({ status: 'done', counts: { inserted: 32_000_000 } });
  expect(events.filter(({ kind }) => kind === 'message')).toMatchObject([
    { message: { text: expect.stringContaining('It is tried again with all the memory of the machine.') } },
  ]);
});

describe('a dry run', () => {
  test('counts, and rolls everything back', async () => {
    const session = await embedded();
    await query(session, 'CREATE TABLE t (a INTEGER)');
    const { end } = startRun(
      session,
      ['INSERT INTO t VALUES (1); SELECT count(*) AS inserted FROM t'],
      {},
      { isDryRun: true },
    );
    const { result, notes } = await end;
    expect(result).toMatchObject({ status: 'done', counts: { inserted: 1 } });
    expect(notes).toEqual(['This was a dry run: everything was rolled back.']);
    expect(await queryRows(session, 'SELECT * FROM t')).toEqual([]);
  });

  test('takes nothing back that was open before it, nor does a preview', async () => {
    const session = await embedded();
    await query(session, 'CREATE TABLE t (a INTEGER); BEGIN TRANSACTION; INSERT INTO t VALUES (1)');
    const dry = await startRun(session, ['SELECT 1 AS inserted'], {}, { isDryRun: true }).end;
    expect(dry).toMatchObject({
      openTransaction: true,
      result: {
        status: 'failed',
        batches: [],
        error: { code: 'open_transaction', message: expect.stringContaining('Commit it or roll it back first') },
      },
    });
    const rolling = await startRun(session, ['SELECT 1 AS inserted; ROLLBACK;'], {}, { mode: 'preview' }).end;
    expect(rolling).toMatchObject({ openTransaction: true, result: { status: 'failed', batches: [] } });
    const reading = await startRun(session, ['SELECT count(*) AS inserted FROM t'], {}, { mode: 'preview' }).end;
    expect(reading).toMatchObject({ openTransaction: true, result: { status: 'done', counts: { inserted: 1 } } });
    await session.endTransaction('commit');
    expect(await queryRows(session, 'SELECT * FROM t')).toEqual([[1]]);
  });

  test('says at once when a batch commits nevertheless', async () => {
    const server = await serveWarehouse({ handler: script(rule('EXEC', [commit()])) });
    const { result } = await startRun(await openOn(server), ['EXEC dw.Load', 'next'], {}, { isDryRun: true }).end;
    expect(result).toMatchObject({ status: 'failed', error: { code: 'dry_run_committed', batch: 0 } });
    expect(server.recorder.sql()).not.toContain('next');
  });

  test('sends nothing where its transaction was refused', async () => {
    const refusing = rule('BEGIN TRANSACTION', [error({ number: 3989, text: 'New request is not allowed to start.' })]);
    const server = await serveWarehouse({ handler: script(refusing) });
    const { result, openTransaction } = await startRun(await openOn(server), ['load'], {}, { isDryRun: true }).end;
    expect(result).toMatchObject({ status: 'failed', batches: [], error: { code: 'dry_run_refused', batch: 0 } });
    expect(openTransaction).toBe(false);
    expect(server.recorder.sql()).not.toContain('load');
  });
});

test('a preview gives samples by kind of change, and writes nothing that stays', async () => {
  const session = await embedded();
  await query(session, 'CREATE TABLE t (a INTEGER)');
  const text = `CREATE TEMP TABLE change AS SELECT 1 AS a;
    SELECT * FROM (VALUES ('inserted', 1, 'after', 'K1', 5), ('expired', 1, 'before', 'K2', 6), ('expired', 1, 'after', 'K2', NULL))
      AS s (sample_kind, sample_no, sample_side, k, v);
    SELECT 1 AS inserted, 1 AS expired;`;
  const { result } = await startRun(session, [text], {}, { mode: 'preview' }).end;
  expect(result).toMatchObject({
    status: 'done',
    counts: { inserted: 1, expired: 1 },
    samples: {
      inserted: [{ k: 'K1', v: 5 }],
      expired: [{ before: { k: 'K2', v: 6 }, after: { k: 'K2', v: null } }],
    },
  });
});
