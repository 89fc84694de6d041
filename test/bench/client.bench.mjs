// The extension: its start in a fresh process, and the panel's page in jsdom, where scripts run but nothing is laid out.
// In a browser the same 100,000 rows are scrolled by test/e2e/journeys/03-results.mjs, which holds the same 50 ms.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { JSDOM, VirtualConsole } from 'jsdom';
import { bare, feelSpeed, judged, median } from './machine.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const require = createRequire(import.meta.url);
const activator = join(root, 'test', 'bench', 'activate.cjs');

export default async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-bench-'));
  try {
    const activation = await activationTimes(folder);
    await feelSpeed();
    const rows = [row('activate(), loading the bundle included', median(activation), 50)];
    const shown = await shownTimes(folder);
    // Each task counts at its best of several rounds: what the machine takes away by itself strikes other ones each time.
    const rounds = Array.from({ length: 5 }, () => scrollTimes());
    const tasks = (rounds[0] ?? []).map((_, index) => Math.min(...rounds.map((times) => times[index] ?? 0)));
    await feelSpeed();
    rows.push(row('run panel: click to the state on the page, in jsdom', median(shown), 100));
    rows.push(row('run panel: longest task while 100,000 rows are scrolled, in jsdom', Math.max(...tasks), 50));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(name, ours, budget) {
  return {
    name,
    unit: 'ms',
    ours,
    reference: bare,
    referenceName: 'bare Node',
    ratio: ours / bare,
    budget: `${budget} ms`,
    ...judged(ours, budget),
  };
}

async function activationTimes(folder) {
  const times = [];
  for (let round = 0; round < 9; round += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [activator, root, join(folder, 'storage')]);
    const { took, commands, modules, started } = JSON.parse(stdout);
    const loaded = modules.filter((name) => /duckdb|tedious|runner\.cjs|server\.cjs/.test(name));
    if (commands === 0) throw new Error('The extension registered no command.');
    if (loaded.length + started.length > 0)
      throw new Error(`At its start the extension loads ${[...loaded, ...started].join(', ')}.`);
    times.push(took);
  }
  return times;
}

/** The panel's page as it is delivered, with a size, which jsdom does not find out; it draws when it is told to. */
function openPage() {
  const dom = new JSDOM('<!doctype html><body></body>', {
    runScripts: 'outside-only',
    pretendToBeVisual: true,
    virtualConsole: new VirtualConsole(),
  });
  const { window } = dom;
  const sent = [];
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => sent.push(message),
    getState: () => undefined,
    setState: () => undefined,
  });
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  // jsdom knows no elements that take part in forms.
  window.HTMLElement.prototype.attachInternals = () => ({
    setFormValue: () => undefined,
    setValidity: () => undefined,
    states: new Set(),
  });
  window.matchMedia = () => ({ matches: false, addEventListener() {}, addListener() {} });
  Object.defineProperty(window.HTMLElement.prototype, 'clientHeight', { configurable: true, value: 600 });
  Object.defineProperty(window.HTMLElement.prototype, 'clientWidth', { configurable: true, value: 900 });
  window.eval(readFileSync(join(root, 'dist', 'panel.js'), 'utf8'));
  const frames = [];
  window.requestAnimationFrame = (callback) => frames.push(callback);
  const draw = () => {
    for (const callback of frames.splice(0)) callback(performance.now());
  };
  const tell = (data) => window.dispatchEvent(new window.MessageEvent('message', { data }));
  return { window, sent, tell, draw, close: () => window.close() };
}

