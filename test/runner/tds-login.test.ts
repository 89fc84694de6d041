/** How a client comes into the TDS test server: login, token, Windows user, encryption. */
import type { Connection } from 'tedious';
import { describe, expect, test } from 'vitest';
import { on, rows, script } from '../support/tds/answers.ts';
import { packetType } from '../support/tds/packets.ts';
import type { TdsServer } from '../support/tds/server.ts';
import { connectDriver, connectPool, kinds, seen, sendBatch, serve, serveFaults } from './tds-clients.ts';

function logins(server: TdsServer) {
  return server.recorder.entries.flatMap((entry) => (entry.kind === 'login' ? [entry] : []));
}

/** The first error token that a refused login answers. */
async function refusedLogin(connecting: Promise<Connection>): Promise<string> {
  return connecting.then(
    () => 'connected',
    (refused: unknown) => `${refused instanceof Error && 'code' in refused ? refused.code : ''} ${refused}`,
  );
}

describe('login', () => {
  test('tells what the client said', async () => {
    const server = await serve({ users: { loader: 'p@ss wörd' } });
    await connectDriver(server, {
      database: 'Sales',
      appName: 'Mergewright',
      workstationId: 'desk',
      language: 'us_english',
      readOnlyIntent: true,
    });
    expect(logins(server)).toMatchObject([
      {
        session: 1,
        accepted: true,
        login: {
          user: 'loader',
          password: 'p@ss wörd',
          database: 'Sales',
          app: 'Mergewright',
          host: 'desk',
          language: 'us_english',
          readOnlyIntent: true,
          tdsVersion: 0x74000004,
          packetSize: 4096,
        },
      },
    ]);
    expect(server.sessions).toMatchObject([{ id: 1, database: 'Sales', open: true, encrypted: false }]);
    expect(kinds(server)).toEqual(['connect', 'login', 'settings']);
  });

  test('with a wrong password is refused by error 18456, and the connection ends', async () => {
    const server = await serve({ users: { loader: 'another' } });
    expect(await refusedLogin(connectDriver(server))).toBe("ELOGIN Error: Login failed for user 'loader'.");
    await seen(server, 'disconnect');
    expect(kinds(server)).toEqual(['connect', 'login', 'disconnect']);
    expect(server.openSessions).toEqual([]);
  });

  test('to a database that does not exist is refused by error 4060', async () => {
    const server = await serve({ databases: ['Sales'] });
    expect(await refusedLogin(connectDriver(server, { database: 'Sale' }))).toContain('Cannot open database "Sale"');
    await connectDriver(server, { database: 'Sales' });
  });

  test('with a token', async () => {
    const server = await serve({ tokens: ['good'], encryption: 'on' });
    const withToken = (token: string) =>
      connectDriver(server, { encrypt: true }, { type: 'azure-active-directory-access-token', options: { token } });
    await withToken('good');
    expect(await refusedLogin(withToken('bad'))).toContain('Login failed');
    expect(logins(server)).toMatchObject([
      { accepted: true, login: { token: 'good', user: '', password: '' } },
      { accepted: false, login: { token: 'bad' } },
    ]);
  });

  test('with a token that the client gets when it is told where', async () => {
    const server = await serve({ tokens: ['good'], encryption: 'on' });
    const asked: unknown[] = [];
    const credential = {
      getToken: async (scope: string | string[]) => {
        asked.push(scope);
        return { token: 'good', expiresOnTimestamp: Number.MAX_SAFE_INTEGER };
      },
    };
    await connectDriver(server, { encrypt: true }, { type: 'token-credential', options: { credential } });
    expect(asked).toEqual(['https://database.example.test/.default']);
    expect(logins(server)).toMatchObject([{ accepted: true, login: { token: 'good' } }]);
  });

  test('with a Windows user', async () => {
    const server = await serve({ users: { loader: '' } });
    const windows = (userName: string) =>
      connectDriver(server, {}, { type: 'ntlm', options: { userName, password: 'secret', domain: 'CORP' } });
    await windows('loader');
    expect(await refusedLogin(windows('other'))).toContain("Login failed for user 'other'");
    expect(logins(server)[0]).toMatchObject({ accepted: true, login: { windows: { domain: 'CORP', user: 'loader' } } });
  });

  test('without a database comes into the server’s own', async () => {
    const server = await serve({ database: 'DW' });
    const pool = await connectPool(server);
    await pool.request().batch('SELECT 1;');
    expect(server.sessions.map(({ database }) => database)).toEqual(['DW', 'DW']);
  });
});

