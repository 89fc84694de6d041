import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FromRunner, ToRunner } from '../../../protocol/runner-process.ts';
import { RunnerHost } from '../../../runner/src/host.ts';
import { duckdbSettings, mssqlSettings } from '../../runner/settings.ts';
import { seededRandom } from '../../support/random.ts';
import { begin, disconnect, done, onAttention, rows, on as rule, script, stall } from '../../support/tds/answers.ts';
import { startTdsServer, type TdsServer } from '../../support/tds/server.ts';

let server: TdsServer;

beforeAll(async () => {
  server = await startTdsServer({
    handler: script(
      rule("SERVERPROPERTY('ServerName')", [
        rows(['a int', 'b int', 'c int', 'd int', 'e int', 'f int'], [[1, 2, 3, 4, 5, 6]]),
      ]),
      rule('slow', [begin(), stall()]),
      rule('deaf', [onAttention('ignore'), stall()]),
      rule('lost', [disconnect('reset')]),
      rule('open', [begin()]),
      rule('quick', [done()]),
    ),
  });
});

afterAll(() => server.close());

const names = ['a', 'b', 'c'];
const texts = ['quick', 'open', 'slow', 'lost', 'SELECT slow FROM range(10)', 'SELECT 1 AS inserted'];

/** A client that does anything at any time, and waits for every answer at the end. */
async function live(
  seed: number,
): Promise<{ readonly asked: number; readonly answered: number; readonly ends: readonly string[] }> {
  const random = seededRandom(seed);
  const answers: FromRunner[] = [];
  const host = new RunnerHost((message) => answers.push(message));
  const waiting: Promise<void>[] = [];
  let id = 0;
  const send = (message: ToRunner) => waiting.push(host.receive(message));
  const ask = (message: { readonly kind: string; readonly session: string; readonly params: unknown }) => {
    id += 1;
    // The model does what a client may do, so the message is one of the protocol's.
    send({ ...message, id } as ToRunner);
  };
  for (let step = 0; step < 40; step += 1) {
    const session = random.oneOf(names);
    switch (random.below(8)) {
      case 0:
      case 1: {
        const settings = random.below(2) === 0 ? duckdbSettings() : mssqlSettings(server.port);
        ask({ kind: 'connect', session, params: { settings, secret: 'x' } });
        break;
      }
      case 2:
      case 3:
        ask({ kind: 'run', session, params: { mode: 'run', batches: [{ text: random.oneOf(texts), line: 0 }] } });
        break;
      case 4:
        send({ kind: 'cancel', session });
        break;
      case 5:
        ask({ kind: 'disconnect', session, params: null });
        break;
      case 6:
        ask({ kind: 'endTransaction', session, params: { action: 'rollback' } });
        break;
      default:
        await new Promise((resolve) => setTimeout(resolve, random.below(8)));
    }
  }
  for (const session of names) ask({ kind: 'disconnect', session, params: null });
  await Promise.all(waiting);
  // After all that, every session can be opened, used and closed.
  for (const session of names) {
    await host.receive({
      kind: 'connect',
      id: 1000,
      session,
      params: { settings: mssqlSettings(server.port), secret: 'x' },
    });
    await host.receive({
      kind: 'run',
      id: 2000,
      session,
      params: { mode: 'run', batches: [{ text: 'quick', line: 0 }] },
    });
  }
  await host.close();
  const ends = answers.flatMap((message) =>
    message.kind === 'answer' && message.id === 2000 && message.value !== null && 'result' in message.value
      ? [message.value.result.status]
      : [],
  );
  const answered = answers.filter((message) => 'id' in message && message.id < 1000).length;
  return { asked: id, answered, ends };
}

test.each(Array.from({ length: 30 }, (_, seed) => seed))(
  'connect, run, cancel and disconnect in any order leave nothing stuck (seed %i)',
  async (seed) => {
    const { asked, answered, ends } = await live(seed);
    expect(answered).toBe(asked);
    expect(ends).toEqual(['done', 'done', 'done']);
  },
);
