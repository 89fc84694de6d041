/**
 * A proxy before the TDS test server that makes the network fail at an exact place.
 *
 *     const proxy = await startFaultProxy(server.port);
 *     // … connect to proxy.port and prepare …
 *     const struck = proxy.arm({ message: 1, byte: 17, fault: 'reset' });   // 17 bytes of the next answer, then RST
 *     // … run …
 *     await struck;
 *     await proxy.close();
 *
 * A first run without a fault fills `proxy.messages`: the length of each message and where its packets end. With the
 * server's `packetEnds: 'token'` those ends are the borders of tokens.
 */

import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { MessageMeter, type Piece } from './message-meter.ts';

/**
 * `end`: the client gets a FIN, the server loses its connection. `reset`: both get an RST. `stall`: nothing more of this
 * side passes, the other side goes on. `black-hole`: nothing passes either way, the end of the connection included.
 */
export type Fault = 'end' | 'reset' | 'stall' | 'black-hole';

type Side = 'server' | 'client';

export interface FaultPoint {
  /** Whose messages are counted; default `server`. */
  readonly side?: Side;
  /** Counts from 1 the messages that begin on a connection after arming. */
  readonly message: number;
  /** Bytes of the message (headers of packets included) that still pass; more than it has: all of it. */
  readonly byte: number;
  readonly fault: Fault;
}

/** A message that passed, as far as it passed. */
export interface PassedMessage {
  /** Counts the connections of the proxy from 1. */
  readonly connection: number;
  readonly side: Side;
  /** Packet type, or the type of a bare TLS record. */
  readonly type: number;
  readonly length: number;
  /** Lengths at which a packet ends. */
  readonly packetEnds: readonly number[];
  readonly complete: boolean;
}

interface Armed {
  readonly point: FaultPoint;
  readonly strike: () => void;
}

/** What the links of a proxy share. */
interface Board {
  armed: Armed | undefined;
  latency: number;
  slice: number;
  readonly messages: PassedMessage[];
}

export class FaultProxy {
  readonly #board: Board = { armed: undefined, latency: 0, slice: 0, messages: [] };
  readonly #links: Link[] = [];
  readonly #server;

