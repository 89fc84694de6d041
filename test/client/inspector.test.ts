import { describe, expect, test } from 'vitest';
import { RunPanel } from '../../client/src/panel/run-panel.ts';
import { Inspector } from '../../client/src/runs/inspector.ts';
import { unknownCounts } from '../../protocol/counts.ts';
import type { CheckResult } from '../../protocol/panel.ts';
import type { DataCheck } from '../../protocol/requests.ts';
import type { RunResult } from '../../protocol/run.ts';
import { doneResult, FakeServer, fakeConnections, RecordedPage } from './fakes.ts';

const uri = 'file:///w/a.sql';
const table = { database: null, schema: 'raw', table: 'Sat' };

function check(name: string, refusal: string | null = null): DataCheck {
  return { name, description: `${name}.`, batch: refusal === null ? { text: name, line: 0 } : null, refusal };
}

function setUp(checks: readonly DataCheck[]) {
  const parts = fakeConnections();
  const page = new RecordedPage();
  const server = new FakeServer({ 'mergewright/checks': () => ({ checks, script: '-- all', problems: [] }) });
  const inspector = new Inspector(server, parts.connections, new RunPanel(page, async () => []));
  const shown = (): readonly CheckResult[] =>
    page.updates.findLast((update) => update.kind === 'checks')?.checks.filter(() => true) ?? [];
  return { ...parts, page, inspector, shown };
}

describe('the versions of a key', () => {
  test('are read by the hash key, and shown under the business key that was searched', async () => {
    const parts = fakeConnections();
    const page = new RecordedPage();
    const asked: unknown[] = [];
    const server = new FakeServer({
      'mergewright/versions': ({ search, key }) => {
        asked.push([search, key]);
        const columns = {
          keyColumns: ['Key'],
          businessColumns: ['Name'],
          businessRefusal: null,
          start: 'LoadDate',
          end: null,
        };
        const batches = {
          keys: { text: 'keys', line: 0 },
          versions: key === null ? null : { text: 'versions', line: 0 },
        };
        return { plan: { ...columns, ...batches, tracked: [], closingGap: 0 }, problems: [] };
      },
    });
    parts.sessions.prepare = (session) => {
      session.query = async ([batch]) => {
        const names = batch?.text === 'keys' ? ['Key', 'Name'] : ['Key', 'LoadDate'];
        const rows =
          batch?.text === 'keys'
            ? [
                ['h1', 'Sales'],
                ['h2', 'Salt'],
              ]
            : [['h2', '2026-03-01']];
        return [{ columns: names.map((name) => ({ name, type: 'varchar' })), rows, rowCount: rows.length }];
      };
    };
    const panel = new RunPanel(page, async () => []);
    const inspector = new Inspector(server, parts.connections, panel);
    inspector.aim(uri, table);
    await inspector.search('Sal');
    expect(panel.timeline).toMatchObject({ keys: [['h1'], ['h2']], businessKeys: [['Sales'], ['Salt']] });
    await inspector.choose(['h2']);
    expect(asked.at(-1)).toEqual(['', ['h2']]);
    expect(panel.timeline.timeline).toMatchObject({
      key: [{ column: 'Key', value: 'h2' }],
      businessKey: [{ column: 'Name', value: 'Salt' }],
    });
  });
});

describe('checks of a target', () => {
  test('go on after one that fails, and say what was not asked', async () => {
    const { inspector, sessions, shown, page } = setUp([check('a'), check('b'), check('c', 'No input.'), check('d')]);
    const jobs: string[][] = [];
    sessions.prepare = (session) => {
      const { run } = session;
      session.run = async (job, onEvent) => {
        const texts = job.batches.map(({ text }) => text);
        jobs.push(texts);
        const failing = texts.indexOf('b');
        for (const batch of texts.slice(0, failing < 0 ? undefined : failing).keys()) {
          const columns = [{ name: 'key', type: 'int' }];
          const rows = texts[batch] === 'd' ? [[1], [2]] : [];
          onEvent({ kind: 'result-set', batch, resultSet: { columns, rows, rowCount: rows.length } });
        }
        const error = { code: '207', message: 'Invalid column', batch: failing, line: null };
        if (failing >= 0) onEvent({ kind: 'error', error });
        const failed: RunResult = { ...doneResult, status: 'failed', counts: unknownCounts, error };
        session.end = () => (failing < 0 ? doneResult : failed);
        return run.call(session, job, onEvent);
      };
    };
    await inspector.check(uri, table);
    expect(jobs).toEqual([['a', 'b', 'd'], ['d']]);
    expect(shown().map(({ name, offending, error, refusal }) => ({ name, offending, error, refusal }))).toEqual([
      { name: 'a', offending: 0, error: null, refusal: null },
      { name: 'b', offending: null, error: 'Invalid column', refusal: null },
      { name: 'c', offending: null, error: null, refusal: 'No input.' },
      { name: 'd', offending: 2, error: null, refusal: null },
    ]);
    expect(page.run).toMatchObject({ status: 'failed' });
    expect(inspector.checksScript).toBe('-- all');
  });
});
