import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import { type Handler, play } from './answers.ts';
import { ByteWriter } from './bytes.ts';
import {
  encryptionByte,
  type Login,
  preloginAnswer,
  readFederatedToken,
  readLogin,
  readPrelogin,
  tokenSource,
} from './login.ts';
import { ntlmChallenge, readNtlmAnswer } from './ntlm.ts';
import { type PacketEnds, PacketWriter } from './packet-writer.ts';
import { type Message, MessageReader, message, ProtocolError, packetType } from './packets.ts';
import type { Recorder } from './recorder.ts';
import { type Ending, Reply, serverName } from './reply.ts';
import { type Request, readRequest } from './requests.ts';
import { SessionState } from './session-state.ts';
import { standardAnswer } from './standard-answers.ts';
import { TlsTunnel } from './tls-tunnel.ts';
import {
  doneBit,
  doneToken,
  type ServerMessage,
  writeCollationChange,
  writeDone,
  writeLoginAck,
  writeMessage,
  writeTextChange,
  writeTokenAccepted,
} from './tokens.ts';

export type Encryption = 'off' | 'on' | 'required' | 'not-supported' | 'strict';

/** Why a login is refused; `number` 18456 is a wrong password, 4060 an unknown database. */
export type Refusal = Pick<ServerMessage, 'number' | 'text'> & Partial<ServerMessage>;

/** What a session needs from its server. */
export interface Host {
  readonly recorder: Recorder;
  readonly encryption: Encryption;
  readonly secureContext: SecureContext;
  readonly version: readonly number[];
  readonly packetEnds: PacketEnds;
  readonly database: string;
  readonly handler: Handler;
  refuse(login: Login): Refusal | undefined;
}

const smallestPacket = 512;
const largestPacket = 32_767;
const loginPacket = 4096;

type Stage = 'prelogin' | 'login' | 'token' | 'challenge' | 'ready';

/** One connection, from its first byte to its last. */
export class Session {
  readonly state: SessionState;
  readonly #raw: Socket;
  readonly #host: Host;
  #messages = new MessageReader();
  /** Where messages come from and go to: the socket, or its TLS side. */
  #stream: Duplex;
  #tunnel: TlsTunnel | undefined;
  #stage: Stage = 'prelogin';
  /** What LOGIN7 said, while a second part is expected. */
  #login: Login | undefined;
  #packetSize = loginPacket;
  #first = true;
  #reply: Reply | undefined;
  #cut: () => void = () => undefined;
  #attention = false;

  constructor(id: number, raw: Socket, host: Host) {
    this.state = new SessionState(id);
    this.#raw = raw;
    this.#host = host;
    raw.setNoDelay(true);
    host.recorder.add({ session: id, kind: 'connect' });
    raw.on('error', () => undefined);
    raw.on('close', () => this.#closed());
    if (host.encryption === 'strict') {
      const secure = new TLSSocket(raw, {
        isServer: true,
        secureContext: host.secureContext,
        ALPNProtocols: ['tds/8.0'],
      });
      this.state.encrypted = true;
      this.#stream = secure;
      this.#listen(secure);
    } else {
      this.#stream = raw;
      raw.on('data', (chunk) => this.#guard(() => this.#receiveRaw(chunk)));
    }
  }

  /** Ends the connection from the server's side. */
  destroy(): void {
    this.#raw.destroy();
  }

  #receiveRaw(chunk: Buffer): void {
    if (this.#tunnel === undefined) this.#receive(chunk);
    else this.#tunnel.receive(chunk);
  }

  #listen(secure: TLSSocket): void {
    secure.on('data', (chunk) => this.#guard(() => this.#receive(chunk)));
    secure.on('error', () => this.#raw.destroy());
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof ProtocolError || error instanceof RangeError || error instanceof TypeError)) throw error;
      this.#host.recorder.add({ session: this.state.id, kind: 'nonsense', reason: error.message });
      this.#raw.destroy();
    }
  }

  #receive(chunk: Buffer): void {
    for (const next of this.#messages.push(chunk)) this.#take(next);
  }