describe('encryption', () => {
  test.each([
    { server: 'off', client: false, outcome: 'clear' },
    { server: 'off', client: true, outcome: 'encrypted' },
    { server: 'on', client: true, outcome: 'encrypted' },
    { server: 'on', client: false, outcome: 'EENCRYPT' },
    { server: 'required', client: true, outcome: 'encrypted' },
    { server: 'required', client: false, outcome: 'EENCRYPT' },
    { server: 'not-supported', client: false, outcome: 'clear' },
    // The driver sends its login in clear text to a server that says so: a guard must look at the answer.
    { server: 'not-supported', client: true, outcome: 'clear' },
    { server: 'strict', client: 'strict', outcome: 'encrypted' },
    { server: 'strict', client: true, outcome: 'ESOCKET' },
    { server: 'off', client: 'strict', outcome: 'ESOCKET' },
  ] as const)('server $server, client $client: $outcome', async ({ server: encryption, client: encrypt, outcome }) => {
    const server = await serve({ encryption, handler: script(on('n', [rows(['n int'], [[7]])])) });
    const connecting = connectDriver(server, { encrypt });
    if (outcome === 'clear' || outcome === 'encrypted') {
      const batch = sendBatch(await connecting, 'n');
      expect(await batch.end).toBeUndefined();
      expect(batch.heard).toContainEqual({ row: [7] });
      expect(server.sessions[0]?.encrypted).toBe(outcome === 'encrypted');
    } else {
      await expect(connecting).rejects.toMatchObject({ code: outcome });
      expect(logins(server)).toEqual([]);
    }
  });

  test.each(['on', 'strict'] as const)(
    '%s: a client that does not trust the certificate sends no login',
    async (mode) => {
      const server = await serve({ encryption: mode });
      const encrypt = mode === 'strict' ? mode : true;
      const connecting = connectDriver(server, { encrypt, cryptoCredentialsDetails: {} });
      await expect(connecting).rejects.toMatchObject({
        code: 'ESOCKET',
        message: expect.stringContaining('self-signed'),
      });
      await seen(server, 'disconnect');
      expect(logins(server)).toEqual([]);
    },
  );

  test('travels in one PRELOGIN message for each flight, then in bare records', async () => {
    const server = await serve({ encryption: 'on' });
    const proxy = await serveFaults(server);
    await connectDriver(proxy, { encrypt: true });
    const kind = { [packetType.prelogin]: 'PRELOGIN', [packetType.answer]: 'answer', 23: 'record' };
    expect(proxy.messages.map(({ side, type }) => `${side} ${Reflect.get(kind, type)}`).slice(0, 8)).toEqual([
      'client PRELOGIN',
      'server answer',
      'client PRELOGIN',
      'server PRELOGIN',
      'client PRELOGIN',
      'server PRELOGIN',
      'client record',
      'server record',
    ]);
  });

  test('long texts and long answers go through TLS', async () => {
    const text = `-- ${'ä'.repeat(100_000)}`;
    const answer = 'ö'.repeat(100_000);
    const server = await serve({
      encryption: 'on',
      handler: script(on('--', [rows(['t nvarchar(max)'], [[answer]])])),
    });
    const batch = sendBatch(await connectDriver(server, { encrypt: true }), text);
    expect(await batch.end).toBeUndefined();
    expect(batch.heard).toContainEqual({ row: [answer] });
    expect(server.recorder.sql()).toEqual([text]);
  });
});
