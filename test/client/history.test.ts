import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunHistory } from '../../client/src/runs/history.ts';
import type { HistoryEntry } from '../../protocol/panel.ts';

const entry: HistoryEntry = {
  id: 'a',
  title: 'Load',
  load: 'load',
  mode: 'run',
  connection: 'Embedded engine',
  environment: 'embedded',
  startedAt: '2026-03-01T10:00:00.000Z',
  status: null,
  counts: null,
  elapsedMs: null,
  message: null,
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mergewright-history-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the history of runs', () => {
  test('the end of a run takes the place of its beginning', async () => {
    const history = new RunHistory(join(folder, 'storage', 'history.jsonl'), () => 10);
    await history.record(entry);
    await history.record({ ...entry, status: 'done', elapsedMs: 12 });
    expect(await history.entries()).toEqual([{ ...entry, status: 'done', elapsedMs: 12 }]);
  });

  test('a run whose end was never written is unknown, not absent', async () => {
    const file = join(folder, 'history.jsonl');
    await new RunHistory(file, () => 10).record(entry);
    expect((await new RunHistory(file, () => 10).entries())[0]?.status).toBeNull();
  });

  test('a line that was cut off costs that line only', async () => {
    const file = join(folder, 'history.jsonl');
    const history = new RunHistory(file, () => 10);
    await history.record(entry);
    await appendFile(file, '{"id":"b","star\n');
    await history.record({ ...entry, id: 'c' });
    expect((await history.entries()).map(({ id }) => id)).toEqual(['a', 'c']);
  });

  test('keeps the latest entries, on disk too', async () => {
    const file = join(folder, 'history.jsonl');
    const history = new RunHistory(file, () => 3);
    for (let number = 0; number < 20; number += 1) await history.record({ ...entry, id: `r${number}` });
    expect((await history.entries()).map(({ id }) => id)).toEqual(['r17', 'r18', 'r19']);
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(3);
  });
});
