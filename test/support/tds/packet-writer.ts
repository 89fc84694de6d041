import type { Writable } from 'node:stream';
import { ByteWriter } from './bytes.ts';
import { headerLength, packet, packetType } from './packets.ts';

/** Where the server ends its packets: when they are full, or after every token too (the last one with its message). */
export type PacketEnds = 'full' | 'token';

/** Sends the tokens of one answer as packets. */
export class PacketWriter {
  readonly #stream: Writable;
  readonly #room: number;
  readonly #ends: PacketEnds;
  readonly #tokens = new ByteWriter();
  #number = 0;
  #full = false;

  constructor(stream: Writable, packetSize: number, ends: PacketEnds) {
    this.#stream = stream;
    this.#room = packetSize - headerLength;
    this.#ends = ends;
  }

  /** Adds one token; one that cannot be written leaves nothing behind. */
  token(write: (out: ByteWriter) => void): void {
    if (this.#ends === 'token') this.flush();
    const before = this.#tokens.length;
    try {
      write(this.#tokens);
    } catch (error) {
      this.#tokens.truncate(before);
      throw error;
    }
    // The end of the message decides about its last packet, so a packet that is just full waits.
    while (this.#tokens.length > this.#room) this.#send(this.#tokens.take(this.#room), false);
  }

  /** Sends what there is in a packet that may be short. */
  flush(): void {
    if (this.#tokens.length > 0) this.#send(this.#tokens.take(), false);
  }

  /** Sends the last packet of the message. */
  end(): void {
    this.#send(this.#tokens.take(), true);
  }

  /** Bytes that are no TDS, at once. */
  raw(bytes: Uint8Array): void {
    this.flush();
    if (this.#stream.writable) this.#stream.write(bytes);
  }

  /** More was written than the client has taken: wait for `drained`. */
  get full(): boolean {
    return this.#full;
  }

  /** Settles when the client has taken what was written, or is gone. */
  async drained(): Promise<void> {
    const stream = this.#stream;
    this.#full = false;
    if (!stream.writable || !stream.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        stream.off('drain', settle);
        stream.off('close', settle);
        resolve();
      };
      stream.on('drain', settle);
      stream.on('close', settle);
    });
  }

  #send(data: Buffer, last: boolean): void {
    this.#number += 1;
    if (!this.#stream.writable) return;
    if (!this.#stream.write(packet(packetType.answer, data, last, this.#number))) this.#full = true;
  }
}
