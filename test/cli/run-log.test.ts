/** A folder's run log: the table that `create run-log` writes is the one that generated loads fill. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../../cli/src/command-line.ts';
import { readConnectionText } from '../../runner/src/connection-text.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query, queryRows } from '../../runner/src/queries.ts';
import type { Session } from '../../runner/src/session.ts';
import { loadOf } from '../../server/src/workspace/load-of.ts';
import { folderOf } from '../support/folders.ts';

const ddl = `CREATE SCHEMA stg;
CREATE SCHEMA dw;
CREATE TABLE stg.part (part_no VARCHAR NOT NULL, colour VARCHAR);
CREATE TABLE dw.part (part_no VARCHAR NOT NULL PRIMARY KEY, colour VARCHAR);
`;

let session: Session;
beforeAll(async () => {
  const read = readConnectionText('duckdb::memory:');
  if (read.kind !== 'settings') throw new Error('no settings');
  session = await openSession(read.settings, null);
});
afterAll(() => session.close());

async function create(...args: readonly string[]) {
  let out = '';
  const err: string[] = [];
  const code = await commandLine(['create', 'run-log', ...args], {
    cwd: '.',
    env: {},
    out: (text) => {
      out += text;
    },
    err: (text) => err.push(text),
  });
  return { code, out, err };
}

test('a load writes when it began and what it did', async () => {
  const folder = await folderOf(
    { 'ddl.sql': ddl, 'mergewright.json': '{ "style": { "runLog": "etl.RunLog" } }' },
    { platform: 'duckdb' },
  );
  expect(folder.problems).toEqual([]);
  const name = (schema: string) => ({ database: null, schema, table: 'part' });
  const { value, problems } = loadOf(folder, {
    version: 1,
    pattern: 'scd1',
    platform: 'duckdb',
    form: 'script',
    shape: 'separate',
    source: name('stg'),
    target: name('dw'),
    options: { keys: ['part_no'] },
  });
  expect(problems).toEqual([]);
  const { code, out } = await create('--target', 'etl.RunLog', '--platform', 'duckdb');
  expect(code).toBe(0);
  await query(session, `CREATE SCHEMA etl; ${out}${ddl}INSERT INTO stg.part VALUES ('a', 'red'), ('b', 'blue');`);
  for (const batch of value?.batches ?? []) await query(session, batch.text);
  expect(await queryRows(session, 'SELECT load_name, event, inserted, updated FROM etl.RunLog ORDER BY event')).toEqual(
    [
      ['scd1 dw.part', 'begun', null, null],
      ['scd1 dw.part', 'done', '2', '0'],
    ],
  );
});

test('a run log needs its table and its platform', async () => {
  expect((await create('--target', 'etl.RunLog')).code).toBe(2);
  expect((await create('--platform', 'sqlserver')).code).toBe(2);
  const { out } = await create('--target', 'etl.RunLog', '--platform', 'fabric');
  expect(out).toMatch(/^CREATE TABLE \[etl\]\.\[RunLog\] \(\n {4}load_name varchar\(400\)/);
});
