/** Packet types of MS-TDS 2.2.3.1.1. */
export const packetType = {
  batch: 0x01,
  rpc: 0x03,
  answer: 0x04,
  attention: 0x06,
  federatedToken: 0x08,
  transaction: 0x0e,
  login: 0x10,
  sspi: 0x11,
  prelogin: 0x12,
} as const;

export const headerLength = 8;

const knownTypes: ReadonlySet<number> = new Set(Object.values(packetType));
const endOfMessage = 0x01;
const ignoreMessage = 0x02;

/** Bytes that are no TDS: the server closes the connection. */
export class ProtocolError extends Error {}

interface Packet {
  readonly type: number;
  /** Header and data. */
  readonly bytes: Buffer;
  readonly last: boolean;
  /** The sender gave the message up before its end; it must not be carried out. */
  readonly ignored: boolean;
}

export interface Message {
  readonly type: number;
  readonly payload: Buffer;
  readonly ignored: boolean;
}

/** Cuts a byte stream into TDS packets. */
class PacketReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Adds bytes and returns the packets that are whole now; throws a ProtocolError for an impossible header. */
  push(chunk: Buffer): readonly Packet[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const packets: Packet[] = [];
    let at = 0;
    while (this.#rest.length - at >= headerLength) {
      const length = packetLength(this.#rest.subarray(at));
      if (this.#rest.length - at < length) break;
      const bytes = this.#rest.subarray(at, at + length);
      const status = bytes.readUInt8(1);
      packets.push({
        type: bytes.readUInt8(0),
        bytes,
        last: (status & endOfMessage) !== 0,
        ignored: (status & ignoreMessage) !== 0,
      });
      at += length;
    }
    this.#rest = this.#rest.subarray(at);
    return packets;
  }

  /** No part of a packet is waiting for its rest. */
  get empty(): boolean {
    return this.#rest.length === 0;
  }
}

/** Joins packets to messages. */
export class MessageReader {
  readonly #packets = new PacketReader();
  #parts: Buffer[] = [];

  /** Adds bytes and returns the messages that are whole now; throws a ProtocolError for an impossible header. */
  push(chunk: Buffer): readonly Message[] {
    const messages: Message[] = [];
    for (const packet of this.#packets.push(chunk)) {
      this.#parts.push(packet.bytes.subarray(headerLength));
      if (!packet.last) continue;
      messages.push({ type: packet.type, payload: Buffer.concat(this.#parts), ignored: packet.ignored });
      this.#parts = [];
    }
    return messages;
  }

  /** No part of a message is waiting for its rest. */
  get empty(): boolean {
    return this.#parts.length === 0 && this.#packets.empty;
  }
}

/**
 * Length of the packet whose header starts `bytes`, header included.
 * A length under 8 throws: going on would loop for ever, and a TLS hello sent to a plain port looks like that.
 */
export function packetLength(bytes: Buffer): number {
  const type = bytes.readUInt8(0);
  const length = bytes.readUInt16BE(2);
  if (!knownTypes.has(type)) throw new ProtocolError(`packet type ${type} is not known`);
  if (length < headerLength) throw new ProtocolError(`packet length ${length} is shorter than its header`);
  return length;
}

/** One packet; `number` counts the packets of its message from 1 and wraps at 256. */
export function packet(type: number, data: Buffer, last: boolean, number: number): Buffer {
  const bytes = Buffer.allocUnsafe(headerLength + data.length);
  bytes.writeUInt8(type, 0);
  bytes.writeUInt8(last ? endOfMessage : 0, 1);
  bytes.writeUInt16BE(bytes.length, 2);
  bytes.writeUInt16BE(0, 4);
  bytes.writeUInt8(number % 256, 6);
  bytes.writeUInt8(0, 7);
  data.copy(bytes, headerLength);
  return bytes;
}

/** A whole message, cut into packets of at most `packetSize` bytes. */
export function message(type: number, payload: Buffer, packetSize: number): Buffer {
  const room = packetSize - headerLength;
  const packets: Buffer[] = [];
  let at = 0;
  do {
    const data = payload.subarray(at, at + room);
    at += room;
    packets.push(packet(type, data, at >= payload.length, packets.length + 1));
  } while (at < payload.length);
  return Buffer.concat(packets);
}
