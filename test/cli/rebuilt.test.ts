import { expect, test } from 'vitest';
import type { PreviewResult, RunResult } from '../../protocol/run.ts';
import { openTerminal } from './terminal.ts';

const ddl = `CREATE TABLE as_of (as_of_date DATE);
CREATE TABLE hub_customer (customer_hk VARCHAR(64) NOT NULL PRIMARY KEY, customer_id VARCHAR(20) NOT NULL, load_ts DATE NOT NULL, record_source VARCHAR(20) NOT NULL);
CREATE TABLE sat_name (customer_hk VARCHAR(64) NOT NULL, load_ts DATE NOT NULL, record_source VARCHAR(20) NOT NULL, hashdiff VARCHAR(64) NOT NULL, name VARCHAR(50), PRIMARY KEY (customer_hk, load_ts));
CREATE TABLE pit_customer (customer_hk VARCHAR(64) NOT NULL, as_of_date DATE NOT NULL, sat_name_hk VARCHAR(64), sat_name_ldts DATE, PRIMARY KEY (customer_hk, as_of_date));
`;
const first = `INSERT INTO as_of VALUES ('2026-01-06'), ('2026-01-07');
INSERT INTO hub_customer VALUES ('aa', '1', '2026-01-01', 'S'), ('bb', '2', '2026-01-01', 'S');
INSERT INTO sat_name VALUES ('aa', '2026-01-05', 'S', 'x', 'Ann'), ('bb', '2026-01-01', 'S', 'x', 'Bob');
`;
const later = `DELETE FROM as_of WHERE as_of_date = '2026-01-07';
INSERT INTO as_of VALUES ('2026-01-08');
INSERT INTO sat_name VALUES ('bb', '2026-01-06', 'S', 'y', 'Bobby');
`;

test('a table that is built anew is previewed by the rows that come, that become other ones and that go', async () => {
  const terminal = await openTerminal({ 'ddl.sql': ddl, 'first.sql': first, 'later.sql': later });
  const on = ['--connection', 'duckdb:w.duckdb', '--ddl', 'ddl.sql'];
  const made = await terminal.call(
    ...['generate', 'pit', '--source', 'as_of', '--target', 'pit_customer', '--ddl', 'ddl.sql', '--platform', 'duckdb'],
  );
  await terminal.write('pit.sql', made.out);
  await terminal.call('seed', '--ddl', 'ddl.sql', '--connection', 'duckdb:w.duckdb');
  const done = async (script: string): Promise<RunResult> =>
    JSON.parse((await terminal.call('run', script, ...on, '--json')).out);
  for (const script of ['first.sql', 'pit.sql', 'later.sql']) expect((await done(script)).status).toBe('done');

  const preview: PreviewResult = JSON.parse((await terminal.call('preview', 'pit.sql', ...on, '--json')).out);
  const row = (key: string, date: string, loaded: string) => ({
    customer_hk: key,
    as_of_date: date,
    sat_name_hk: key,
    sat_name_ldts: loaded,
  });
  expect(preview.samples).toEqual({
    inserted: [row('aa', '2026-01-08', '2026-01-05'), row('bb', '2026-01-08', '2026-01-06')],
    updated: [{ before: row('bb', '2026-01-06', '2026-01-01'), after: row('bb', '2026-01-06', '2026-01-06') }],
    deleted: [
      { before: row('aa', '2026-01-07', '2026-01-05'), after: null },
      { before: row('bb', '2026-01-07', '2026-01-01'), after: null },
    ],
  });
  expect((await done('pit.sql')).counts).toEqual(preview.counts);
});
