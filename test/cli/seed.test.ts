import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../runner/src/open-session.ts';
import { queryRows } from '../../runner/src/queries.ts';
import { duckdbSettings } from '../runner/settings.ts';
import { bundle } from '../support/bundle.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const ddl = `USE [Stage]
GO
CREATE TABLE [dbo].[Unit] (
  [UnitNo] int NOT NULL PRIMARY KEY, [Name] nvarchar(5) NULL, [Price] decimal(8,2) NULL, [Seen] datetime2(7) NULL,
  [Code] varbinary(4) NULL, [On] bit NULL DEFAULT ((1)), [Id] int IDENTITY(1,1) NOT NULL, [Row] rowversion)
GO
USE [House]
GO
CREATE TABLE [dw].[Unit] ([UnitNo] int NOT NULL, [Name] nvarchar(5) NOT NULL DEFAULT (N'none'))
GO
`;
const csv =
  'UnitNo,Name,Price,Seen,Code,On\n1,,1.50,2026-03-01 10:00:00,0x0aff,1\n2,"",,,,0\n3,"a,""b",-0.05,2026-03-01,,\n';

async function rowsOf(terminal: Terminal, text: string) {
  const session = await openSession(duckdbSettings(terminal.path('w.duckdb')), null);
  onTestFinished(() => session.close());
  const rows = await queryRows(session, text);
  await session.close();
  return rows;
}

const seed = (terminal: Terminal, ...args: string[]) =>
  terminal.call('seed', '--ddl', 'ddl', '--connection', 'duckdb:w.duckdb', ...args);

describe('seed', () => {
  test('creates the tables of a folder with their databases, keys, lengths and identities, and loads CSV', async () => {
    const terminal = await openTerminal({ 'ddl/tables.sql': ddl, 'unit.csv': csv });
    const called = await seed(terminal, '--csv', 'Stage.dbo.Unit=unit.csv');
    expect(called).toEqual({ code: 0, err: [], out: '2 tables in duckdb:w.duckdb\nStage.dbo.Unit: 3 rows\n' });
    expect(await rowsOf(terminal, 'SELECT * FROM "Stage".dbo."Unit" ORDER BY 1')).toEqual([
      [1, null, '1.50', '2026-03-01 10:00:00.000000', '0aff', true, 1, null],
      [2, '', null, null, null, false, 2, null],
      [3, 'a,"b', '-0.05', '2026-03-01 00:00:00.000000', null, null, 3, null],
    ]);
    await expect(
      rowsOf(terminal, `INSERT INTO "Stage".dbo."Unit" ("UnitNo", "Name") VALUES (9, 'abcdef')`),
    ).rejects.toThrow(/CHECK/);
    await expect(rowsOf(terminal, 'INSERT INTO "Stage".dbo."Unit" ("UnitNo") VALUES (1)')).rejects.toThrow(/key/i);
    await rowsOf(terminal, 'INSERT INTO "House".dw."Unit" ("UnitNo") VALUES (1)');
    expect(await rowsOf(terminal, 'SELECT * FROM "House".dw."Unit"')).toEqual([[1, 'none']]);
  });

  test('replaces the rows of a table day by day and leaves the others', async () => {
    const terminal = await openTerminal({
      'ddl/tables.sql': ddl,
      'unit.csv': csv,
      'next.csv': 'UnitNo,Name,Price,Seen,Code,On\n7,g,,,,\n',
    });
    await seed(terminal, '--csv', 'Stage.dbo.Unit=unit.csv');
    await rowsOf(terminal, `INSERT INTO "House".dw."Unit" VALUES (1, 'kept')`);
    expect((await seed(terminal, '--csv', 'Stage.dbo.Unit=next.csv')).code).toBe(0);
    expect(await rowsOf(terminal, 'SELECT "UnitNo", "Name" FROM "Stage".dbo."Unit"')).toEqual([[7, 'g']]);
    expect(await rowsOf(terminal, 'SELECT * FROM "House".dw."Unit"')).toEqual([[1, 'kept']]);
  });

  test('numbers new rows after the highest IDENTITY value of a file, day by day', async () => {
    const terminal = await openTerminal({
      'ddl/tables.sql':
        'USE [House]\nGO\nCREATE TABLE [dw].[Unit] ([Id] int IDENTITY(1,1) NOT NULL PRIMARY KEY, [Name] nvarchar(5) NULL)\nGO\n',
      'first.csv': 'Id,Name\n5,e\n2,b\n',
      'next.csv': 'Id,Name\n3,c\n9,i\n',
      'lower.csv': 'Id,Name\n4,d\n',
      'none.csv': 'Id,Name\n',
    });
    const insert = `INSERT INTO "House".dw."Unit" ("Name") VALUES ('new') RETURNING "Id"`;
    const given: unknown[] = [];
    for (const file of ['first.csv', 'next.csv', 'lower.csv', 'none.csv']) {
      expect(await seed(terminal, '--csv', `House.dw.Unit=${file}`)).toMatchObject({ code: 0, err: [] });
      given.push(...(await rowsOf(terminal, insert)));
    }
    expect(given).toEqual([[6], [10], [11], [12]]);
  });

  test('creates the sequences that DuckDB defaults name, and goes on after the values of a file', async () => {
    const terminal = await openTerminal({
      'ddl/tables.sql': `CREATE TABLE dw.Unit (
  Id INTEGER DEFAULT nextval('seq_p') PRIMARY KEY, No UBIGINT DEFAULT nextval('keys."seq No"'), Name VARCHAR);