  constructor(target: number) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      this.#links.push(new Link(this.#links.length + 1, client, target, this.#board));
    });
  }

  /** Port on 127.0.0.1. */
  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    return address.port;
  }

  /** Connections that were opened through the proxy. */
  get connections(): number {
    return this.#links.length;
  }

  /** Connections that a client still holds. */
  get openConnections(): number {
    return this.#links.filter((link) => link.open).length;
  }

  /** Messages of both sides in the order in which they began to pass. */
  get messages(): readonly PassedMessage[] {
    return this.#board.messages;
  }

  /** Milliseconds that every chunk waits. */
  set latency(milliseconds: number) {
    this.#board.latency = milliseconds;
  }

  /** Passes at most so many bytes at once; 0: as they come. */
  set slice(bytes: number) {
    this.#board.slice = bytes;
  }

  /** Lets one fault strike, once; settles when it did. A new fault replaces one that did not strike. */
  arm(point: FaultPoint): Promise<void> {
    for (const link of this.#links) link.startCounting();
    return new Promise((strike) => {
      this.#board.armed = { point, strike };
    });
  }

  disarm(): void {
    this.#board.armed = undefined;
  }

  /** Lets a fault strike every open connection now; a stall is one of the server's side. */
  strike(fault: Fault): void {
    for (const link of this.#links) link.strike(fault, 'server');
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Drops all connections and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const link of this.#links) link.destroy();
    await closed;
  }
}

/** Starts a proxy on a free port of 127.0.0.1; `target` is the server's port there. */
export async function startFaultProxy(target: number): Promise<FaultProxy> {
  const proxy = new FaultProxy(target);
  await proxy.listen();
  return proxy;
}

/** One side's bytes on their way. */
interface Lane {
  readonly side: Side;
  readonly from: Socket;
  readonly to: Socket;
  readonly meter: MessageMeter;
  /** Messages that had begun when the fault was armed. */
  base: number;
  /** Place of the current message in the board's list. */
  entry: number;
  silent: boolean;
}

/** A client's connection and its own connection to the server. */
class Link {
  readonly #id: number;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #board: Board;
  readonly #lanes: readonly Lane[];
  readonly #closing = new AbortController();

  constructor(id: number, client: Socket, target: number, board: Board) {
    this.#id = id;
    this.#client = client;
    this.#board = board;
    this.#server = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    const lane = (side: Side, from: Socket, to: Socket): Lane => {
      from.setNoDelay(true);
      return { side, from, to, meter: new MessageMeter(), base: 0, entry: -1, silent: false };
    };
    this.#lanes = [lane('client', client, this.#server), lane('server', this.#server, client)];
    for (const each of this.#lanes) {
      each.from.on('error', () => this.#lost(each));
      each.from.on('close', () => this.#lost(each));
      void this.#pump(each);
    }
  }

  get open(): boolean {
    return !this.#client.destroyed && !this.#client.readableEnded;
  }

  startCounting(): void {
    for (const lane of this.#lanes) lane.base = lane.meter.begun;
  }

  strike(fault: Fault, side: Side): void {
    switch (fault) {
      case 'end':
        this.#silence();
        this.#client.end();
        this.#server.destroy();
        break;
      case 'reset':
        this.#silence();
        this.#client.resetAndDestroy();
        this.#server.resetAndDestroy();
        break;
      case 'stall':
        for (const lane of this.#lanes) if (lane.side === side) lane.silent = true;
        break;
      case 'black-hole':
        this.#silence();
        break;
    }
  }

  destroy(): void {
    this.#silence();
    this.#closing.abort();
    this.#client.destroy();
    this.#server.destroy();
  }

  #silence(): void {
    for (const lane of this.#lanes) lane.silent = true;
  }

  /** A connection that is lost on one end is lost on the other, unless nothing passes any more. */
  #lost(lane: Lane): void {
    if (!lane.silent) lane.to.destroy();
  }

  async #pump(lane: Lane): Promise<void> {
    try {
      for await (const chunk of lane.from.iterator({ destroyOnReturn: false })) {
        if (this.#board.latency > 0) {
          await delay(this.#board.latency, undefined, { signal: this.#closing.signal });
        }
        for (const piece of lane.meter.feed(chunk)) await this.#pass(lane, piece);
      }
      if (!lane.silent) lane.to.end();
    } catch {
      // The socket failed or the proxy closes; the event handlers see to the other end.
    }
  }

  async #pass(lane: Lane, piece: Piece): Promise<void> {
    if (lane.silent) return;
    const { armed } = this.#board;
    const hit = armed === undefined ? undefined : bytesBeforeFault(armed.point, lane, piece);
    const bytes = hit === undefined ? piece.bytes : piece.bytes.subarray(0, hit);
    this.#note(lane, piece, bytes.length);
    await this.#write(lane.to, bytes);
    if (hit === undefined || armed === undefined) return;
    this.#board.armed = undefined;
    this.strike(armed.point.fault, lane.side);
    armed.strike();
  }

  #note(lane: Lane, piece: Piece, passed: number): void {
    const { messages } = this.#board;
    const whole = passed === piece.bytes.length;
    if (piece.at === 0) {
      const { side } = lane;
      const begun = { connection: this.#id, side, type: piece.type, length: 0, packetEnds: [], complete: false };
      lane.entry = messages.push(begun) - 1;
    }
    const entry = messages[lane.entry];
    if (entry === undefined) return;
    const length = piece.at + passed;
    messages[lane.entry] = {
      ...entry,
      length,
      packetEnds: whole && piece.endsPacket ? [...entry.packetEnds, length] : entry.packetEnds,
      complete: whole && piece.endsMessage,
    };
  }

  async #write(to: Socket, bytes: Buffer): Promise<void> {
    const size = this.#board.slice > 0 ? this.#board.slice : bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      if (!to.writable) return;
      // Waiting for the write keeps a reset from overtaking the bytes before it.
      await new Promise<void>((written) => to.write(bytes.subarray(at, at + size), () => written()));
      if (this.#board.slice > 0) await nextTurn();
    }
  }
}

/** How many bytes of the piece pass before the fault strikes; undefined: it does not strike here. */
function bytesBeforeFault(point: FaultPoint, lane: Lane, piece: Piece): number | undefined {
  if ((point.side ?? 'server') !== lane.side || piece.message - lane.base !== point.message) return undefined;
  const left = point.byte - piece.at;
  if (left < 0) return undefined;
  if (left <= piece.bytes.length) return left;
  return piece.endsMessage ? piece.bytes.length : undefined;
}
