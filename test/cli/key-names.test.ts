import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

const tables = `CREATE TABLE stg_person (person_no VARCHAR, kind VARCHAR, phone VARCHAR, LDTS TIMESTAMP, RSRC VARCHAR);
CREATE TABLE sat_person (HK_PERSON VARCHAR NOT NULL, LDTS TIMESTAMP NOT NULL, RSRC VARCHAR NOT NULL, HD_PERSON VARCHAR,
  kind VARCHAR, phone VARCHAR, PRIMARY KEY (HK_PERSON, LDTS));
CREATE TABLE ma_sat_person (HK_PERSON VARCHAR NOT NULL, LDTS TIMESTAMP NOT NULL, RSRC VARCHAR NOT NULL,
  kind VARCHAR NOT NULL, HD_PERSON VARCHAR, phone VARCHAR, PRIMARY KEY (HK_PERSON, LDTS, kind));
CREATE TABLE sts_person (HK_PERSON VARCHAR NOT NULL, LDTS TIMESTAMP NOT NULL, RSRC VARCHAR NOT NULL,
  is_alive INTEGER NOT NULL, PRIMARY KEY (HK_PERSON, LDTS));
CREATE TABLE stg_work (person_no VARCHAR, firm_no VARCHAR, since TIMESTAMP, LDTS TIMESTAMP, RSRC VARCHAR);
CREATE TABLE eff_sat_work (HK_WORK VARCHAR NOT NULL, HK_PERSON VARCHAR NOT NULL, HK_FIRM VARCHAR NOT NULL,
  start_ts TIMESTAMP NOT NULL, end_ts TIMESTAMP NOT NULL, LDTS TIMESTAMP NOT NULL, RSRC VARCHAR NOT NULL,
  PRIMARY KEY (HK_WORK, LDTS));
CREATE TABLE nh_link_work (HK_WORK VARCHAR PRIMARY KEY, HK_PERSON VARCHAR NOT NULL, HK_FIRM VARCHAR NOT NULL,
  since TIMESTAMP, LDTS TIMESTAMP NOT NULL, RSRC VARCHAR NOT NULL);
CREATE TABLE link_work (HK_WORK VARCHAR PRIMARY KEY, HK_PERSON VARCHAR NOT NULL, HK_FIRM VARCHAR NOT NULL,
  LDTS TIMESTAMP NOT NULL, RSRC VARCHAR NOT NULL);
CREATE TABLE hub_person (HK_PERSON VARCHAR PRIMARY KEY, person_no VARCHAR NOT NULL,
  LDTS TIMESTAMP NOT NULL, RSRC VARCHAR NOT NULL);
`;
const person = 'person_no,kind,phone,LDTS,RSRC\n';
const work = 'person_no,firm_no,since,LDTS,RSRC\n';
const driving = ['--set', 'driving_key=["HK_PERSON"]', '--set', 'secondary_key=["HK_FIRM"]'];

/** Pattern, its tables, rows of a first load, rows that its guard stops, what the message begins with, options. */
const late: readonly (readonly [string, string, string, string, string, string, ...string[]])[] = [
  [
    'satellite',
    'stg_person',
    'sat_person',
    `${person}p1,home,1,2026-03-02,x\n`,
    `${person}p1,home,2,2026-03-01,x\n`,
    'late_row: p1',
  ],
  [
    'ma_satellite',
    'stg_person',
    'ma_sat_person',
    `${person}p1,home,1,2026-03-02,x\n`,
    `${person}p1,home,2,2026-03-01,x\n`,
    'late_row: p1',
  ],
  [
    'ma_satellite',
    'stg_person',
    'ma_sat_person',
    `${person}p1,home,1,2026-03-02,x\n`,
    `${person}p1,home,2,2026-03-02,x\n`,
    'same_timestamp_conflict: p1',
  ],
  [
    'ma_satellite',
    'stg_person',
    'ma_sat_person',
    person,
    `${person}p1,home,1,2026-03-01,x\np1,home,2,2026-03-01,x\n`,
    'duplicate_key: p1/home',
  ],
  [
    'status_tracking_satellite',
    'stg_person',
    'sts_person',
    `${person}p1,home,1,2026-03-02,x\n`,
    `${person}p1,home,2,2026-03-01,x\n`,
    'late_row: p1',
    '--set',
    'status_column=is_alive',
  ],
  [
    'eff_satellite',
    'stg_work',
    'eff_sat_work',
    `${work}p1,f1,2026-03-02,2026-03-02,x\n`,
    `${work}p1,f2,2026-03-01,2026-03-01,x\n`,
    'late_row: p1/f2',
    ...driving,
  ],
  [
    'nh_link',
    'stg_work',
    'nh_link_work',
    `${work}p1,f1,2026-03-01,2026-03-01,x\np1,f1,2026-03-01,2026-03-01,y\n`,
    `${work}p2,f1,2026-03-01,2026-03-01,x\np2,f1,2026-03-02,2026-03-01,x\np3,f1,2026-03-02,2026-03-01,x\n`,
    'duplicate_key: p2/f1',
  ],
  [
    'link',
    'stg_work',
    'link_work',
    `${work}p1,f1,2026-03-01,2026-03-01,x\n`,
    `${work}p2,f1,2026-03-01,2026-03-01,x\np2,f1,2026-03-01,2026-03-01,x\n`,
    'duplicate_key: p2/f1',
    '--set',
    'duplicates=fail',
  ],
  [
    'hub',
    'stg_person',
    'hub_person',
    `${person}p1,home,1,2026-03-02,x\n`,
    `${person}p2,home,1,2026-03-02,x\np2,home,2,2026-03-03,x\n`,
    'duplicate_key: p2',
    '--set',
    'duplicates=fail',
  ],
];

