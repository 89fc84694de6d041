import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { attachedFile, type ConnectionSettings } from '../../protocol/connection.ts';
import type { CellValue } from '../../protocol/run.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { query, queryRows } from '../../runner/src/queries.ts';
import type { BatchEnd, EngineError, Session } from '../../runner/src/session.ts';
import { duckdbSettings } from './settings.ts';

async function open(file = ':memory:', more: Partial<ConnectionSettings> = {}): Promise<Session> {
  const session = await openSession(duckdbSettings(file, more), null);
  onTestFinished(() => session.close());
  return session;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'mergewright-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

interface Heard {
  readonly end: BatchEnd;
  readonly sets: readonly { readonly names: readonly string[]; readonly rows: readonly (readonly CellValue[])[] }[];
  readonly errors: readonly EngineError[];
}

async function execute(session: Session, text: string): Promise<Heard> {
  const sets: { names: string[]; rows: (readonly CellValue[])[] }[] = [];
  const errors: EngineError[] = [];
  const end = await session.execute(text, {
    columns: (columns) => sets.push({ names: columns.map(({ name }) => name), rows: [] }),
    rows: (rows) => sets.at(-1)?.rows.push(...rows),
    message: () => undefined,
    error: (error) => errors.push(error),
  });
  return { end, sets, errors };
}

test('values keep every digit', async () => {
  const session = await open();
  const [set] = await query(
    session,
    `SELECT 12345678901234567890.1234567891::DECIMAL(38,10) AS d, 9007199254740993::BIGINT AS b, 5::INTEGER AS i,
            TIMESTAMP '2020-01-02 03:04:05.1' AS t, TIMESTAMP '0001-01-01' AS early, DATE '8888-12-31' AS day,
            '\\x0A\\xFF'::BLOB AS bytes, 'NaN'::DOUBLE AS nan, 0.1::DOUBLE AS f, true AS yes, NULL AS nothing,
            TIMESTAMPTZ '2020-01-01 00:00:00+02' AS z, 'é' AS "__proto__", 1 AS a, 2 AS a`,
  );
  expect(set?.columns.slice(0, 4)).toEqual([
    { name: 'd', type: 'decimal(38,10)' },
    { name: 'b', type: 'bigint' },
    { name: 'i', type: 'integer' },
    { name: 't', type: 'timestamp' },
  ]);
  expect(set?.rows).toEqual([
    [
      '12345678901234567890.1234567891',
      '9007199254740993',
      5,
      '2020-01-02 03:04:05.100000',
      '0001-01-01 00:00:00.000000',
      '8888-12-31',
      '0aff',
      'NaN',
      0.1,
      true,
      null,
      '2019-12-31 22:00:00.000000+00',
      'é',
      1,
      2,
    ],
  ]);
  expect(set?.columns.map(({ name }) => name).slice(-3)).toEqual(['__proto__', 'a', 'a']);
});

test('a text runs statement by statement and hands over reads only', async () => {
  const session = await open();
  const { end, sets, errors } = await execute(
    session,
    'CREATE TABLE t (a INTEGER);\nINSERT INTO t VALUES (1), (2);\nSELECT a FROM t ORDER BY a;\nDELETE FROM t;\nSELECT count(*) AS n FROM t;',
  );
  expect(errors).toEqual([]);
  expect(end).toEqual({ kind: 'finished' });
  expect(sets).toEqual([
    { names: ['a'], rows: [[1], [2]] },
    { names: ['n'], rows: [['0']] },
  ]);
});

test('a text of comments only is no error', async () => {
  const session = await open();
  expect(await execute(session, '-- nothing\n/* here */ ;')).toEqual({
    end: { kind: 'finished' },
    sets: [],
    errors: [],
  });
});

test('a guard keeps its code; other errors bear the name that the engine gives and the line of the text', async () => {
  const session = await open();
  const guard = await execute(session, "SELECT error('duplicate_key: K10, K20');");
  expect(guard.errors).toEqual([{ code: 'duplicate_key', message: 'duplicate_key: K10, K20', line: null }]);
  const binder = await execute(session, 'SELECT 1;\n\nSELECT nothing_here FROM range(3);');
  expect(binder.errors).toMatchObject([{ code: 'Binder Error', line: 2 }]);
  expect(binder.errors[0]?.message).not.toContain('\n');
  const syntax = await execute(session, 'SELECT 1;\nSELEC 2;');
  expect(syntax.errors).toMatchObject([{ code: 'Parser Error', line: 1 }]);
  expect(syntax.sets).toEqual([]);
});

test('an open transaction is known without a query, also after an error and a failed commit', async () => {
  const session = await open();
  await execute(session, 'CREATE TABLE t (a INTEGER CHECK (a < 5)); BEGIN; INSERT INTO t VALUES (1);');
  expect(session.inTransaction).toBe(true);
  await execute(session, 'INSERT INTO t VALUES (9);');
  expect(session.inTransaction).toBe(true);
  await session.endTransaction('rollback');
  expect(session.inTransaction).toBe(false);
  expect(await queryRows(session, 'SELECT count(*) FROM t')).toEqual([['0']]);
  await execute(session, 'BEGIN; INSERT INTO t VALUES (2); COMMIT;');
  expect(session.inTransaction).toBe(false);
  expect(await queryRows(session, 'SELECT a FROM t')).toEqual([[2]]);
});

test('a cancel interrupts a long statement, and the session goes on', async () => {
  const session = await open();
  await execute(session, 'CREATE TABLE t (a BIGINT); BEGIN;');
  const started = Date.now();
  const running = execute(session, 'INSERT INTO t SELECT sum(a.range) FROM range(1000000) a, range(1000000) b;');
  const timer = setInterval(() => session.cancel(), 20);
  const { end } = await running;
  clearInterval(timer);
  expect(end).toEqual({ kind: 'cancelled', effect: 'rolled-back' });
  expect(Date.now() - started).toBeLessThan(3000);
  await session.endTransaction('rollback');
  expect(await queryRows(session, 'SELECT count(*) FROM t')).toEqual([['0']]);
});

test('a file keeps its attached databases beside it', async () => {
  const path = join(await folder(), 'house.duckdb');
  const first = await open(path);
  const attached = attachedFile(path, 'Sta/ging.x');
  await execute(
    first,
    `ATTACH '${attached}' AS "Sta/ging.x"; CREATE SCHEMA "Sta/ging.x".dbo; CREATE TABLE "Sta/ging.x".dbo.d (a INTEGER);`,
  );
  await first.close();
  const second = await open(path);
  expect(await second.tables()).toEqual([{ database: 'Sta/ging.x', schema: 'dbo', name: 'd', kind: 'table' }]);
});

test('sessions of one file see one another; the file is free after the last one', async () => {
  const path = join(await folder(), 'house.duckdb');
  const first = await open(path);
  const second = await open(path);
  await execute(first, 'CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7);');
  expect(await queryRows(second, 'SELECT a FROM t')).toEqual([[7]]);
  await first.close();
  expect(first.isLost).toBe(true);
  expect(await execute(first, 'SELECT 1')).toMatchObject({ end: { kind: 'lost', sent: false } });
  await second.close();
  const reader = await open(path, { isReadOnly: true });
  expect((await execute(reader, 'INSERT INTO t VALUES (8)')).errors[0]?.message).toContain('read-only');
});

test('a file that can’t be opened is one clear line', async () => {
  const place = await folder();
  const damaged = join(place, 'damaged.duckdb');
  await writeFile(damaged, 'no database at all'.repeat(1000));
  await expect(openSession(duckdbSettings(damaged), null)).rejects.toThrow(/damaged or no DuckDB database/);
  await expect(openSession(duckdbSettings(join(place, 'none', 'x.duckdb')), null)).rejects.toThrow(
    /folder .* does not exist/,
  );
  await expect(openSession(duckdbSettings(place), null)).rejects.toThrow(/is a folder/);
  await expect(openSession(duckdbSettings(join(place, 'x.duckdb'), { isReadOnly: true }), null)).rejects.toThrow(
    /does not exist/,
  );
});

test('platforms without a driver say so', async () => {
  await expect(openSession({ ...duckdbSettings('x'), platform: 'spark' }, null)).rejects.toThrow(/not available yet/);
});

test('DDL of live tables reads back as the same tables', async () => {
  const session = await open();
  const ddl = `CREATE TABLE "or""der" (id BIGINT, "we ird" VARCHAR NOT NULL, a DECIMAL(10,2) DEFAULT 1.5, PRIMARY KEY (id),
    CHECK (length("we ird") <= 3), UNIQUE (a, "we ird"));`;
  await execute(session, ddl);
  const [described] = await session.describe([{ database: null, schema: null, table: 'OR"DER' }]);
  expect(described?.text).toBe(
    [
      'CREATE TABLE main."or""der" (',
      '  id BIGINT NOT NULL,',
      '  "we ird" VARCHAR NOT NULL,',
      '  a DECIMAL(10,2) DEFAULT 1.5,',
      '  PRIMARY KEY(id),',
      '  CHECK((length("we ird") <= 3)),',
      '  UNIQUE(a, "we ird")',
      ');',
      '',
    ].join('\n'),
  );
  const other = await open();
  await execute(other, described?.text ?? '');
  expect((await other.describe([]))[0]?.text).toBe(described?.text);
  await expect(session.describe([{ database: null, schema: null, table: 'none' }])).rejects.toThrow(
    /has no table none/,
  );
});

test('a file is opened with limits on memory, that which the allocator keeps included', async () => {
  const session = await open(join(await folder(), 'house.duckdb'));
  const rows = await queryRows(
    session,
    `SELECT current_setting('memory_limit'), current_setting('allocator_flush_threshold'),
            current_setting('allocator_bulk_deallocation_flush_threshold'), current_setting('allocator_background_threads')`,
  );
  expect(rows).toEqual([['381.4 MiB', '8.0 MiB', '16.0 MiB', true]]);
});
