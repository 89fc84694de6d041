import { expect, test } from 'vitest';
import { serveWarehouse } from '../runner/warehouse-server.ts';
import { done, rows, on as rule, script } from '../support/tds/answers.ts';
import type { TdsServer } from '../support/tds/server.ts';
import { openTerminal } from './terminal.ts';

const ddl = (nullability: string) => `CREATE TABLE dbo.StageUnit (UnitNo int NULL);
GO
CREATE TABLE dbo.HubUnit (UnitKey char(64) NOT NULL, UnitNo int NOT NULL, LoadDate datetime2(6) NOT NULL,
  RecordSource varchar(20) ${nullability});
`;

/** A server whose catalog has both tables; the hub's record source is NOT NULL or not. */
function warehouse(isNullable: boolean): Promise<TdsServer> {
  const column = (id: number, name: string, type: string, length: number, scale: number, nullable: number) => [
    ...[id, name, type, length, type === 'int' ? 10 : 0, scale, nullable],
    ...Array.from({ length: 8 }, () => null),
  ];
  const texts = (names: readonly string[]) => names.map((name) => `${name} nvarchar(4000)`);
  return serveWarehouse({
    handler: script(
      rule('sys.objects', [
        rows(
          ['id int', ...texts(['s', 'n', 't', 'd'])],
          [
            [1, 'dbo', 'StageUnit', 'U', 'dwh'],
            [2, 'dbo', 'HubUnit', 'U', 'dwh'],
          ],
        ),
      ]),
      rule('sys.key_constraints', [rows(['id int'], [])]),
      rule('sys.sql_modules', [rows(['id int'], [])]),
      rule('sys.columns', [
        rows(
          [
            'id int',
            ...texts(['n', 't']),
            'l int',
            'p int',
            's int',
            'nullable int',
            ...texts(['c', 'e', 'i', 'k']),
            'f int',
            ...texts(['b', 'v']),
            'g int',
          ],
          [
            column(1, 'UnitNo', 'int', 4, 0, 1),
            column(2, 'UnitKey', 'char', 64, 0, 0),
            column(2, 'UnitNo', 'int', 4, 0, 0),
            column(2, 'LoadDate', 'datetime2', 8, 6, 0),
            column(2, 'RecordSource', 'varchar', 20, 0, isNullable ? 1 : 0),
          ],
        ),
      ]),
      rule('DECLARE', [rows(['inserted bigint'], [[1]]), done()]),
    ),
  });
}

/** Generates the hub's load, and runs it without its DDL. */
async function run(server: TdsServer, nullability: string, ...more: string[]) {
  const terminal = await openTerminal({ 'tables.sql': ddl(nullability) });
  const hub = ['hub', '--source', 'dbo.StageUnit', '--target', 'dbo.HubUnit', '--ddl', 'tables.sql', '--out', '.'];
  expect((await terminal.call('generate', ...hub)).code).toBe(0);
  const address = `mssql://loader@localhost:${server.port}/dwh?encrypt=false`;
  return terminal.call('run', 'hub_HubUnit.sql', '--connection', address, ...more);
}

const isLoad = (sql: string) => sql.includes('DECLARE @');

test('a parameter that fills a NOT NULL column is asked of the server where no DDL is given', async () => {
  const server = await warehouse(false);
  const called = await run(server, 'NOT NULL');
  expect(called).toMatchObject({
    code: 2,
    err: [
      'RecordSource has no value and fills a NOT NULL column, so nothing was sent; give --param RecordSource=VALUE.',
    ],
  });
  expect(server.recorder.sql().filter(isLoad)).toEqual([]);
});

test('a value, or a column that takes NULL, lets the load go', async () => {
  const strict = await warehouse(false);
  expect((await run(strict, 'NOT NULL', '--param', 'RecordSource=EMED')).code).toBe(0);
  // With a value in every parameter there is nothing to ask.
  expect(strict.recorder.sql().filter((sql) => sql.includes('sys.objects'))).toEqual([]);
  expect((await run(await warehouse(true), 'NULL')).code).toBe(0);
});

test('a catalog that tells nothing stops nothing', async () => {
  const server = await serveWarehouse({
    handler: script(
      rule('sys.objects', [rows(['id int', 's nvarchar(9)', 'n nvarchar(9)', 't nvarchar(9)', 'd nvarchar(9)'], [])]),
      rule('DECLARE', [rows(['inserted bigint'], [[1]]), done()]),
    ),
  });
  expect((await run(server, 'NOT NULL')).code).toBe(0);
  expect(server.recorder.sql().filter(isLoad)).toHaveLength(1);
});
