/** What run and preview show of the text that they send. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

const ddl = `CREATE TABLE stg.Unit (unit_no varchar(20) NOT NULL PRIMARY KEY, name varchar(50) NULL);
CREATE TABLE dw.HubUnit (UnitKey char(64) NOT NULL PRIMARY KEY, unit_no varchar(20) NOT NULL, LoadDate datetime2(3) NOT NULL, RecordSource varchar(20) NOT NULL);`;

/** A generated hub load in its folder, on a database with the tables. */
async function hubLoad() {
  const terminal = await openTerminal({ 'ddl.sql': ddl, 'Unit.csv': 'unit_no,name\nA,one\nB,two\n' });
  const on = ['--ddl', 'ddl.sql', '--connection', 'duckdb:w.duckdb'];
  await terminal.call('seed', ...on, '--csv', 'stg.Unit=Unit.csv');
  const load = ['--source', 'stg.Unit', '--target', 'dw.HubUnit', '--ddl', 'ddl.sql', '--platform', 'duckdb'];
  const made = await terminal.call('generate', 'hub', ...load);
  expect(made.code).toBe(0);
  await terminal.write('hub.sql', made.out);
  return { terminal, text: made.out, on: [...on, '--param', 'RecordSource=EMED'] };
}

test('a long script shows its changed lines, then the counts; all of it on request', async () => {
  const { terminal, text, on } = await hubLoad();
  const lines = text.trimEnd().split('\n');
  const set = lines.findIndex((line) => line.startsWith('SET VARIABLE RecordSource ='));
  const value = `  ${set + 1}: SET VARIABLE RecordSource = CAST('EMED' AS VARCHAR);\n`;
  const plain = await terminal.call('run', 'hub.sql', ...on);
  expect(plain.err).toEqual([]);
  expect(plain.out).toContain(`Sends hub.sql, ${lines.length} lines, --sql shows them; changed are\n${value}\ndone in`);
  expect(plain.out).toMatch(/ inserted +2\n/);
  expect(plain.out).not.toContain('INSERT INTO');
  const whole = await terminal.call('run', 'hub.sql', ...on, '--sql');
  expect(whole.out).toContain(text.trimEnd().replace(lines[set] ?? '', value.trim().replace(/^\d+: /, '')));
});

test('a preview counts first and shows its queries on request', async () => {
  const { terminal, on } = await hubLoad();
  const plain = await terminal.call('preview', 'hub.sql', ...on);
  expect(plain.out).toMatch(
    /\n\nSends \d+ lines that count what hub\.sql would change, .*\n\ndone in \d+ ms\n {2}inserted +2\n/,
  );
  expect(plain.out).not.toContain('SELECT');
  const whole = await terminal.call('preview', 'hub.sql', ...on, '--sql');
  const { batches } = JSON.parse((await terminal.call('preview', 'hub.sql', ...on, '--json')).out);
  for (const { text } of batches) expect(whole.out).toContain(text.trimEnd());
});

test('a script as it stands, and one that another platform’s text is made of, are told apart', async () => {
  const { terminal, text, on } = await hubLoad();
  await terminal.write('own.sql', `${text.replace(/ = CAST\(NULL AS VARCHAR\)/, " = 'EMED'")}`);
  const given = on.slice(0, 4);
  const own = await terminal.call('run', 'own.sql', ...given);
  expect(own.out).toContain(
    `Sends own.sql as it stands, ${text.trimEnd().split('\n').length} lines; --sql shows them.`,
  );
  const tsql = ['--source', 'stg.Unit', '--target', 'dw.HubUnit', '--ddl', 'ddl.sql', '--platform', 'sqlserver'];
  await terminal.call('generate', 'hub', ...tsql, '--out', 'out');
  const other = await terminal.call('run', 'out/hub_HubUnit.sql', ...on);
  expect(other.out).toMatch(/Sends what out\/hub_HubUnit\.sql is made into, \d+ lines; --sql shows them\./);
  expect(readFileSync(terminal.path('out/hub_HubUnit.sql'), 'utf8')).toContain('DECLARE @RecordSource');
});

test('on a protected connection all of it is shown', async () => {
  const { terminal, text } = await hubLoad();
  await terminal.write(
    '.vscode/settings.json',
    JSON.stringify({
      'mergewright.connections': [{ name: 'Own', platform: 'duckdb', file: 'w.duckdb', protected: true }],
    }),
  );
  const ran = await terminal.call('run', 'hub.sql', '--connection', 'Own', '--yes', 'Own', '--param', 'RecordSource=X');
  expect(ran.out).toContain(text.split('\n').at(-3));
  expect(ran.out).not.toContain('--sql shows');
});
