import { headerLength, ProtocolError, packetLength } from './packets.ts';
import { startsTlsRecord } from './tls-tunnel.ts';

/** Bytes that belong to one message of one side. */
export interface Piece {
  /** Counts the messages of the side from 1. */
  readonly message: number;
  /** Place of the first byte in its message, the headers of packets included. */
  readonly at: number;
  readonly bytes: Buffer;
  /** Packet type, or the type of the TLS record. */
  readonly type: number;
  /** A packet ends with the last byte. */
  readonly endsPacket: boolean;
  /** The message ends with the last byte. */
  readonly endsMessage: boolean;
}

const recordHeader = 5;
const lastPacket = 0x01;

/**
 * Tells for each byte that passes in which message it is and where, without holding any back. A bare TLS record counts
 * as a message; after bytes that are neither, everything is one message without an end.
 */
export class MessageMeter {
  #message = 0;
  #inMessage = 0;
  /** The header of the current packet or record, as far as it came. */
  #header: Buffer = Buffer.alloc(0);
  /** Bytes of the current packet that are still to come; unknown while the header is not whole. */
  #left: number | undefined;
  #opaque = false;

  /** Messages that began. */
  get begun(): number {
    return this.#message;
  }

  *feed(chunk: Buffer): Generator<Piece> {
    let rest = chunk;
    while (rest.length > 0) {
      const length = this.#nextLength(rest);
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      yield this.#piece(bytes);
    }
  }

  /** How many of `bytes` belong together: up to the end of the header, or of the packet. */
  #nextLength(bytes: Buffer): number {
    if (this.#opaque) return bytes.length;
    if (this.#left !== undefined) return Math.min(this.#left, bytes.length);
    const first = this.#header.length > 0 ? this.#header.readUInt8(0) : bytes.readUInt8(0);
    const size = startsTlsRecord(first) ? recordHeader : headerLength;
    return Math.min(size - this.#header.length, bytes.length);
  }

  #piece(bytes: Buffer): Piece {
    if (this.#inMessage === 0) this.#message += 1;
    const at = this.#inMessage;
    this.#inMessage += bytes.length;
    if (this.#left === undefined) this.#readHeader(bytes);
    else this.#left -= bytes.length;
    const type = this.#header.readUInt8(0);
    const endsPacket = this.#left === 0 && !this.#opaque;
    const endsMessage = endsPacket && (startsTlsRecord(type) || (this.#header.readUInt8(1) & lastPacket) !== 0);
    if (endsPacket) {
      this.#header = Buffer.alloc(0);
      this.#left = undefined;
    }
    if (endsMessage) this.#inMessage = 0;
    return { message: this.#message, at, bytes, type, endsPacket, endsMessage };
  }

  #readHeader(bytes: Buffer): void {
    this.#header = Buffer.concat([this.#header, bytes]);
    const record = startsTlsRecord(this.#header.readUInt8(0));
    const size = record ? recordHeader : headerLength;
    if (this.#header.length < size || this.#opaque) return;
    try {
      this.#left = record ? this.#header.readUInt16BE(3) : packetLength(this.#header) - headerLength;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#opaque = true;
      this.#left = 0;
    }
  }
}
