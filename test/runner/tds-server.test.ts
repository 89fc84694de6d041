import sql from 'mssql';
import { afterEach, describe, expect, test } from 'vitest';
import { affected, error, on, print, rows, script, until } from '../support/tds/answers.ts';
import { startTdsServer, type TdsServer, type TdsServerOptions } from '../support/tds/server.ts';

const opened: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function serve(options: TdsServerOptions = {}): Promise<TdsServer> {
  const server = await startTdsServer(options);
  opened.push(() => server.close());
  return server;
}

async function connect(
  server: { readonly port: number },
  options: Partial<sql.config> = {},
): Promise<sql.ConnectionPool> {
  const pool = new sql.ConnectionPool({
    server: 'localhost',
    port: server.port,
    user: 'loader',
    password: 'p@ss wörd',
    pool: { max: 1, min: 0 },
    validateConnection: false,
    ...options,
    options: { encrypt: false, trustServerCertificate: true, ...options.options },
  });
  pool.on('error', () => undefined);
  opened.push(() => pool.close().catch(() => undefined));
  return pool.connect();
}

describe('a session', () => {
  test('logs in and answers a batch', async () => {
    const server = await serve({
      handler: script(
        on('select', [
          rows(
            ['id int', 'name nvarchar(20)'],
            [
              [1, 'ä'],
              [2, null],
            ],
          ),
        ]),
      ),
    });
    const pool = await connect(server);
    const result = await pool.request().batch('SELECT * FROM t');
    expect(result.recordset).toEqual([
      { id: 1, name: 'ä' },
      { id: 2, name: null },
    ]);
    expect(server.recorder.sql()).toEqual(['SELECT * FROM t']);
  });

  test.each(['on', 'strict'] as const)('encrypted: %s', async (encryption) => {
    const server = await serve({ encryption, handler: script(on('select', [rows(['id int'], [[1]])])) });
    const pool = await connect(server, {
      options: {
        encrypt: encryption === 'strict' ? ('strict' as never) : true,
        cryptoCredentialsDetails: { ca: (await import('../support/tds/server.ts')).certificate },
      },
    });
    const result = await pool.request().batch('SELECT * FROM t');
    expect(result.recordset).toEqual([{ id: 1 }]);
  });

  test('cancel', async () => {
    const never = new Promise(() => undefined);
    const server = await serve({ handler: script(on('wait', [print('x'), affected(3), until(never)])) });
    const pool = await connect(server);
    const request = pool.request();
    const result = request.batch('WAIT');
    await server.recorder.seen((entry) => entry.kind === 'batch');
    request.cancel();
    await expect(result).rejects.toMatchObject({ code: 'ECANCEL' });
    await expect(pool.request().batch('nothing')).rejects.toMatchObject({ number: 50000 });
  });

  test('errors', async () => {
    const server = await serve({
      handler: script(
        on('x', [
          error({ number: 2627, text: 'dup', line: 3 }),
          error({ number: 8134, text: 'zero', line: 7, procedure: 'p' }),
        ]),
      ),
    });
    const pool = await connect(server);
    await expect(pool.request().query('x')).rejects.toMatchObject({
      number: 8134,
      lineNumber: 7,
      procName: 'p',
      precedingErrors: [{ number: 2627 }],
    });
  });

  test('100,000 rows', async () => {
    const server = await serve({
      handler: script(
        on('x', [
          rows(
            ['a int', 'b nvarchar(20)', 'c datetime2(7)'],
            Array.from({ length: 100000 }, (_, i) => [i, `name ${i}`, '2024-01-01 00:00:00.1234567']),
          ),
        ]),
      ),
    });
    const pool = await connect(server);
    await pool.request().batch('x');
    const t = performance.now();
    const r = await pool.request().batch('x');
    console.log(performance.now() - t);
    expect(r.recordset.length).toBe(100000);
  });
});