  #take(next: Message): void {
    switch (this.#stage) {
      case 'prelogin':
        this.#prelogin(next);
        break;
      case 'login':
        this.#logIn(next);
        break;
      case 'token':
      case 'challenge':
        this.#continueLogin(next);
        break;
      case 'ready':
        this.#request(next);
        break;
    }
  }

  #prelogin({ type, payload }: Message): void {
    if (type !== packetType.prelogin) throw new ProtocolError('PRELOGIN was expected');
    const asked = readPrelogin(payload);
    const answer = agreedEncryption(this.#host.encryption, asked.encryption);
    const bytes = preloginAnswer(this.#host.version, answer, asked.federated);
    this.#send(bytes);
    this.#stage = 'login';
    const wrapped = answer === encryptionByte.on || answer === encryptionByte.required;
    if (!wrapped || this.state.encrypted) return;
    this.state.encrypted = true;
    this.#messages = new MessageReader();
    this.#tunnel = new TlsTunnel(this.#raw, this.#host.secureContext);
    this.#stream = this.#tunnel.clear;
    this.#listen(this.#tunnel.clear);
  }

  #logIn({ type, payload }: Message): void {
    if (type !== packetType.login) throw new ProtocolError('LOGIN7 was expected');
    const login = readLogin(payload);
    this.#login = login;
    if (login.asksForTokenSource) {
      this.#stage = 'token';
      this.#send(tokenSource('https://login.example.test/tenant', 'https://database.example.test/'));
    } else if (login.asksForChallenge) {
      this.#stage = 'challenge';
      this.#send(ntlmChallenge('TEST'));
    } else {
      this.#finishLogin(login);
    }
  }

  #continueLogin({ type, payload }: Message): void {
    const login = this.#login;
    const expected = this.#stage === 'token' ? packetType.federatedToken : packetType.sspi;
    if (type !== expected || login === undefined) throw new ProtocolError('the second part of a login was expected');
    this.#finishLogin(
      type === packetType.sspi
        ? { ...login, windows: readNtlmAnswer(payload) }
        : { ...login, token: readFederatedToken(payload) },
    );
  }

  #finishLogin(login: Login): void {
    const refusal = this.#host.refuse(login);
    this.state.login = login;
    this.#host.recorder.add({ session: this.state.id, kind: 'login', login, accepted: refusal === undefined });
    const out = new ByteWriter();
    if (refusal === undefined) this.#accept(out, login);
    else writeMessage(out, 'error', { class: 14, state: 1, line: 1, procedure: '', ...refusal }, serverName);
    writeDone(out, { token: doneToken.statement, status: refusal === undefined ? 0 : doneBit.error, count: 0 });
    this.#send(out.take());
    if (refusal !== undefined) this.#stream.end();
  }

  /** A message of the time before the packet size was agreed. */
  #send(payload: Buffer): void {
    this.#stream.write(message(packetType.answer, payload, loginPacket));
  }

  #accept(out: ByteWriter, login: Login): void {
    const info = (number: number, text: string) =>
      writeMessage(out, 'info', { number, text, class: 0, state: 1, line: 1, procedure: '' }, serverName);
    const database = login.database === '' ? this.#host.database : login.database;
    const language = login.language === '' ? 'us_english' : login.language;
    this.state.database = database;
    this.#packetSize = Math.min(largestPacket, Math.max(smallestPacket, login.packetSize));
    this.#stage = 'ready';
    writeTextChange(out, 'database', database, 'master');
    info(5701, `Changed database context to '${database}'.`);
    writeCollationChange(out);
    writeTextChange(out, 'language', language, '');
    info(5703, `Changed language setting to ${language}.`);
    writeLoginAck(out, login.tdsVersion, this.#host.version);
    writeTextChange(out, 'packetSize', String(this.#packetSize), String(loginPacket));
    if (login.token !== undefined) writeTokenAccepted(out);
  }

  #request(next: Message): void {
    const session = this.state.id;
    if (next.type === packetType.attention) {
      this.#host.recorder.add({ session, kind: 'attention' });
      this.#attend();
      return;
    }
    if (this.#reply !== undefined) throw new ProtocolError('a request before the answer to the last one ended');
    const out = new PacketWriter(this.#stream, this.#packetSize, this.#host.packetEnds);
    const reply = new Reply(this.state, out, (ending) => this.#drop(ending));
    if (next.ignored) {
      this.#host.recorder.add({ session, kind: 'abandoned' });
      reply.cut().end();
      return;
    }
    const request = readRequest(next);
    const settings = this.#first && request.kind === 'batch' && isDriverSettings(request.sql);
    this.#first = false;
    this.#host.recorder.add(settings ? { session, kind: 'settings', sql: request.sql } : { session, ...request });
    if (settings) {
      reply.end();
      return;
    }
    void this.#answer(request, reply);
  }

  async #answer(request: Request, reply: Reply): Promise<void> {
    this.#reply = reply;
    let wasCut = false;
    const cut = new Promise<void>((resolve) => {
      this.#cut = () => {
        wasCut = true;
        resolve();
      };
    });
    try {
      // What a cut answer still waits for is given up with it.
      await Promise.race([this.#play(request, reply), cut]);
    } catch (error) {
      const text = `The script of the test server failed: ${error instanceof Error ? error.message : String(error)}`;
      reply.message('error', { number: 50000, class: 16, state: 1, line: 1, procedure: '', text });
    }
    if (wasCut) {
      const rest = reply.cut();
      for (const step of reply.attentionRule.steps) await step(rest);
      rest.end();
    } else {
      reply.end();
    }
    this.#reply = undefined;
    if (!this.state.open) this.state.rollback();
    else if (this.#attention) this.#acknowledge();
  }

  async #play(request: Request, reply: Reply): Promise<void> {
    const answer = (await this.#host.handler(request, this.state)) ?? standardAnswer(request, this.state);
    if (request.kind === 'rpc') await reply.procedure([(whole) => play(answer, whole)], 0);
    else await play(answer, reply);
  }

  #attend(): void {
    const reply = this.#reply;
    if (reply === undefined) {
      this.#acknowledge();
      return;
    }
    if (reply.attentionRule.mode === 'ignore') return;
    this.#attention = true;
    if (reply.attentionRule.mode === 'stop') this.#cut();
  }

  /** The acknowledgement is a message of its own, after the end of the answer. */
  #acknowledge(): void {
    this.#attention = false;
    const out = new PacketWriter(this.#stream, this.#packetSize, 'full');
    out.token((bytes) => writeDone(bytes, { token: doneToken.statement, status: doneBit.attention, count: 0 }));
    out.end();
  }

  async #drop(ending: Ending): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#raw.once('close', () => resolve());
    });
    // What was answered before is on its way first.
    await new Promise<void>((written) => this.#stream.write('', () => written()));
    if (ending === 'reset') this.#raw.resetAndDestroy();
    else this.#raw.end(() => this.#raw.destroy());
    await closed;
  }

  #closed(): void {
    const { state } = this;
    this.#host.recorder.add({ session: state.id, kind: 'disconnect', inTransaction: state.inTransaction });
    state.open = false;
    this.#tunnel?.destroy();
    this.#tunnel?.clear.destroy();
    // A batch that finishes in spite of an attention finishes without its client too, and may commit.
    if (this.#reply === undefined) state.rollback();
    else if (this.#reply.attentionRule.mode !== 'finish') this.#cut();
  }
}

/** The server's answer to the client's ENCRYPTION option, by the table of MS-TDS 2.2.6.5. */
function agreedEncryption(own: Encryption, asked: number): number {
  const unable = asked === encryptionByte['not-supported'];
  switch (own) {
    case 'not-supported':
      return encryptionByte['not-supported'];
    case 'required':
      return encryptionByte.required;
    case 'on':
    case 'strict':
      return unable ? encryptionByte.required : encryptionByte.on;
    case 'off':
      // A client that says "off" would encrypt its login alone; this server asks for all or nothing.
      return unable ? encryptionByte['not-supported'] : encryptionByte.on;
  }
}

/** The driver's first batch: SET lines only, in lower case. */
function isDriverSettings(sql: string): boolean {
  return sql.split('\n').every((line) => line.trim() === '' || /^set [a-z_]+ [\w-]+( [a-z]+)*;?$/.test(line.trim()));
}
