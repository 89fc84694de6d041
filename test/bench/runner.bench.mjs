// A cancel against the TDS test server: answered by a healthy one, and on a network that swallows everything from then on.
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { median } from './machine.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const require = createRequire(import.meta.url);

export default async function measure() {
  // In the checkout, where the bundle finds the native packages.
  const folder = join(root, 'node_modules', '.cache', 'mergewright-bench', String(process.pid));
  mkdirSync(folder, { recursive: true });
  try {
    const runner = await bundle(join(folder, 'runner.cjs'));
    return await cancelRows(runner);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundle(outfile) {
  await build({
    stdin: {
      contents: `
        export { connectionDefaults } from './protocol/connection.ts';
        export { openSession } from './runner/src/open-session.ts';
        export { defaultCancelDeadlineMs, Run } from './runner/src/run.ts';
        export { begin, flush, on, rows, script, stall } from './test/support/tds/answers.ts';
        export { startFaultProxy } from './test/support/tds/proxy.ts';
        export { startTdsServer } from './test/support/tds/server.ts';`,
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['@duckdb/node-bindings', '@duckdb/node-bindings-*'],
    outfile,
    logLevel: 'warning',
  });
  return require(outfile);
}

async function cancelRows(runner) {
  const { begin, flush, on, script, stall } = runner;
  const load = [begin(), flush(), stall()];
  const server = await runner.startTdsServer({ handler: script(itself(runner), on('load', load)) });
  const proxy = await runner.startFaultProxy(server.port);
  try {
    const healthy = [];
    const empty = [];
    const session = await open(runner, server.port);
    for (let round = 0; round < 20; round += 1) {
      empty.push(await elapsed(() => start(runner, session, 'SELECT 1').end));
      const { run, end } = await started(runner, server, session);
      const took = await elapsed(() => {
        run.cancel();
        return end;
      });
      expectStatus(await end, 'cancelled');
      healthy.push(took);
    }
    await session.close();
    const dead = [];
    for (let round = 0; round < 2; round += 1) {
      const lost = await open(runner, proxy.port);
      const { run, end } = await started(runner, server, lost);
      proxy.strike('black-hole');
      dead.push(
        await elapsed(() => {
          run.cancel();
          return end;
        }),
      );
      expectStatus(await end, 'unknown');
      await lost.close();
    }
    return [
      row('cancel, healthy server', Math.max(...healthy), median(empty), 'an empty batch', 1000),
      row('cancel, dead network', Math.max(...dead), runner.defaultCancelDeadlineMs, 'the deadline of a cancel', 5000),
    ];
  } finally {
    await proxy.close();
    await server.close();
  }
}

/** Most of a cancel is waiting, so its budget holds on a busy machine, too. */
function row(name, ours, reference, referenceName, budget) {
  return {
    name: `${name}, longest`,
    unit: 'ms',
    ours,
    reference,
    referenceName,
    ratio: ours / reference,
    budget: `${budget} ms`,
    ok: ours <= budget,
  };
}

/** What the server says about itself when a session opens. */
function itself({ on, rows }) {
  const columns = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name} nvarchar(128)`);
  return on("SERVERPROPERTY('ServerName')", (_request, session) => [
    rows(
      [...columns, 'f nvarchar(300)', 'g int'],
      [['WH01', session.database, 'loader', '16.0.1000', 'Developer Edition', 'Microsoft SQL Server 2022', 3]],
    ),
  ]);
}

function open({ connectionDefaults, openSession }, port) {
  const settings = {
    ...connectionDefaults,
    name: 'warehouse',
    server: 'localhost',
    port,
    user: 'loader',
    encrypt: 'false',
    connectTimeoutSeconds: 5,
  };
  return openSession(settings, 'password');
}

function start({ Run, defaultCancelDeadlineMs }, session, text) {
  const run = new Run(
    session,
    { mode: 'run', batches: [{ text, line: 0 }] },
    { timeLimitMs: 0, cancelDeadlineMs: defaultCancelDeadlineMs, retries: 0, emit: () => undefined },
  );
  return { run, end: run.start() };
}

let loads = 0;

/** A run whose load the server has begun. */
async function started(runner, server, session) {
  loads += 1;
  const text = `load ${loads} INSERT INTO t SELECT 1`;
  const running = start(runner, session, text);
  await server.recorder.seen((entry) => entry.kind === 'batch' && entry.sql === text);
  return running;
}

async function elapsed(work) {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

function expectStatus({ result }, status) {
  if (result.status !== status) throw new Error(`The run ended as ${result.status}, not as ${status}.`);
}
