import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RunResult } from '../../protocol/run.ts';
import { unitAt } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { openOn, serveWarehouse, startRun } from '../runner/warehouse-server.ts';
import { affected, done, error, type Rule, rows, on as rule, script } from '../support/tds/answers.ts';
import type { TdsServer } from '../support/tds/server.ts';
import { openTerminal } from './terminal.ts';

/** The script of a report, without the header that says what is expected of it. */
function reported(name: string): string {
  const text = readFileSync(join(import.meta.dirname, '../fixtures/reports', `${name}.sql`), 'utf8');
  const end = text.indexOf('\n', text.indexOf('@end-header'));
  return text.slice(end + 1);
}

async function runReport(server: TdsServer, text: string, ...more: string[]) {
  const terminal = await openTerminal({ 'report.sql': text });
  const address = `mssql://loader@localhost:${server.port}/dwh?encrypt=false`;
  const called = await terminal.call('run', 'report.sql', '--connection', address, '--json', ...more);
  const result: RunResult | null = called.out === '' ? null : JSON.parse(called.out);
  return { ...called, result };
}

/** Everything that the script itself sent, without the question what the server is. */
function sent(server: TdsServer): readonly string[] {
  return server.recorder.sql().filter((sql) => !sql.includes('SERVERPROPERTY'));
}

/** Answers by the rules, then transactions and USE by themselves, then everything else by nothing. */
const ours = (...rules: readonly Rule[]) =>
  script(
    ...rules,
    rule(
      ({ kind, ...request }) =>
        kind === 'batch' &&
        'sql' in request &&
        !/SERVERPROPERTY/.test(String(request.sql)) &&
        !/^(begin|commit|rollback|use)\b/i.test(String(request.sql)),
      [done()],
    ),
  );

