/** Writes the little-endian fields of TDS into one growing buffer. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(16_384);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    const at = this.#grow(1);
    this.#bytes.writeUInt8(value, at);
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  u32(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeUInt32LE(value, at);
    return this;
  }

  /** An integer of `size` bytes, negative ones in two's complement. */
  integer(value: bigint, size: number): this {
    const at = this.#grow(size);
    let rest = BigInt.asUintN(size * 8, value);
    for (let index = 0; index < size; index += 1) {
      this.#bytes[at + index] = Number(rest & 0xffn);
      rest >>= 8n;
    }
    return this;
  }

  i32(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeInt32LE(value, at);
    return this;
  }

  f32(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeFloatLE(value, at);
    return this;
  }

  f64(value: number): this {
    const at = this.#grow(8);
    this.#bytes.writeDoubleLE(value, at);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  ucs2(text: string): this {
    const at = this.#grow(text.length * 2);
    this.#bytes.write(text, at, 'utf16le');
    return this;
  }

  /** Text of at most 255 UTF-16 units, with a length byte (B_VARCHAR). */
  shortText(text: string): this {
    return this.u8(text.length).ucs2(text);
  }

  /** Text of at most 65,535 UTF-16 units, with a length of two bytes (US_VARCHAR). */
  longText(text: string): this {
    return this.u16(text.length).ucs2(text);
  }

  /** What `write` writes, preceded by its length in bytes as a number of two bytes. */
  sized(write: (out: ByteWriter) => void): this {
    const at = this.#grow(2);
    write(this);
    this.#bytes.writeUInt16LE(this.#length - at - 2, at);
    return this;
  }

  /** Forgets everything after the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Removes the first `count` bytes and returns a copy of them. */
  take(count: number = this.#length): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, count));
    this.#bytes.copyWithin(0, count, this.#length);
    this.#length -= count;
    return taken;
  }

  /** Makes room for `count` bytes and returns where they start; the buffer may be another one afterwards. */
  #grow(count: number): number {
    const at = this.#length;
    if (at + count > this.#bytes.length) {
      const wider = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, at + count));
      this.#bytes.copy(wider, 0, 0, at);
      this.#bytes = wider;
    }
    this.#length = at + count;
    return at;
  }
}

/** Reads the little-endian fields of TDS; a read past the end throws a RangeError. */
export class ByteReader {
  #offset = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get rest(): number {
    return this.#bytes.length - this.#offset;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#skip(1));
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#skip(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#skip(4));
  }

  /** An integer of `size` bytes without a sign. */
  integer(size: number): bigint {
    const at = this.#skip(size);
    let value = 0n;
    for (let index = size - 1; index >= 0; index -= 1) {
      value = (value << 8n) | BigInt(this.#bytes.readUInt8(at + index));
    }
    return value;
  }

  /** An integer of `size` bytes in two's complement. */
  signed(size: number): bigint {
    return BigInt.asIntN(size * 8, this.integer(size));
  }

  f32(): number {
    return this.#bytes.readFloatLE(this.#skip(4));
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#skip(8));
  }

  bytes(count: number): Buffer {
    const at = this.#skip(count);
    return this.#bytes.subarray(at, at + count);
  }

  ucs2(units: number): string {
    return this.bytes(units * 2).toString('utf16le');
  }

  shortText(): string {
    return this.ucs2(this.u8());
  }

  #skip(count: number): number {
    const at = this.#offset;
    if (at + count > this.#bytes.length) throw new RangeError(`${count} bytes wanted, ${this.rest} left`);
    this.#offset = at + count;
    return at;
  }
}
