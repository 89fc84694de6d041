/** What a preview of a hand-written script says is what the run then leaves behind: row by row, over random tables. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CellValue, PreviewResult, Sample, SampleRow } from '../../protocol/run.ts';
import { readConnectionText } from '../../runner/src/connection-text.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query, queryRows } from '../../runner/src/queries.ts';
import { defaultCancelDeadlineMs, Run } from '../../runner/src/run.ts';
import type { Session } from '../../runner/src/session.ts';
import { executableLoad } from '../../server/src/workspace/executable.ts';
import { folderOf } from '../support/folders.ts';
import { scripts } from '../support/hand-written.ts';
import { seeded } from '../support/mutate.ts';

const ddl = `
CREATE SCHEMA stg;
CREATE SCHEMA dw;
CREATE TABLE stg.customer (customer_no VARCHAR, city VARCHAR, amount INTEGER, is_deleted BOOLEAN);
CREATE TABLE dw.customer (
  customer_key INTEGER NOT NULL,
  customer_no VARCHAR NOT NULL,
  city VARCHAR,
  amount INTEGER,
  valid_from DATE NOT NULL,
  valid_to DATE,
  is_current BOOLEAN NOT NULL
);
CREATE TABLE dw.account (customer_no VARCHAR PRIMARY KEY, city VARCHAR, amount INTEGER, note VARCHAR DEFAULT 'none');
CREATE TABLE dw.history (customer_no VARCHAR, city VARCHAR, happened VARCHAR);
`;
const tables = ['dw.customer', 'dw.account', 'dw.history'];

let session: Session;
beforeAll(async () => {
  const read = readConnectionText('duckdb::memory:');
  if (read.kind !== 'settings') throw new Error('no settings');
  session = await openSession(read.settings, null);
  await query(session, ddl);
});
afterAll(() => session.close());

describe('the rows that a preview shows make the run’s tables of those before', () => {
  const cases = scripts.flatMap(({ name, text }) => [1, 2, 3, 4, 5, 6].map((seed) => ({ name, text, seed })));
  test.each(cases)('$name, seed $seed', async ({ text, seed }) => {
    await fill(seed);
    const folder = await folderOf({ 'ddl.sql': ddl }, { platform: 'duckdb' });
    const { value: load } = executableLoad(folder, { text, platform: 'duckdb', parameters: {}, title: 'script' });
    expect(load?.previewRefusal).toBeNull();
    const before = await stored();
    const previewed = await send('preview', load?.preview?.batches ?? []);
    expect(previewed.error).toBeNull();
    expect(await stored()).toEqual(before);

    const run = await send('run', load?.batches ?? []);
    const fails = previewed.warnings.filter(({ message }) => message.includes('the run fails'));
    expect(run.error === null, `${run.error?.message} ${JSON.stringify(fails)}`).toBe(fails.length === 0);
    if (run.error !== null) return;
    const changes = Object.values(previewed.samples).flatMap((samples) => (samples ?? []).map(sidesOf));
    const expected = [...before];
    for (const change of changes) if (change.after !== null) expected.push(change.after);
    for (const change of changes) {
      if (change.before === null) continue;
      const at = expected.indexOf(change.before);
      expect(at, `${change.before} of ${expected.join('\n')}`).toBeGreaterThan(-1);
      expected.splice(at, 1);
    }
    expect(expected.sort()).toEqual(await stored());
    const counted = Object.values(previewed.counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
    expect(counted).toBe(changes.length);
  });
});

async function fill(seed: number): Promise<void> {
  const random = seeded(seed);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)];
  const keys = ['A', 'B', 'C', 'D', 'E', 'F'];
  const city = () => pick(["'Ulm'", "'Bonn'", "'Kiel'", 'NULL']);
  const amount = () => pick(['1', '2', 'NULL']);
  const statements = [...tables, 'stg.customer'].map((name) => `DELETE FROM ${name};`);
  let key = 0;
  for (const no of keys) {
    if (random() < 0.7) {
      statements.push(`INSERT INTO stg.customer VALUES ('${no}', ${city()}, ${amount()}, ${random() < 0.2});`);
    }
    if (random() < 0.4) statements.push(`INSERT INTO dw.account VALUES ('${no}', ${city()}, ${amount()}, 'old');`);
    const versions = Math.floor(random() * 3);
    for (let version = 1; version <= versions; version += 1) {
      key += 1;
      const isLast = version === versions && random() < 0.8;
      const end = isLast ? 'NULL' : `DATE '202${version + 1}-01-01'`;
      statements.push(
        `INSERT INTO dw.customer VALUES (${key}, '${no}', ${city()}, ${amount()}, DATE '202${version}-01-01', ${end}, ${isLast});`,
      );
    }
  }
  await query(session, statements.join('\n'));
}

async function send(
  mode: 'run' | 'preview',
  batches: readonly { text: string; line: number }[],
): Promise<PreviewResult> {
  const run = new Run(
    session,
    { mode, batches, rollBackAtEnd: true },
    { timeLimitMs: 0, cancelDeadlineMs: defaultCancelDeadlineMs, retries: 0, emit: () => undefined },
  );
  const { result } = await run.start();
  return { samples: {}, ...result };
}

/** All rows of the warehouse, each as one text, in order. */
async function stored(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of tables) {
    const rows = await queryRows(session, `SELECT * FROM ${table}`);
    found.push(...rows.map((row) => rowText(row)));
  }
  return found.sort();
}

function sidesOf(sample: Sample | SampleRow): { readonly before: string | null; readonly after: string | null } {
  if (isSample(sample)) return { before: sideText(sample.before), after: sideText(sample.after) };
  return { before: null, after: sideText(sample) };
}

function isSample(sample: Sample | SampleRow): sample is Sample {
  return 'before' in sample && 'after' in sample;
}

function sideText(row: SampleRow | null): string | null {
  return row === null ? null : rowText(Object.values(row));
}

function rowText(values: readonly CellValue[]): string {
  return JSON.stringify(values);
}