test('GO splits as the batch parser of SQL Server does', async () => {
  const server = await serveWarehouse({ handler: ours() });
  const { code, result } = await runReport(server, reported('r01-go-splitting'));
  expect(code).toBe(0);
  expect(sent(server)).toEqual([
    'SET NOCOUNT ON\n',
    expect.stringMatching(/^CREATE OR ALTER PROCEDURE[\s\S]*GO\nline three'\n$/),
    "PRINT N'x'\n",
    "PRINT N'x'\n",
    "PRINT N'x'\n",
    'SELECT 1 AS [GO], 2 AS Go1\n',
  ]);
  expect(result?.batches).toHaveLength(4);
  const empty = await serveWarehouse();
  expect(await runReport(empty, 'GO\nGO\n  go  \n')).toMatchObject({
    code: 0,
    result: { status: 'done', batches: [] },
  });
  expect(empty.recorder.entries).toEqual([]);
});

test('a file with nothing to run ends at once, and no connection is opened', async () => {
  const server = await serveWarehouse();
  const called = await runReport(server, reported('r03-nothing-to-run'));
  expect(called).toMatchObject({ code: 0, err: ['Nothing to run: the script holds no statement.'] });
  expect(server.recorder.entries).toEqual([]);
});

test('rows that triggers touch are not counted', async () => {
  const five = Array.from({ length: 5 }, () => affected(1));
  const server = await serveWarehouse({
    handler: ours(
      rule('DECLARE @exp', [
        ...five,
        rows(['inserted int', 'expired int', 'deleted int', 'unchanged int'], [[1, 1, 0, null]]),
      ]),
    ),
  });
  const { result } = await runReport(server, reported('r04-rowcounts-triggers'));
  expect(result?.counts).toEqual({
    inserted: 1,
    updated: null,
    expired: 1,
    inactivated: null,
    deleted: 0,
    unchanged: null,
    skipped: null,
  });
});

test('a transaction over several batches runs on one session and ends with none open', async () => {
  const server = await serveWarehouse({ handler: ours() });
  const { code, result } = await runReport(server, reported('r06-tran-across-batches'));
  expect(code).toBe(0);
  expect(result?.status).toBe('done');
  expect(sent(server)).toEqual(['BEGIN TRANSACTION\n', expect.stringContaining('UPDATE dw.Plan1'), 'COMMIT\n']);
  expect(server.sessions).toHaveLength(1);
  expect(server.sessions[0]).toMatchObject({ commits: 1, inTransaction: false });
});

test('a dry run refuses a file with a COMMIT of its own; without it, it counts and rolls back', async () => {
  const text = reported('r09-dry-run');
  const refusing = await serveWarehouse();
  const refused = await runReport(refusing, text, '--dry-run');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toEqual(['A dry run refuses a COMMIT without its own BEGIN TRAN: COMMIT']);
  expect(refusing.recorder.entries).toEqual([]);
  const server = await serveWarehouse({ handler: ours() });
  const without = await runReport(server, text.replace('COMMIT;\n', ''), '--dry-run');
  expect(without).toMatchObject({ code: 0, err: ['This was a dry run: everything was rolled back.'] });
  expect(sent(server).at(0)).toBe('BEGIN TRANSACTION');
  expect(sent(server).at(-1)).toBe('ROLLBACK TRANSACTION');
  expect(server.sessions[0]).toMatchObject({ commits: 0 });
});

test('an error in a file that :r reads stands at its line there, one behind it at its line of the script', async () => {
  const failing = (line: number) => [error({ number: 208, text: "Invalid object name 'x'.", line }), done()];
  const files = {
    'main.sql': "PRINT N'a'\n:r parts/part.sql\nPRINT N'b'\nGO\nSELECT 3\nSELECT 4\n",
    'parts/part.sql': "PRINT N'c'\nSELECT 1\nSELECT 2\n",
  };
  const run = async (batch: string, line: number) => {
    const server = await serveWarehouse({
      handler: ours(
        rule(
          ({ kind, ...request }) => kind === 'batch' && 'sql' in request && String(request.sql).startsWith(batch),
          failing(line),
        ),
      ),
    });
    const terminal = await openTerminal(files);
    const address = `mssql://loader@localhost:${server.port}/dwh?encrypt=false`;
    const plain = await terminal.call('run', 'main.sql', '--connection', address);
    const json = await terminal.call('run', 'main.sql', '--connection', address, '--json');
    expect(plain.code).toBe(1);
    const result: RunResult = JSON.parse(json.out);
    return { said: plain.err[0], error: result.error };
  };
  const included = await run("PRINT N'a'", 4);
  expect(included.error).toMatchObject({ batch: 0, line: 2, file: 'parts/part.sql' });
  expect(included.said).toContain('(batch 1, line 3 of parts/part.sql)');
  expect((await run("PRINT N'a'", 6)).error).toEqual(expect.objectContaining({ batch: 0, line: 2 }));
  expect((await run("PRINT N'a'", 6)).error).not.toHaveProperty('file');
  const later = await run('SELECT 3', 2);
  expect(later.error).toMatchObject({ batch: 1, line: 5 });
  expect(later.said).toContain('(batch 2, line 6)');
});

test('the statement at the cursor is sent from WITH to its semicolon, in the session that made #t', async () => {
  const text = reported('p07-cte-merge-split');
  const statements = parse(text, { platform: 'sqlserver' });
  const unit = unitAt(statements, text.indexOf('MERGE #t'));
  const statement = unit === undefined ? '' : text.slice(unit.offset, unit.offset + unit.length);
  expect(statement).toMatch(/^WITH src AS[\s\S]*\n;$/);
  const server = await serveWarehouse({ handler: ours() });
  const session = await openOn(server);
  onTestFinished(() => session.close());
  await startRun(session, ['CREATE TABLE #t (Code int, Val int);']).end;
  expect((await startRun(session, [statement]).end).result.status).toBe('done');
  expect(sent(server)).toEqual(['CREATE TABLE #t (Code int, Val int);', statement]);
  expect(server.sessions).toHaveLength(1);
});

test('SQLCMD variables and files are worked off before anything is sent', async () => {
  const server = await serveWarehouse({ handler: ours() });
  const terminal = await openTerminal({
    'main.sql': ':setvar Schema "dw"\n:setvar Table Unit\n:r parts/part.sql\nGO\nSELECT * FROM $(Schema).$(Table)\n',
    'parts/part.sql': "PRINT N'$(Table)'\n",
    'plain.sql': "PRINT N'$(Nothing)'\n",
    'open.sql': ":setvar A 1\nPRINT N'$(PATH)'\n",
    'out.sql': ':r ../secret.sql\n',
    'connect.sql': ':connect other\nSELECT 1\n',
    'shell.sql': '!!dir\nSELECT 1\n',
  });
  const run = (name: string) =>
    terminal.call('run', name, '--connection', `mssql://loader@localhost:${server.port}/dwh?encrypt=false`);
  const good = await run('main.sql');
  expect(good).toMatchObject({ code: 0, err: [] });
  expect(good.out).toContain('SELECT * FROM dw.Unit');
  expect(sent(server).map((sql) => sql.trim())).toEqual(["PRINT N'Unit'", 'SELECT * FROM dw.Unit']);
  await run('plain.sql');
  expect(sent(server).at(-1)).toBe("PRINT N'$(Nothing)'\n");
  for (const [name, message] of [
    ['open.sql', /\$\(PATH\) has no value.*Environment variables are never read/],
    ['out.sql', /:r \.\.\/secret\.sql is not there, or lies outside/],
    ['connect.sql', /Line 1: :connect is refused/],
    ['shell.sql', /Line 1: !! is refused/],
  ] as const) {
    const called = await run(name);
    expect(called).toMatchObject({ code: 2, out: '' });
    expect(called.err[0]).toMatch(message);
  }
});
