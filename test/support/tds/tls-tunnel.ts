import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import { MessageReader, message, ProtocolError, packetType } from './packets.ts';

const packetSize = 4096;

/** First bytes of TLS records: change cipher, alert, handshake, data. */
export function startsTlsRecord(byte: number): boolean {
  return byte >= 0x14 && byte <= 0x17;
}

/**
 * TLS as TDS 7.4 does it: the handshake travels inside PRELOGIN messages, one for each flight, and the records after it
 * bare. The client switches after the last message of the handshake, and the server follows at its first bare record.
 */
export class TlsTunnel extends Duplex {
  /** The clear side. */
  readonly clear: TLSSocket;
  readonly #raw: Socket;
  readonly #messages = new MessageReader();
  #flight: Buffer[] = [];
  #bare = false;

  constructor(raw: Socket, secureContext: SecureContext) {
    super();
    this.#raw = raw;
    this.clear = new TLSSocket(this, { isServer: true, secureContext });
  }

  /** Bytes from the network; throws a ProtocolError where they are neither PRELOGIN nor a record. */
  receive(chunk: Buffer): void {
    if (this.#bare) {
      this.push(chunk);
      return;
    }
    if (startsTlsRecord(chunk.readUInt8(0)) && this.#messages.empty) {
      this.#bare = true;
      this.push(chunk);
      return;
    }
    for (const { type, payload } of this.#messages.push(chunk)) {
      if (type !== packetType.prelogin) throw new ProtocolError(`a message of type ${type} inside the TLS handshake`);
      this.push(payload);
    }
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: (error?: Error | null) => void): void {
    if (this.#bare) {
      this.#raw.write(chunk, written);
      return;
    }
    if (this.#flight.length === 0) setImmediate(() => this.#sendFlight());
    this.#flight.push(Buffer.from(chunk));
    written();
  }

  override _final(ended: (error?: Error | null) => void): void {
    this.#raw.end();
    ended();
  }

  #sendFlight(): void {
    const flight = Buffer.concat(this.#flight);
    this.#flight = [];
    if (this.#raw.writable) this.#raw.write(message(packetType.prelogin, flight, packetSize));
  }
}