/** From the start of a run in the extension to its state on the page; server and session are the fakes of the tests. */
async function shownTimes(folder) {
  const outfile = join(folder, 'controller.cjs');
  await build({
    stdin: {
      contents: `
        export * from './test/client/fakes.ts';
        export { RunPanel } from './client/src/panel/run-panel.ts';
        export { RunHistory } from './client/src/runs/history.ts';
        export { RunController } from './client/src/runs/run-controller.ts';`,
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outfile,
    logLevel: 'warning',
  });
  const client = require(outfile);
  const page = openPage();
  const state = page.window.document.querySelector('.run-header .state');
  const times = [];
  for (let round = 0; round < 12; round += 1) {
    const { runs, finish } = startable(client, page, join(folder, `history-${round}.jsonl`));
    state.textContent = '';
    const started = performance.now();
    const run = runs.start('run', { kind: 'text', uri: 'file:///w/a.sql', text: 'INSERT', line: 0, title: 'a.sql' });
    await seen(() => /Connecting|Batch/.test(state.textContent ?? ''));
    times.push(performance.now() - started);
    finish();
    await run;
  }
  page.close();
  return times.slice(2);
}

/** A controller whose session runs until `finish` is called, with a page that is posted to as the editor posts. */
function startable(client, page, historyFile) {
  const prompts = new client.ScriptedPrompts();
  const parts = client.fakeConnections(prompts);
  let finish = () => undefined;
  const ended = new Promise((resolve) => {
    finish = () => resolve(client.doneResult);
  });
  parts.sessions.prepare = (session) => {
    session.end = () => ended;
  };
  const history = new client.RunHistory(historyFile, () => 100);
  const shown = {
    isVisible: true,
    show: () => undefined,
    // The editor copies what it posts.
    post: (update) => page.tell(structuredClone(update)),
    listen: () => undefined,
  };
  const panel = new client.RunPanel(shown, () => history.entries());
  const server = new client.FakeServer({
    'mergewright/executable': () => ({ load: client.executable(), problems: [] }),
  });
  const runs = new client.RunController({
    ...parts,
    server,
    prompts,
    history,
    panel,
    problems: { show: () => undefined, clear: () => undefined },
    notifyAfterSeconds: () => 10,
    sqlcmdVariables: () => false,
  });
  return { runs, finish };
}

async function seen(isThere) {
  const until = performance.now() + 10_000;
  while (!isThere()) {
    if (performance.now() > until) throw new Error('The page never showed the state.');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Milliseconds of each task, its drawing included, while the grid of a result is scrolled from end to end and its blocks of rows come in. */
function scrollTimes() {
  const page = openPage();
  const columns = ['id', 'name', 'share'].map((name) => ({ name, type: 'varchar(20)' }));
  const result = { id: 0, batch: 0, columns, heldRows: 100_000, rowCount: 100_000 };
  const times = [];
  const task = (work) => {
    const started = performance.now();
    work();
    page.draw();
    times.push(performance.now() - started);
  };
  const run = { ...shownRun, results: [result] };
  task(() => page.tell({ kind: 'run', run }));
  task(() => page.tell({ kind: 'show', tab: 'results' }));
  const grid = page.window.document.querySelector('[role=grid]');
  if (grid === null) throw new Error('The page has no grid.');
  for (let step = 0; step <= 100; step += 1) {
    task(() => {
      grid.scrollTop = ((22 * 100_000 - 600) * step) / 100;
      grid.dispatchEvent(new page.window.Event('scroll'));
    });
    for (const asked of page.sent.splice(0).filter(({ kind }) => kind === 'rows')) {
      const rows = Array.from({ length: asked.count }, (_, index) => [
        asked.from + index,
        `row ${asked.from + index}`,
        null,
      ]);
      task(() => page.tell({ kind: 'rows', result: 0, from: asked.from, rows }));
    }
  }
  const last = page.window.document.querySelectorAll('.grid-row').length;
  page.close();
  if (last === 0) throw new Error('The grid shows no rows.');
  return times;
}

/** A run with its result as the page is told of it. */
const shownRun = {
  id: '1',
  title: 'rows.sql',
  mode: 'run',
  connection: {
    name: 'embedded',
    platform: 'duckdb',
    server: null,
    database: null,
    login: null,
    environment: 'embedded',
    isProtected: false,
    isReadOnly: false,
  },
  state: 'finished',
  status: 'done',
  counts: {
    inserted: null,
    updated: null,
    expired: null,
    inactivated: null,
    deleted: null,
    unchanged: null,
    skipped: null,
  },
  batches: [{ text: 'SELECT 1', state: 'done', elapsedMs: 2, rows: 100_000 }],
  messages: [],
  warnings: [],
  errors: [],
  samples: {},
  notes: [],
  canFindOut: false,
  parameters: [],
  elapsedMs: 1200,
  canRerun: true,
  canDryRun: false,
  openTransaction: false,
};