CREATE TABLE House.dw.Part (Id INTEGER DEFAULT nextval('seq_p'), Name VARCHAR);\n`,
      'unit.csv': 'Id,No,Name\n3,40,c\n',
    });
    const insert = `INSERT INTO dw.Unit (Name) VALUES ('new') RETURNING Id, No`;
    expect(await seed(terminal)).toMatchObject({ code: 0, err: [] });
    expect(await rowsOf(terminal, insert)).toEqual([[1, '1']]);
    expect(await seed(terminal, '--csv', 'dw.Unit=unit.csv')).toMatchObject({
      code: 0,
      err: [],
    });
    expect(await rowsOf(terminal, insert)).toEqual([[4, '41']]);
    const part = `INSERT INTO House.dw.Part (Name) VALUES ('new') RETURNING Id`;
    expect(await rowsOf(terminal, part)).toEqual([[1]]);
  });

  test('a date that no calendar has is named with its line and column, without the settings of the reader', async () => {
    const terminal = await openTerminal({
      'ddl/days.sql': 'CREATE TABLE stg_day (id INTEGER, day DATE, amount DECIMAL(9,2));',
      'days.csv': 'id,day,amount\n1,2024-02-01,1\n2,2024-02-30,2\n',
    });
    expect(await seed(terminal, '--csv', 'stg_day=days.csv')).toEqual({
      code: 1,
      out: '',
      err: [
        'days.csv, line 3, column day: "2024-02-30" is no DATE, so nothing was replaced; correct the value, or the column\'s type in the DDL.',
      ],
    });
  });

  test.each<[string, string, string]>([
    [
      'a text that is too long',
      '1,abcd,,1,1',
      'x.csv, column Name: a value is longer than the 3 characters of its type',
    ],
    ['no value for NOT NULL', ',abc,,1,1', 'x.csv, column Id: a row has no value where the DDL says NOT NULL'],
    ['a key that comes twice', '1,a,,1,1\n1,b,,1,1', 'The key "1" stands in more than one row'],
    ['a number that is too large', '1,a,,300,1', 'Column T: "300" is no UINT8'],
    ['a number with too many digits', '1,a,,3,12345.678', 'Column D: "12345.678" is no DECIMAL(5,2)'],
    ['a binary value that is none', '1,a,xyzz,3,1', 'A binary value holds "x", which is no hexadecimal digit'],
  ])('what the table says of %s is said with what to do', async (_, rows, message) => {
    const terminal = await openTerminal({
      'ddl/t.sql':
        'CREATE TABLE dbo.Stg (Id int NOT NULL PRIMARY KEY, Name nvarchar(3) NULL, B binary(2) NULL, T tinyint NULL, D decimal(5,2) NULL);\nGO\n',
      'x.csv': `Id,Name,B,T,D\n${rows}\n`,
    });
    const { code, err } = await seed(terminal, '--csv', 'dbo.Stg=x.csv');
    expect(code).toBe(1);
    expect(err).toEqual([expect.stringContaining(`${message}, so nothing was replaced; `)]);
  });

  test.each<[string, readonly string[], number, RegExp]>([
    ['a missing CSV file', ['--csv', 'Stage.dbo.Unit=none.csv'], 2, /none\.csv can't be read/],
    ['a table that is not there', ['--csv', 'Nothing=unit.csv'], 2, /names no table/],
    [
      'a name that two tables have',
      ['--csv', 'Unit=unit.csv'],
      2,
      /may be (House\.dw\.Unit or Stage\.dbo\.Unit|Stage\.dbo\.Unit or House\.dw\.Unit)/,
    ],
    [
      'strange columns',
      ['--csv', 'Stage.dbo.Unit=strange.csv'],
      2,
      /has columns that Stage\.dbo\.Unit has not: Colour/,
    ],
    [
      'missing columns',
      ['--csv', 'Stage.dbo.Unit=missing.csv'],
      2,
      /lacks columns of Stage\.dbo\.Unit: Price, Seen, Code, On/,
    ],
    ['an empty file', ['--csv', 'Stage.dbo.Unit=empty.csv'], 2, /is empty/],
    ['UTF-16', ['--csv', 'Stage.dbo.Unit=wide.csv'], 2, /save it as UTF-8/],
    ['a value of another type', ['--csv', 'Stage.dbo.Unit=words.csv'], 1, /Column Price: "many" is no DECIMAL\(8,2\)/],
    [
      'a row of another length',
      ['--csv', 'Stage.dbo.Unit=short.csv'],
      1,
      /^short\.csv, line 3 has 2 columns where the first line names 6, so nothing was replaced; correct the line\.$/,
    ],
    [
      'a text that is too long',
      ['--csv', 'Stage.dbo.Unit=long.csv'],
      1,
      /long\.csv, column Name: a value is longer than the 5 characters/,
    ],
    ['a key that is there twice', ['--csv', 'Stage.dbo.Unit=twice.csv'], 1, /key/i],
    ['no equals sign', ['--csv', 'unit.csv'], 2, /write TABLE=FILE/],
    ['an unknown option', ['--csw', 'x'], 2, /csw/],
  ])('%s is one clear line, and nothing is written', async (_, args, code, message) => {
    const head = 'UnitNo,Name,Price,Seen,Code,On\n';
    const terminal = await openTerminal({
      'ddl/tables.sql': ddl,
      'unit.csv': csv,
      'strange.csv': 'UnitNo,Name,Price,Seen,Code,On,Colour\n',
      'missing.csv': 'UnitNo,Name\n1,a\n',
      'empty.csv': '',
      'wide.csv': Buffer.from(`\ufeff${head}`, 'utf16le'),
      'words.csv': `${head}1,a,many,,,\n`,
      'short.csv': `${head}1,a,1.5,,,\n2,b\n`,
      'long.csv': `${head}1,abcdef,,,,\n`,
      'twice.csv': `${head}1,a,,,,\n1,b,,,,\n`,
    });
    const called = await seed(terminal, ...args);
    expect(called.code).toBe(code);
    expect(called.out).toBe('');
    expect(called.err).toHaveLength(1);
    expect(called.err[0]).toMatch(message);
    expect(called.err[0]).not.toContain('\n');
    expect((await readdir(terminal.cwd)).filter((name) => name.endsWith('.duckdb'))).toEqual([]);
  });

  test('a faulty file leaves the rows of every table as they were', async () => {
    const terminal = await openTerminal({ 'ddl/tables.sql': ddl, 'unit.csv': csv, 'house.csv': 'UnitNo,Name\n1,\n' });
    await seed(terminal, '--csv', 'Stage.dbo.Unit=unit.csv');
    const called = await seed(terminal, '--csv', 'Stage.dbo.Unit=unit.csv', '--csv', 'House.dw.Unit=house.csv');
    expect(called.code).toBe(1);
    expect(called.err[0]).toMatch(/NOT NULL/);
    expect(await rowsOf(terminal, 'SELECT max("Id") FROM "Stage".dbo."Unit"')).toEqual([[3]]);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['no DDL', ['seed', '--connection', 'duckdb:w.duckdb'], /--ddl PATH/],
    ['a folder that is not there', ['seed', '--ddl', 'none', '--connection', 'duckdb:w.duckdb'], /none does not exist/],
    ['a folder without tables', ['seed', '--ddl', 'loads', '--connection', 'duckdb:w.duckdb'], /No table is defined/],
    [
      'DDL cut off in the middle',
      ['seed', '--ddl', 'cut.sql', '--connection', 'duckdb:w.duckdb'],
      /cut\.sql:\d+: error/,
    ],
    ['no connection', ['seed', '--ddl', 'ddl'], /--connection/],
    ['another engine', ['seed', '--ddl', 'ddl', '--connection', 'mssql://u@h/d'], /embedded engine only/],
    ['memory', ['seed', '--ddl', 'ddl', '--connection', 'duckdb::memory:'], /duckdb:FILE/],
    [
      'a file that is no database',
      ['seed', '--ddl', 'ddl', '--connection', 'duckdb:damaged.duckdb'],
      /damaged or no DuckDB database/,
    ],
    ['a folder in place of the file', ['seed', '--ddl', 'ddl', '--connection', 'duckdb:ddl'], /is a folder/],
  ])('%s: exit 2 and one line', async (_, args, message) => {
    const terminal = await openTerminal({
      'ddl/tables.sql': ddl,
      'loads/load.sql': 'SELECT 1;',
      'cut.sql': 'CREATE TABLE dw.Unit (UnitNo int NOT NULL, Name nvarc',
      'damaged.duckdb': 'this is no database'.repeat(2000),
    });
    const called = await terminal.call(...args);
    expect(called).toMatchObject({ code: 2, out: '' });
    expect(called.err).toHaveLength(1);
    expect(called.err[0]).toMatch(message);
  });
});

describe('a database file that another process holds', () => {
  let program: string;
  beforeAll(async () => {
    program = await bundle('runner/src/main.ts');
  });

  test('is one clear line that says so', async () => {
    const terminal = await openTerminal({ 'ddl/tables.sql': ddl });
    await seed(terminal);
    const other = fork(program, [], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    onTestFinished(() => void other.kill('SIGKILL'));
    const settings = duckdbSettings(terminal.path('w.duckdb'));
    other.send({ kind: 'connect', id: 1, session: 'a', params: { settings, secret: null } });
    for (;;) {
      const [message] = await once(other, 'message');
      if (message.kind === 'answer') break;
    }
    const called = await seed(terminal);
    expect(called.code).toBe(2);
    expect(called.err).toHaveLength(1);
    expect(called.err[0]).toMatch(/is in use by another program \(process \d+\); close it there/);
    expect(existsSync(terminal.path('w.duckdb'))).toBe(true);
  });
});

describe('a load that is generated into the folder of the tables', () => {
  const tables = `CREATE TABLE stg.Unit (UnitNo INTEGER NOT NULL PRIMARY KEY, Name VARCHAR);
