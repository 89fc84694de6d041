import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { PrepareEmbeddedDatabaseCommand } from '../../client/src/commands/prepare-embedded-database.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { defaultCancelDeadlineMs, Run } from '../../runner/src/run.ts';
import { csvHeader } from '../../server/src/generate/csv.ts';
import { seedBatches } from '../../server/src/generate/seed.ts';
import { duckdbSettings } from '../runner/settings.ts';
import { folderOf } from '../support/folders.ts';
import { FakeServer, fakeConnections, ScriptedPrompts } from './fakes.ts';

const ddl = 'CREATE TABLE stg_day (id INTEGER, day DATE);';

/** The command over the core and the embedded engine, with one CSV file for the one table. */
async function prepare(csv: string): Promise<ScriptedPrompts> {
  const root = await mkdtemp(join(tmpdir(), 'mergewright-prepare-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const path = join(root, 'stg_day.csv');
  await writeFile(path, csv);
  const { tables } = (await folderOf({ 'days.sql': ddl })).catalog;
  const [table] = tables;
  const header = csvHeader(csv);
  if (table === undefined || header === null) throw new Error('no table');
  const prompts = new ScriptedPrompts(folderName(root));
  const { connections, workbench, sessions } = fakeConnections(prompts);
  workbench.find = async () => [pathToFileURL(path).href];
  workbench.folderOf = () => pathToFileURL(join(root, '..')).href;
  const server = new FakeServer({
    'mergewright/catalog': () => ({ tables, problems: [] }),
    'mergewright/seed': () => ({
      batches: seedBatches(tables, [{ table, path, header }], () => null).value,
      problems: [],
    }),
  });
  const engine = await openSession(duckdbSettings(join(root, 'w.duckdb')), null);
  onTestFinished(() => engine.close());
  sessions.prepare = (session) => {
    session.end = async (job) => {
      const options = { timeLimitMs: 0, cancelDeadlineMs: defaultCancelDeadlineMs, retries: 0, emit: () => undefined };
      return (await new Run(engine, job, options).start()).result;
    };
  };
  await new PrepareEmbeddedDatabaseCommand(server, connections, prompts, workbench).run();
  return prompts;
}

function folderName(root: string): string {
  return root.split(/[/\\]/).at(-1) ?? '';
}

test('rows of a CSV file fill the table of its name', async () => {
  expect((await prepare('id,day\n1,2024-02-01\n')).said).toEqual([
    'The embedded database has one table, 1 filled from CSV.',
  ]);
});

test('a value that its column cannot take is named with its line, as the command line does', async () => {
  await expect(prepare('id,day\n1,2024-02-01\n2,2024-02-30\n')).rejects.toThrow(
    new Error(
      'stg_day.csv, line 3, column day: "2024-02-30" is no DATE, so nothing was replaced; correct the value, or the column\'s type in the DDL.',
    ),
  );
});
