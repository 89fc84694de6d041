import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { embeddedProfile } from '../../client/src/connections/profile.ts';
import { RunnerProcess } from '../../client/src/runs/runner-process.ts';
import type { RunEvent } from '../../protocol/run.ts';
import { fakeLog } from './fakes.ts';

const program = join(import.meta.dirname, 'runner-stub.cjs');
const profile = embeddedProfile('x.duckdb');
const job = (text: string) => ({ mode: 'run' as const, batches: [{ text, line: 0 }] });
const ignore = () => undefined;

let started: RunnerProcess[] = [];
afterEach(() => {
  for (const runner of started) runner.dispose();
  started = [];
});

function start() {
  let changes = 0;
  const { log, lines } = fakeLog();
  const runner = new RunnerProcess(program, log, () => {
    changes += 1;
  });
  started.push(runner);
  return { runner, lines, changes: () => changes };
}

describe('the runner process', () => {
  test('opens a session, runs, and hands on its events', async () => {
    const { runner } = start();
    const session = await runner.open('a', profile, 'secret');
    expect(session.facts.login).toBe('secret');
    const events: RunEvent[] = [];
    const end = await session.run(job('SELECT 1'), (event) => events.push(event));
    expect(end.result).toMatchObject({ status: 'done', counts: { inserted: 1 } });
    expect(events).toMatchObject([{ kind: 'batch-started', text: 'SELECT 1' }]);
  });

  test('documents run side by side, and a cancel ends only its own run', async () => {
    const { runner } = start();
    const [one, two] = await Promise.all([runner.open('one', profile, null), runner.open('two', profile, null)]);
    const waiting = one.run(job('wait'), ignore);
    expect((await two.run(job('x'), ignore)).result.status).toBe('done');
    one.cancel();
    expect((await waiting).result.status).toBe('cancelled');
  });

  test('killed while a batch is out: the end is unknown, the session lost, the next one works', async () => {
    const { runner, lines } = start();
    const session = await runner.open('a', profile, null);
    const end = await session.run(job('die'), ignore);
    expect(end.result).toMatchObject({ status: 'unknown', counts: { inserted: null }, error: { code: 'runner' } });
    expect(end.notes.join()).toContain('not known');
    expect(session.isLost).toBe(true);
    expect(lines.join()).toContain('SIGKILL');
    const next = await runner.open('a', profile, null);
    expect((await next.run(job('x'), ignore)).result.status).toBe('done');
  });

  test('killed before a batch was out: nothing was sent, so it failed', async () => {
    const { runner } = start();
    const session = await runner.open('a', profile, null);
    await expect(session.run(job('die before'), ignore)).rejects.toThrow('the runner process ended');
  });

  test('words of the engine come through: refused logins, failed reads', async () => {
    const { runner } = start();
    await expect(runner.open('a', { ...profile, name: 'refused' }, 'x')).rejects.toThrow('Login failed');
    const session = await runner.open('a', profile, null);
    await expect(session.query([{ text: 'x', line: 0 }])).rejects.toThrow('no such table');
  });

  test('a session that changes by itself says so', async () => {
    const { runner, changes } = start();
    const session = await runner.open('a', profile, null);
    await session.changeDatabase('other');
    await expect.poll(() => session.facts.database).toBe('told');
    expect(changes()).toBe(1);
  });

  test('a program that is not there fails the first session in words', async () => {
    const { log } = fakeLog();
    const runner = new RunnerProcess(join(import.meta.dirname, 'nowhere.cjs'), log, ignore);
    await expect(runner.open('a', profile, null)).rejects.toThrow('the runner process ended');
  });
});