test.each(late)(
  'a guard of %s from %s into %s names the business key',
  async (pattern, source, target, first, second, message, ...options: string[]) => {
    const terminal = await openTerminal({ 'tables.sql': tables, 'first.csv': first, 'second.csv': second });
    const on = ['--connection', 'duckdb:w.duckdb'];
    const generated = [
      '--source',
      source,
      '--target',
      target,
      '--ddl',
      'tables.sql',
      '--platform',
      'duckdb',
      '--out',
      '.',
    ];
    const made = await terminal.call('generate', pattern, ...generated, ...options);
    expect(made).toMatchObject({ code: 0 });
    const script = made.out.trim();
    const seed = (csv: string) => terminal.call('seed', '--ddl', 'tables.sql', ...on, '--csv', `${source}=${csv}`);
    expect((await seed('first.csv')).code).toBe(0);
    expect(await terminal.call('run', script, '--ddl', 'tables.sql', ...on)).toMatchObject({ code: 0, err: [] });
    expect((await seed('second.csv')).code).toBe(0);
    const { code, err } = await terminal.call('run', script, '--ddl', 'tables.sql', ...on);
    expect(code).toBe(1);
    expect(err[0]).toContain(`${message} (batch 1`);
  },
);

test('keys that the hash rules make one stay one row, under the lowest of their names', async () => {
  const terminal = await openTerminal({
    'tables.sql': tables,
    'first.csv': `${work}p1,f1,2026-03-02,2026-03-02,x\nP1,f1,2026-03-02,2026-03-02,x\n`,
    'second.csv': `${work}p1,f2,2026-03-01,2026-03-01,x\nP1,f2,2026-03-01,2026-03-01,x\n`,
  });
  const on = ['--ddl', 'tables.sql', '--connection', 'duckdb:w.duckdb'];
  const generated = ['--source', 'stg_work', '--target', 'eff_sat_work', '--ddl', 'tables.sql', '--out', '.'];
  const rules = ['--set', 'hash_rules.case=upper', '--platform', 'duckdb'];
  await terminal.call('generate', 'eff_satellite', ...generated, ...driving, ...rules);
  await terminal.call('seed', ...on, '--csv', 'stg_work=first.csv');
  const { out } = await terminal.call('run', 'eff_satellite_eff_sat_work.sql', ...on);
  expect(out).toMatch(/inserted +1\n/);
  await terminal.call('seed', ...on, '--csv', 'stg_work=second.csv');
  const { err } = await terminal.call('run', 'eff_satellite_eff_sat_work.sql', ...on);
  expect(err[0]).toContain('late_row: P1/f2 (batch 1');
});

test('relationships that the hash rules make one are one content, whatever the writing of their keys', async () => {
  const rows = `${work}p1,f1,2026-03-01,2026-03-01,x\nP1,f1,2026-03-01,2026-03-01,x\n`;
  const terminal = await openTerminal({ 'tables.sql': tables, 'first.csv': rows });
  const on = ['--ddl', 'tables.sql', '--connection', 'duckdb:w.duckdb'];
  const generated = ['--source', 'stg_work', '--target', 'nh_link_work', '--ddl', 'tables.sql', '--out', '.'];
  await terminal.call('generate', 'nh_link', ...generated, '--set', 'hash_rules.case=upper', '--platform', 'duckdb');
  await terminal.call('seed', ...on, '--csv', 'stg_work=first.csv');
  const { code, out } = await terminal.call('run', 'nh_link_nh_link_work.sql', ...on);
  expect([code, /inserted +(\d+)/.exec(out)?.[1]]).toEqual([0, '1']);
});
