/**
 * A TDS 7.4 server for tests: it speaks the protocol of SQL Server and answers what a script says.
 *
 *     const server = await startTdsServer({
 *       handler: script(
 *         on('MERGE dw.Customer', [begin(), affected(3), commit(), rows(['inserted int', 'expired int'], [[2, 1]])]),
 *         on(/^SELECT @@SERVERNAME/, [rows(['name sysname'], [['one']])]),
 *         on('WAITFOR', [rows(['n int'], [[1]]), flush(), until(gate), done()]),
 *         on('slow', async function* () { yield print('a'); await gate; yield done(); }),
 *       ),
 *     });
 *     await sql.connect({ server: '127.0.0.1', port: server.port, user: 'any', password: 'any', … });
 *     expect(server.recorder.sql()).toEqual(['MERGE dw.Customer …']);
 *     await server.recorder.seen((entry) => entry.kind === 'attention');
 *     await server.close();
 *
 * Without a rule, transactions, USE, SET and `SELECT 1` are answered by `standard-answers.ts`; anything else is error
 * 50000. Steps are in `answers.ts` (rows, affected, done, print, info, error, begin, commit, rollback, use, procedure,
 * flush, until, stall, disconnect, raw, onAttention), column declarations in `columns.ts`, values in `scalars.ts`
 * (exact ones as text). `server.sessions` tells database, transaction count, commits and rollbacks of each connection.
 * A client that checks certificates trusts the one of `certificate.ts`. `startFaultProxy` in `proxy.ts` sits before it.
 */

import { createServer } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Handler } from './answers.ts';
import { certificate, certificateKey } from './certificate.ts';
import type { Login } from './login.ts';
import type { PacketEnds } from './packet-writer.ts';
import { Recorder } from './recorder.ts';
import { type Encryption, type Host, type Refusal, Session } from './session.ts';
import type { SessionState } from './session-state.ts';

export interface TdsServerOptions {
  /** Answers requests; the server's `handler` can be replaced later. */
  readonly handler?: Handler;
  /** Default `off`: encrypted when the client wants it. `strict` is TDS 8: TLS from the first byte. */
  readonly encryption?: Encryption;
  /** Passwords by user; without it every login is let in. A Windows login needs the user alone. */
  readonly users?: Readonly<Record<string, string>>;
  /** Tokens that are let in; without it every token is. */
  readonly tokens?: readonly string[];
  /** Databases that exist; without it every name does. */
  readonly databases?: readonly string[];
  /** Database of a login that names none; default `master`. */
  readonly database?: string;
  /** Major, minor and build (two bytes); default 16.0.1000, SQL Server 2022. */
  readonly version?: readonly [number, number, number, number];
  readonly packetEnds?: PacketEnds;
}

export class TdsServer {
  readonly recorder: Recorder = new Recorder();
  handler: Handler;
  packetEnds: PacketEnds;
  readonly #sessions: Session[] = [];
  readonly #server = createServer((socket) => {
    this.#sessions.push(new Session(this.#sessions.length + 1, socket, this.#host()));
  });
  readonly #options: TdsServerOptions;

  constructor(options: TdsServerOptions) {
    this.#options = options;
    this.handler = options.handler ?? (() => undefined);
    this.packetEnds = options.packetEnds ?? 'full';
  }

  /** Port on 127.0.0.1. */
  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the test server does not listen');
    return address.port;
  }

  /** Every connection there was, open or not, in order. */
  get sessions(): readonly SessionState[] {
    return this.#sessions.map(({ state }) => state);
  }

  get openSessions(): readonly SessionState[] {
    return this.sessions.filter(({ open }) => open);
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Drops all connections and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  #host(): Host {
    const options = this.#options;
    const server = this;
    return {
      recorder: this.recorder,
      encryption: options.encryption ?? 'off',
      secureContext: options.encryption === 'strict' ? strictContext : tunnelContext,
      version: options.version ?? [16, 0, 0x03, 0xe8],
      database: options.database ?? 'master',
      get packetEnds() {
        return server.packetEnds;
      },
      handler: (request, session) => this.handler(request, session),
      refuse: (login) => refusal(login, options),
    };
  }
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startTdsServer(options: TdsServerOptions = {}): Promise<TdsServer> {
  const server = new TdsServer(options);
  await server.listen();
  return server;
}

const pair = { cert: certificate, key: certificateKey };
const strictContext = createSecureContext(pair);
// TLS 1.3 sends tickets after the handshake, which fit into no PRELOGIN message; servers of TDS 7.4 stay at 1.2.
const tunnelContext = createSecureContext({ ...pair, maxVersion: 'TLSv1.2' });

function refusal(login: Login, { users, tokens, databases }: TdsServerOptions): Refusal | undefined {
  const known =
    login.token !== undefined
      ? (tokens?.includes(login.token) ?? true)
      : users === undefined ||
        (login.windows !== undefined ? login.windows.user in users : users[login.user] === login.password);
  const name = login.windows?.user ?? login.user;
  if (!known) return { number: 18456, text: `Login failed for user '${name}'.` };
  if (login.database === '' || (databases?.includes(login.database) ?? true)) return undefined;
  const text = `Cannot open database "${login.database}" requested by the login. The login failed.`;
  return { number: 4060, class: 11, text };
}
