/** Values of load parameters of every type: what is one goes into the text as a literal, what is none is refused in words. */
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RunResult } from '../../protocol/run.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { queryRows } from '../../runner/src/queries.ts';
import { bindParameters, boundValues, isValueOf } from '../../server/src/generate/parameters.ts';
import { duckdbSettings } from '../runner/settings.ts';
import { openTerminal } from './terminal.ts';

const ddl = `CREATE TABLE stg.Unit (unit_no varchar(20) NOT NULL PRIMARY KEY);
CREATE TABLE dw.HubUnit (UnitKey char(64) NOT NULL PRIMARY KEY, unit_no varchar(20) NOT NULL, LoadDate datetime2(3) NOT NULL,
  RecordSource varchar(20) NOT NULL, Mark varbinary(8) NOT NULL, RunDay date NOT NULL, Share decimal(5,2) NOT NULL, IsFull bit NOT NULL);`;
const names = ['RecordSource', 'Mark', 'RunDay', 'Share', 'IsFull'];
const setting = `parameters=${JSON.stringify(Object.fromEntries(names.map((name) => [name, name])))}`;
const given = { RecordSource: "O'Neil; --", Mark: '0x0A1b', RunDay: '2026-03-01', Share: '12.5', IsFull: 'true' };

const tsqlBlock = [
  "DECLARE @RecordSource varchar(20) = 'O''Neil; --';",
  'DECLARE @Mark varbinary(8) = CAST(0x0A1b AS varbinary(8));',
  "DECLARE @RunDay date = CAST('2026-03-01' AS date);",
  "DECLARE @Share decimal(5,2) = CAST('12.5' AS decimal(5,2));",
  'DECLARE @IsFull bit = 1;',
];

function generate(platform: string): string[] {
  const tables = ['--source', 'stg.Unit', '--target', 'dw.HubUnit', '--ddl', 'ddl.sql'];
  return ['generate', 'hub', ...tables, '--platform', platform, '--set', setting];
}

describe('values in mergewright.json', () => {
  test('stand in the block as literals, and the load runs with them', async () => {
    const terminal = await openTerminal({
      'ddl.sql': ddl,
      'unit.csv': 'unit_no\nA\n',
      'mergewright.json': JSON.stringify({ parameters: given }),
    });
    const made = await terminal.call(...generate('sqlserver'));
    expect(made.err).toEqual([]);
    for (const line of tsqlBlock) expect(made.out).toContain(line);
    await terminal.write('hub.sql', (await terminal.call(...generate('duckdb'))).out);
    const on = ['--ddl', 'ddl.sql', '--connection', 'duckdb:w.duckdb'];
    await terminal.call('seed', ...on, '--csv', 'stg.Unit=unit.csv');
    const ran = await terminal.call('run', 'hub.sql', ...on, '--json');
    const result: RunResult = JSON.parse(ran.out);
    expect([result.error, result.counts.inserted]).toEqual([null, 1]);
    const session = await openSession(duckdbSettings(terminal.path('w.duckdb')), null);
    onTestFinished(() => session.close());
    const query = 'SELECT hex("Mark"), "RunDay"::VARCHAR, "Share"::VARCHAR, "IsFull", "RecordSource" FROM dw."HubUnit"';
    expect(await queryRows(session, query)).toEqual([['0A1B', '2026-03-01', '12.50', true, "O'Neil; --"]]);
  });

  test.each([
    ['Mark', '00; DROP TABLE dw.HubUnit'],
    ['Mark', '0x0'],
    ['Share', '1); DROP TABLE dw.HubUnit; --'],
    ['RunDay', "2026-03-01'; --"],
    ['IsFull', 'perhaps'],
  ])('are refused where %s is %j', async (name, value) => {
    const parameters = { ...given, [name]: value };
    const terminal = await openTerminal({ 'ddl.sql': ddl, 'mergewright.json': JSON.stringify({ parameters }) });
    for (const platform of ['sqlserver', 'duckdb']) {
      const { code, out, err } = await terminal.call(...generate(platform));
      expect([code, out]).toEqual([1, '']);
      expect(err.filter((line) => line.includes('error: '))).toHaveLength(1);
      expect(err[0]).toContain(`${name} is `);
      expect(err[0]).toContain(`and ${value} is no such value`);
    }
  });
});

test.each(['sqlserver', 'duckdb'] as const)('on %s values are put into a block and read back', async (platform) => {
  const terminal = await openTerminal({ 'ddl.sql': ddl });
  const text = (await terminal.call(...generate(platform))).out;
  const bound = bindParameters(text, given, platform);
  expect(bound.problems).toEqual([]);
  expect(bound.value).toContain(
    platform === 'duckdb' ? "Mark = CAST(unhex('0A1b') AS BLOB);" : '@Mark varbinary(8) = 0x0A1b;',
  );
  const read = boundValues(bound.value, platform);
  expect(Object.keys(read)).toEqual(names);
  expect(bindParameters(text, read, platform)).toEqual(bound);
  const refused = bindParameters(text, { ...given, Mark: 'mark' }, platform);
  expect(refused.value).toBe(text);
  expect(refused.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^Mark is \w+(\(8\))?, and mark is no such value; write bytes in hexadecimal, as 0x0A1B\.$/),
  ]);
});

test.each([
  ['1e3', 'float', true],
  ['1,5', 'decimal(5,2)', false],
  ['2026-02-30 10:00:00.1234567 +01:00', 'datetimeoffset(7)', true],
  ['30.02.2026', 'date', false],
  ["2026-01-01' OR '1'='1", 'TIMESTAMP', false],
  ['6F9619FF-8B86-D011-B42D-00C04FC964FF', 'uniqueidentifier', true],
  ['6F9619FF', 'UUID', false],
  ['', 'varbinary(8)', true],
  ['ABC', 'BLOB', false],
  ['anything; at -- all', 'nvarchar(20)', true],
])('%j as %s: %s', (value, type, expected) => {
  expect(isValueOf(value, type)).toBe(expected);
});

test('the places for values that init writes are no values yet, and its tables are found by their names', async () => {
  const named = ddl.replace('stg.Unit', 'stg.[Unit.v2 [x]]]');
  const terminal = await openTerminal({ 'ddl.sql': named });
  expect((await terminal.call('init')).code).toBe(0);
  const command = generate('sqlserver').map((part) => (part === 'stg.Unit' ? 'stg.[Unit.v2 [x]]]' : part));
  const before = JSON.parse(readFileSync(terminal.path('mergewright.json'), 'utf8'));
  await terminal.write('mergewright.json', JSON.stringify({ ...before, parameters: { RecordSource: '', RunDay: '' } }));
  const made = await terminal.call(...command);
  expect(made.out).toContain('DECLARE @RecordSource varchar(20) = NULL;');
  expect(made.out).toContain('DECLARE @RunDay date = NULL;');
  expect(made.err.join('\n')).toContain('RecordSource, Mark, RunDay, Share, IsFull have no value');
  expect(before.tables.map(({ table }: { readonly table: string }) => table)).toContain('stg.[Unit.v2 [x]]]');
});
