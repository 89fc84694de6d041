import { once } from 'node:events';
import { connect as openSocket, type Socket } from 'node:net';
import sql from 'mssql';
import { Connection, type ConnectionConfiguration, Request } from 'tedious';
import { onTestFinished } from 'vitest';
import { certificate } from '../support/tds/certificate.ts';
import { type Message, MessageReader, message, packetType } from '../support/tds/packets.ts';
import { type FaultProxy, startFaultProxy } from '../support/tds/proxy.ts';
import type { Entry } from '../support/tds/recorder.ts';
import { startTdsServer, type TdsServer, type TdsServerOptions } from '../support/tds/server.ts';

/** Something that listens on a port of this machine. */
interface Listener {
  readonly port: number;
}

/** A server that ends with the test. */
export async function serve(options: TdsServerOptions = {}): Promise<TdsServer> {
  const server = await startTdsServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** A proxy that ends with the test. */
export async function serveFaults(server: Listener): Promise<FaultProxy> {
  const proxy = await startFaultProxy(server.port);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** A pool of one connection of `mssql`, closed with the test. */
export async function connectPool(target: Listener, options: Partial<sql.config> = {}): Promise<sql.ConnectionPool> {
  const pool = new sql.ConnectionPool({
    server: 'localhost',
    port: target.port,
    user: 'loader',
    password: 'p@ss wörd',
    pool: { max: 1, min: 0 },
    validateConnection: false,
    requestTimeout: 0,
    ...options,
    options: { encrypt: false, trustServerCertificate: true, ...options.options },
  });
  pool.on('error', () => undefined);
  onTestFinished(() => pool.close());
  return pool.connect();
}

type Options = NonNullable<ConnectionConfiguration['options']>;

/** A connection of `tedious`; rejects with the driver's error, and closes with the test. */
export async function connectDriver(
  target: Listener,
  options: Options = {},
  authentication: ConnectionConfiguration['authentication'] = {
    type: 'default',
    options: { userName: 'loader', password: 'p@ss wörd' },
  },
): Promise<Connection> {
  const connection = new Connection({
    server: 'localhost',
    authentication,
    options: {
      port: target.port,
      encrypt: false,
      requestTimeout: 0,
      maxRetriesOnTransientErrors: 0,
      cryptoCredentialsDetails: { ca: certificate },
      ...options,
    },
  });
  connection.on('error', () => undefined);
  onTestFinished(() => connection.close());
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });
  return connection;
}

/** What the driver made of an answer, in the order in which it came. */
type Heard =
  | { readonly columns: readonly string[] }
  | { readonly row: readonly unknown[] }
  | { readonly message: string; readonly number: number; readonly class: number; readonly line: number }
  | { readonly error: string; readonly number: number; readonly procedure: string; readonly line: number }
  | {
      readonly done: 'statement' | 'in procedure' | 'procedure';
      readonly count: number | undefined;
      readonly more: boolean;
    }
  | { readonly returned: number };

export interface Batch {
  readonly heard: readonly Heard[];
  /** Settles with the driver's error code at the end; undefined: none. */
  readonly end: Promise<string | undefined>;
  cancel(): void;
}

/** Sends a batch and listens. */
export function sendBatch(connection: Connection, text: string): Batch {
  const heard: Heard[] = [];
  let settle: (code: string | undefined) => void = () => undefined;
  const end = new Promise<string | undefined>((resolve) => {
    settle = resolve;
  });
  const request = new Request(text, (error) => {
    stop();
    // Several errors come as one that holds them all.
    const last = error instanceof AggregateError ? error.errors.at(-1) : error;
    settle(last instanceof Error && 'code' in last ? String(last.code) : last?.message);
  });
  const onMessage = (token: { message: string; number: number; class: number; lineNumber: number }) =>
    heard.push({ message: token.message, number: token.number, class: token.class, line: token.lineNumber });
  const onError = (token: { message: string; number: number; procName: string; lineNumber: number }) =>
    heard.push({ error: token.message, number: token.number, procedure: token.procName, line: token.lineNumber });
  const stop = () => {
    connection.off('infoMessage', onMessage);
    connection.off('errorMessage', onError);
  };
  connection.on('infoMessage', onMessage);
  connection.on('errorMessage', onError);
  const done = (kind: 'statement' | 'in procedure' | 'procedure') => (count: number | undefined, more: boolean) =>
    heard.push({ done: kind, count, more });
  request.on('columnMetadata', (columns) => {
    heard.push({ columns: Object.values(columns).map(({ colName }) => colName) });
  });
  request.on('row', (columns: readonly { readonly value: unknown }[]) => {
    heard.push({ row: columns.map(({ value }) => value) });
  });
  request.on('done', done('statement'));
  request.on('doneInProc', done('in procedure'));
  request.on('doneProc', (count, more, status) => {
    if (status !== undefined) heard.push({ returned: status });
    heard.push({ done: 'procedure', count, more });
  });
  connection.execSqlBatch(request);
  return { heard, end, cancel: () => request.cancel() };
}

/** A client that sends what a test wants, byte by byte. */
export class RawClient {
  readonly #socket: Socket;
  readonly #reader = new MessageReader();
  readonly #messages: Message[] = [];
  /** What came after the last message that is TDS. */
  nonsense = '';

  constructor(target: Listener) {
    this.#socket = openSocket(target.port, '127.0.0.1');
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (chunk) => {
      try {
        this.#messages.push(...this.#reader.push(chunk));
        this.#socket.emit('message');
      } catch {
        this.nonsense = chunk.toString('latin1');
        this.#socket.destroy();
      }
    });
    onTestFinished(() => void this.#socket.destroy());
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** A batch whose headers are empty. */
  sendBatch(text: string): void {
    const headers = Buffer.from([4, 0, 0, 0]);
    this.send(message(packetType.batch, Buffer.concat([headers, Buffer.from(text, 'utf16le')]), 4096));
  }

  /** The payload of the server's next message. */
  async receive(): Promise<Buffer> {
    for (;;) {
      const next = this.#messages.shift();
      if (next !== undefined) return next.payload;
      await once(this.#socket, 'message');
    }
  }

  async closed(): Promise<void> {
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  /** PRELOGIN without options and LOGIN7 without a name. */
  async logIn(): Promise<void> {
    this.send(message(packetType.prelogin, Buffer.from([0xff]), 4096));
    await this.receive();
    this.send(message(packetType.login, Buffer.alloc(94), 4096));
    await this.receive();
  }
}

/** A promise and what settles it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** What the server has seen so far. */
export function kinds(server: TdsServer): readonly Entry['kind'][] {
  return server.recorder.entries.map(({ kind }) => kind);
}

/** The first thing of a kind that the server sees, now or later. */
export function seen(server: TdsServer, kind: Entry['kind']): Promise<Entry> {
  return server.recorder.seen((entry) => entry.kind === kind);
}
