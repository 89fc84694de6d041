/** What the command line says to wrong usage: exit code 2, nothing on standard output, one line that says what to do. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { openTerminal } from './terminal.ts';

const files = {
  'ddl/tables.sql': 'CREATE TABLE stg.t (a INTEGER); CREATE TABLE dw.t (a INTEGER PRIMARY KEY);',
  'load.sql': 'INSERT INTO dw.t SELECT 1;',
  'not.duckdb': 'no database',
  'read.sql': 'SELECT 1;',
};

test.each([['--version'], ['-v'], ['version']])('%s', async (argument) => {
  const terminal = await openTerminal();
  expect(await terminal.call(argument)).toEqual({ code: 0, out: `${manifest.version}\n`, err: [] });
});

test.each([
  [['run', '--help'], 'mergewright run SCRIPT'],
  [['help', 'run'], 'mergewright run SCRIPT'],
  [['generate', '--help'], '--extra ROLE=TABLE'],
  [['run', 'load.sql', '-h'], 'mergewright run SCRIPT'],
  [['generate', 'scd2', '--help'], 'closing'],
  [['--help'], 'mergewright COMMAND'],
])('help: %j', async (args, part) => {
  const terminal = await openTerminal();
  const { code, out, err } = await terminal.call(...args);
  expect({ code, err }).toEqual({ code: 0, err: [] });
  expect(out).toContain(part);
});

const on = ['--connection', 'duckdb:not.duckdb'];
test.each<[string[], RegExp]>([
  [['nonsense'], /There is no command "nonsense"; choose one of catalog/],
  [['help', 'nonsense'], /There is no command "nonsense"/],
  [['init', 'nowhere'], /nowhere does not exist; name the folder that holds your DDL, or create it first/],
  [['init', 'load.sql'], /load.sql is a file; name the folder/],
  [['init', 'a', 'b'], /Name one folder/],
  [['catalog'], /Name the files or folders/],
  [['catalog', 'nowhere'], /nowhere does not exist/],
  [['catalog', 'ddl', '--platform'], /mergewright catalog --help shows how it is called/],
  [['catalog', 'ddl', '--platform', 'oracle'], /"oracle" is no platform/],
  [['lint'], /Name the files or folders/],
  [['lint', 'load.sql', '--nonsense'], /'--nonsense'; mergewright lint --help shows how it is called/],
  [['lint', 'load.sql', '--format', 'xml'], /"xml" is no format/],
  [['run'], /Name one script/],
  [['run', 'load.sql'], /Name the connection/],
  [['run', 'load.sql', 'load.sql', ...on], /Name one script/],
  [['run', 'nowhere.sql', ...on], /nowhere.sql can't be read/],
  [['run', 'ddl', ...on], /ddl can't be read/],
  [['run', 'load.sql', ...on], /no DuckDB database/],
  [['run', 'load.sql', '--connection', 'duckdb:'], /duckdb:/],
  [['run', 'load.sql', '--connection', 'duckdb:ddl'], /is a folder/],
  [['run', 'load.sql', '--connection', 'nowhere'], /There is no connection "nowhere"/],
  [['run', 'load.sql', '--connection', 'postgres://x'], /is no connection/],
  [['run', 'load.sql', '--connection', 'spark:local'], /not available yet/],
  [['run', 'load.sql', '--connection', 'mssql://'], /needs a host/],
  [['run', 'load.sql', ...on, '--param', 'x'], /write NAME=VALUE/],
  [['run', 'load.sql', ...on, '--param', '=x'], /write NAME=VALUE/],
  [['run', 'load.sql', ...on, '--param', 'x=1'], /no block from "-- Parameters"/],
  [['run', 'load.sql', ...on, '--ddl', 'nowhere'], /nowhere does not exist/],
  [['preview', 'read.sql', ...on], /writes to no table/],
  [['preview', 'load.sql', ...on, '--yes', 'x'], /takes neither --yes nor --dry-run/],
  [['preview', 'load.sql', ...on, '--dry-run'], /takes neither --yes nor --dry-run/],
  [['seed'], /Name the tables with --ddl/],
  [['seed', '--ddl', 'ddl', '--connection', 'mssql://sa@localhost/db'], /embedded engine only/],
  [['seed', '--ddl', 'ddl', ...on, '--csv', 'dw.t'], /write TABLE=FILE/],
  [['seed', '--ddl', 'ddl', ...on, '--csv', 'dw.u=load.sql'], /names no table/],
  [['describe', 'dw.t'], /Name the connection/],
  [['describe', ...on], /Name the tables/],
  [['create', 'hub'], /--source/],
  [['generate', 'hub', '--source', 'dw.t'], /--target/],
  [
    ['generate', 'scd0', '--source', 'stg.t', '--target', 'dw.t', '--platform', 'duckdb', '--out', 'load.sql'],
    /can't be written to .*load.sql.*; name another folder with --out/,
  ],
])('%j', async (args, message) => {
  const terminal = await openTerminal(files);
  const { code, out, err } = await terminal.call(...args);
  expect({ code, out, lines: err.length }).toEqual({ code: 2, out: '', lines: 1 });
  expect(err[0]).toMatch(message);
  expect(err[0]).not.toContain('\n');
  expect(existsSync(terminal.path('nowhere'))).toBe(false);
});