CREATE TABLE dw.Unit (UnitNo INTEGER NOT NULL PRIMARY KEY, Name VARCHAR);
`;
  async function prepared(): Promise<Terminal> {
    const terminal = await openTerminal({ 'ddl/tables.sql': tables, 'unit.csv': 'UnitNo,Name\n1,a\n2,b\n' });
    const names = ['--source', 'stg.Unit', '--target', 'dw.Unit', '--ddl', 'ddl', '--platform', 'duckdb'];
    expect(await terminal.call('generate', 'scd1', ...names, '--out', 'ddl/gen')).toMatchObject({ code: 0 });
    expect(await seed(terminal, '--csv', 'stg.Unit=unit.csv')).toMatchObject({
      code: 0,
      out: '2 tables in duckdb:w.duckdb\nstg.Unit: 2 rows\n',
    });
    return terminal;
  }
  const load = (terminal: Terminal) =>
    terminal.call('run', 'ddl/gen/scd1_Unit.sql', '--connection', 'duckdb:w.duckdb', '--json');

  test('runs, and again after the next seed', async () => {
    const terminal = await prepared();
    expect(JSON.parse((await load(terminal)).out)).toMatchObject({ status: 'done', counts: { inserted: 2 } });
    await seed(terminal, '--csv', 'stg.Unit=unit.csv');
    expect(JSON.parse((await load(terminal)).out)).toMatchObject({ status: 'done', counts: { unchanged: 2 } });
  });

  test('says how to clear a lock that stands in its way', async () => {
    const terminal = await prepared();
    await rowsOf(terminal, 'CREATE TABLE dw."Unit_load_is_running" (one INTEGER)');
    const called = await load(terminal);
    expect(called.code).toBe(1);
    expect(JSON.parse(called.out)).toMatchObject({ status: 'failed', error: { code: 'concurrent_load' } });
    expect(called.err).toEqual([
      expect.stringMatching(
        /^concurrent_load: a load of Unit is running, or one that was ended has left its lock; where none is running, drop the table Unit_load_is_running \(batch 1.*\)\..* Wait until the other load has ended, then run it again\.$/,
      ),
    ]);
    await rowsOf(terminal, 'DROP TABLE dw."Unit_load_is_running"');
    expect(JSON.parse((await load(terminal)).out)).toMatchObject({ status: 'done', counts: { inserted: 2 } });
  });
});
