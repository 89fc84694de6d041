/** Loads of texts that fill a varchar of a single-byte code page, executed: letters beyond ASCII must not hide a change. */
import { expect, test } from 'vitest';
import { openTerminal } from '../cli/terminal.ts';
import { Database } from '../support/tsql-engine/database.ts';
import { runBatch } from '../support/tsql-engine/execute.ts';
import { SessionState } from '../support/tsql-engine/session.ts';

const ddl = `CREATE TABLE dbo.Stage (id int NOT NULL, name varchar(3) NULL, PRIMARY KEY (id));
GO
CREATE TABLE dbo.Dim (id int NOT NULL, name varchar(3) NULL, valid_from datetime2(3) NOT NULL, valid_to datetime2(3) NULL, PRIMARY KEY (id, valid_from));
GO
CREATE TABLE dbo.Plain (id int NOT NULL, name varchar(3) NULL, PRIMARY KEY (id));
`;

test.each([
  ['scd2', 'dbo.Dim', { '[inserted] bigint': 1n, '[expired] bigint': 1n }],
  ['scd1', 'dbo.Plain', { '[updated] bigint': 1n }],
] as const)('%s sees a change behind letters that take two bytes in UTF-8', async (pattern, target, expected) => {
  const terminal = await openTerminal({ 'ddl.sql': ddl });
  const made = await terminal.call(
    ...['generate', pattern, '--source', 'dbo.Stage', '--target', target, '--platform', 'sqlserver:2019'],
  );
  expect(made.err.filter((line) => line.includes('error'))).toEqual([]);
  const facts = { product: 'sqlserver', version: 2019, backwards: false } as const;
  let minute = 0;
  const now = () => {
    minute += 1;
    return new Date(Date.UTC(2030, 0, 1, 0, minute));
  };
  const session = new SessionState(new Database({ ...facts, now }));
  const run = (text: string) => {
    const events = runBatch(session, text);
    expect(events.filter((event) => event.kind === 'error')).toEqual([]);
    return events.findLast((event) => event.kind === 'rows');
  };
  for (const batch of ddl.split('GO')) run(batch);
  run("INSERT INTO dbo.Stage (id, name) SELECT 1, CAST(N'éàa' AS varchar(3));");
  run(made.out);
  run('DELETE FROM dbo.Stage;');
  run("INSERT INTO dbo.Stage (id, name) SELECT 1, CAST(N'éàb' AS varchar(3));");
  const counts = run(made.out);
  const found = Object.fromEntries(counts?.columns.map((name, index) => [name, counts.rows[0]?.[index]]) ?? []);
  expect(found).toMatchObject(expected);
});
