import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RunAllLoadsCommand } from '../../client/src/commands/run-all-loads.ts';
import { RunPanel } from '../../client/src/panel/run-panel.ts';
import { RunHistory } from '../../client/src/runs/history.ts';
import { RunController } from '../../client/src/runs/run-controller.ts';
import { unknownCounts } from '../../protocol/counts.ts';
import type { LoadCandidate } from '../../protocol/requests.ts';
import type { RunStatus } from '../../protocol/run.ts';
import { doneResult, executable, FakeServer, fakeConnections, RecordedPage, ScriptedPrompts } from './fakes.ts';

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const table = (name: string) => ({ database: null, schema: 'dw', table: name });

function load(source: string, target: string, extra: Readonly<Record<string, string>> = {}): LoadCandidate {
  const more = Object.fromEntries(Object.entries(extra).map(([role, name]) => [role, table(name)]));
  const specification = {
    version: 1,
    pattern: 'hub',
    source: table(source),
    target: table(target),
    extra: more,
    platform: 'duckdb',
    form: 'script',
    shape: 'separate',
    options: {},
  } as const;
  const uri = `file:///w/${target}.sql`;
  return { title: target, specification, confidence: 1, reasons: [], uri, range };
}

const loads = [
  load('StageA', 'A'),
  load('StageB', 'B'),
  load('dw.x', 'FromElsewhere'),
  load('a', 'FromA'),
  load('FromA', 'FromFromA'),
  load('StageP', 'Pit', { hub: 'A' }),
];

/** Runs all loads, of which those of some targets end otherwise than done. */
async function runAll(onFailure: string, ends: Readonly<Record<string, RunStatus>>) {
  const folder = await mkdtemp(join(tmpdir(), 'mergewright-all-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const prompts = new ScriptedPrompts();
  const answers: string[] = [];
  prompts.warn = async (message) => {
    prompts.said.push(message);
    return answers.shift() as undefined;
  };
  const parts = fakeConnections(prompts);
  const history = new RunHistory(join(folder, 'history.jsonl'), () => 100);
  const server = new FakeServer({
    'mergewright/loads': () => loads,
    'mergewright/executable': () => ({ load: executable(), problems: [] }),
  });
  parts.sessions.prepare = (session) => {
    const name = parts.sessions.opened.length;
    session.end = () => {
      const target = parts.sessions.opened[name]?.id.replace(/.*\/|\.sql$/g, '') ?? '';
      const status = ends[target] ?? 'done';
      return status === 'done' ? doneResult : { ...doneResult, status, counts: unknownCounts };
    };
  };
  const panel = new RunPanel(new RecordedPage(), () => history.entries());
  const runs = new RunController({
    ...parts,
    server,
    prompts,
    history,
    panel,
    problems: { show: () => undefined, clear: () => undefined },
    notifyAfterSeconds: () => 10,
    sqlcmdVariables: () => false,
  });
  const { workbench } = parts;
  answers.push('Show All');
  await new RunAllLoadsCommand({ server, prompts, workbench, runs, onFailure: () => onFailure }).run();
  return {
    said: prompts.said,
    ran: parts.sessions.opened.map(({ id }) => id.replace(/.*\/|\.sql$/g, '')),
    details: workbench.shownText,
  };
}

test('all loads run in the given order, with one summary', async () => {
  const { said, ran } = await runAll('stop', {});
  expect(ran).toEqual(['A', 'B', 'FromElsewhere', 'FromA', 'FromFromA', 'Pit']);
  expect(said).toEqual(['Run All: 6 done.']);
});

test('stopping at a failure leaves the others out, and says so', async () => {
  const { said, ran, details } = await runAll('stop', { B: 'failed' });
  expect(ran).toEqual(['A', 'B']);
  expect(said).toEqual(['Run All: 1 done, 1 failed, 4 left out. "B": failed.']);
  expect(details).toContain('left out  Pit ("B" ended as failed)\n');
});

test('going on skips what reads a table that was not loaded, at any distance', async () => {
  const { said, ran, details } = await runAll('continue', { A: 'failed' });
  expect(ran).toEqual(['A', 'B', 'FromElsewhere']);
  expect(said).toEqual(['Run All: 1 failed, 2 done, 3 skipped. "A": failed.']);
  expect(details.split('\n')).toEqual([
    'failed    A',
    'done      B',
    'done      FromElsewhere',
    'skipped   FromA (it reads dw.A, which "A" did not load)',
    'skipped   FromFromA (it reads dw.FromA, which "FromA" did not load)',
    'skipped   Pit (it reads dw.A, which "A" did not load)',
    '',
  ]);
});

test('an unknown end is no good end: what reads that table is skipped', async () => {
  const { said, ran } = await runAll('continue', { FromA: 'unknown' });
  expect(ran).toEqual(['A', 'B', 'FromElsewhere', 'FromA', 'Pit']);
  expect(said).toEqual(['Run All: 4 done, 1 unknown, 1 skipped. "FromA": unknown.']);
});

test('cancelling one load stops all of them', async () => {
  const { said, ran } = await runAll('continue', { A: 'cancelled' });
  expect(ran).toEqual(['A']);
  expect(said).toEqual(['Run All: 1 cancelled, 5 left out. "A": cancelled.']);
});
