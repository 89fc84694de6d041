/** Paths of generated files: each its own, below the folder that was named, and such that every system takes them. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

const stage = (name: string) =>
  `CREATE TABLE ${name} (unit_no varchar(20) NOT NULL PRIMARY KEY, name varchar(50) NULL);\n`;
const hub = (name: string) =>
  `CREATE TABLE ${name} (UnitKey char(64) NOT NULL PRIMARY KEY, unit_no varchar(20) NOT NULL, LoadDate datetime2(3) NOT NULL, RecordSource varchar(20) NOT NULL);\n`;
const load = (source: string, target: string) => ({ pattern: 'hub', source, target });

test('a name with slashes, dots and signs stays one file in the folder', async () => {
  const [source, target] = ['stg.[a/../../../evil]', 'dw.[Hub\\../../../evil: *?"<>|]'];
  const terminal = await openTerminal({ 'in/ddl.sql': stage(source) + hub(target) });
  const tables = ['--source', source, '--ddl', 'in'];
  const around = readdirSync(dirname(terminal.cwd)).filter((name) => name.includes('evil'));
  for (const [args, files] of [
    [
      ['generate', 'hub', ...tables, '--target', target, '--form', 'procedure', '--platform', 'sqlserver'],
      ['hub_Hub_.._.._.._evil_ ______.sql', 'run_hub_Hub_.._.._.._evil_ ______.sql'],
    ],
    [['create', 'hub', ...tables, '--target', 'dw.[x/../y]'], ['dw.x_.._y.sql']],
    [['create', 'run-log', '--target', 'etl.[x/y]', '--platform', 'duckdb'], ['etl.x_y.sql']],
  ] as const) {
    const { code, err } = await terminal.call(...args, '--out', 'out');
    expect([code, err.filter((line) => line.includes('error'))]).toEqual([0, []]);
    const written = readdirSync(terminal.path('out'));
    for (const file of files) expect(written).toContain(file);
  }
  expect(readdirSync(terminal.cwd).sort()).toEqual(['in', 'out']);
  expect(readdirSync(dirname(terminal.cwd)).filter((name) => name.includes('evil'))).toEqual(around);
});

test.each([
  [
    'one name in two schemas',
    [load('stg.A', 'dw.Hub'), load('stg.A', 'mart.HUB')],
    ['hub_HUB_mart.sql', 'hub_Hub_dw.sql'],
  ],
  [
    'two sources of one table',
    [load('stg.A', 'dw.Hub'), load('stg.B', 'dw.Hub')],
    ['hub_Hub_from_stg.A.sql', 'hub_Hub_from_stg.B.sql'],
  ],
  [
    'two sources of two tables',
    [load('stg.A', 'dw.Hub'), load('stg.B', 'dw.Hub'), load('stg.A', 'mart.Hub'), load('stg.B', 'mart.Hub')],
    [
      'hub_Hub_dw_from_stg.A.sql',
      'hub_Hub_dw_from_stg.B.sql',
      'hub_Hub_mart_from_stg.A.sql',
      'hub_Hub_mart_from_stg.B.sql',
    ],
  ],
  ['loads alone', [load('stg.A', 'dw.Hub')], ['hub_Hub.sql']],
])('all loads of a folder get a file each: %s', async (_name, loads, files) => {
  const sources = [...new Set(loads.map(({ source }) => source))].map(stage).join('');
  const targets = [...new Set(loads.map(({ target }) => target))].map(hub).join('');
  const terminal = await openTerminal({
    'ddl.sql': sources + targets,
    'mergewright.json': JSON.stringify({ loads }),
  });
  const all = await terminal.call('generate', '--all', '--ddl', 'ddl.sql', '--platform', 'sqlserver', '--out', 'out');
  expect(all.err.filter((line) => line.includes('error'))).toEqual([]);
  expect(
    readdirSync(terminal.path('out'))
      .filter((name) => name.startsWith('hub_'))
      .sort(),
  ).toEqual(files);
  const headers = files.map(
    (file) => /"source":.*?,"platform"/.exec(readFileSync(terminal.path(`out/${file}`), 'utf8'))?.[0],
  );
  expect(new Set(headers).size).toBe(loads.length);
});
