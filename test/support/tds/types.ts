import { ByteReader, type ByteWriter } from './bytes.ts';
import {
  bitScalar,
  dateScalar,
  datetime2Scalar,
  datetimeoffsetScalar,
  datetimeScalar,
  decimalScalar,
  floatScalar,
  guidScalar,
  integerScalar,
  moneyScalar,
  realScalar,
  type Scalar,
  smalldatetimeScalar,
  timeScalar,
  type Value,
} from './scalars.ts';

/** A type as COLMETADATA, ROW and RPC parameters carry it (MS-TDS 2.2.5.4 to 2.2.5.6). */
export interface WireType {
  writeInfo(out: ByteWriter): void;
  /** The value with its length; null throws for a type that has none. */
  writeValue(out: ByteWriter, value: Value): void;
  /** The value after its type information. */
  readValue(bytes: ByteReader): Value;
  /** Bytes that a null takes in a row. */
  readonly nullSize: number;
}

/** Latin1_General_CI_AS: code page 1252, the bytes of ENVCHANGE and of every text column. */
export const collation: Uint8Array = Uint8Array.of(0x09, 0x04, 0xd0, 0x00, 0x34);

/** A declared type, such as `decimal(18, 4)` or `nvarchar(max)`; columns that are `not null` use the fixed types. */
export function wireType(name: string, first: number | 'max' | undefined, second: number, nullable: boolean): WireType {
  const number = numbers[name];
  if (number !== undefined) return numberType(number, nullable);
  const size = first === 'max' ? 'max' : (first ?? 1);
  const scale = typeof first === 'number' ? first : 7;
  const wide = size === 'max' ? size : size * 2;
  switch (name) {
    case 'decimal':
      return decimalType(0x6a, typeof first === 'number' ? first : 18, second);
    case 'numeric':
      return decimalType(0x6c, typeof first === 'number' ? first : 18, second);
    case 'uniqueidentifier':
      return shortType((out) => out.u8(0x24).u8(16), guidScalar);
    case 'date':
      return shortType((out) => out.u8(0x28), dateScalar);
    case 'time':
      return shortType((out) => out.u8(0x29).u8(scale), timeScalar(scale));
    case 'datetime2':
      return shortType((out) => out.u8(0x2a).u8(scale), datetime2Scalar(scale));
    case 'datetimeoffset':
      return shortType((out) => out.u8(0x2b).u8(scale), datetimeoffsetScalar(scale));
    case 'binary':
      return stringType(0xad, binaryCoding, size);
    case 'rowversion':
      return stringType(0xad, binaryCoding, 8);
    case 'varbinary':
      return stringType(0xa5, binaryCoding, size);
    case 'char':
      return stringType(0xaf, textCoding('latin1'), size);
    case 'varchar':
      return stringType(0xa7, textCoding('latin1'), size);
    case 'nchar':
      return stringType(0xef, textCoding('utf16le'), wide);
    case 'nvarchar':
      return stringType(0xe7, textCoding('utf16le'), wide);
    case 'sysname':
      return stringType(0xe7, textCoding('utf16le'), 256);
    case 'xml':
      return longType((out) => out.u8(0xf1).u8(0), textCoding('utf16le'));
    default:
      throw new TypeError(`the type ${name} is not known to the test server`);
  }
}

/** Reads the type information of an RPC parameter. */
export function readWireType(bytes: ByteReader): WireType {
  const tag = bytes.u8();
  const fixed = Object.values(numbers).find(({ fixedTag }) => fixedTag === tag);
  if (fixed !== undefined) return numberType(fixed, false);
  switch (tag) {
    case 0x1f:
      return nullType;
    case 0x24:
      bytes.u8();
      return shortType((out) => out.u8(tag).u8(16), guidScalar);
    case 0x26:
    case 0x68:
    case 0x6d:
    case 0x6e:
    case 0x6f: {
      const size = bytes.u8();
      const sized = Object.values(numbers).find((type) => type.nullableTag === tag && type.scalar.size === size);
      if (sized === undefined) throw new TypeError(`type ${tag} with ${size} bytes is not known`);
      return numberType(sized, true);
    }
    case 0x6a:
    case 0x6c: {
      bytes.u8();
      const precision = bytes.u8();
      return decimalType(tag, precision, bytes.u8());
    }
    case 0x28:
      return shortType((out) => out.u8(tag), dateScalar);
    case 0x29:
    case 0x2a:
    case 0x2b: {
      const scale = bytes.u8();
      const scalars = { 41: timeScalar, 42: datetime2Scalar, 43: datetimeoffsetScalar };
      return shortType((out) => out.u8(tag).u8(scale), scalars[tag](scale));
    }
    case 0xa5:
    case 0xad:
      return stringType(tag, binaryCoding, declaredSize(bytes.u16()));
    case 0xa7:
    case 0xaf:
    case 0xe7:
    case 0xef: {
      const size = declaredSize(bytes.u16());
      bytes.bytes(collation.length);
      return stringType(tag, textCoding(tag < 0xb0 ? 'latin1' : 'utf16le'), size);
    }
    default:
      throw new TypeError(`a parameter of type ${tag} is not known to the test server`);
  }
}

/** A type that has a fixed form for columns that are not null. */
interface NumberType {
  readonly nullableTag: number;
  readonly fixedTag: number;
  readonly scalar: Scalar;
}

const numbers: Readonly<Record<string, NumberType>> = {
  bit: { nullableTag: 0x68, fixedTag: 0x32, scalar: bitScalar },
  tinyint: { nullableTag: 0x26, fixedTag: 0x30, scalar: integerScalar(1) },
  smallint: { nullableTag: 0x26, fixedTag: 0x34, scalar: integerScalar(2) },
  int: { nullableTag: 0x26, fixedTag: 0x38, scalar: integerScalar(4) },
  bigint: { nullableTag: 0x26, fixedTag: 0x7f, scalar: integerScalar(8) },
  real: { nullableTag: 0x6d, fixedTag: 0x3b, scalar: realScalar },
  float: { nullableTag: 0x6d, fixedTag: 0x3e, scalar: floatScalar },
  smallmoney: { nullableTag: 0x6e, fixedTag: 0x7a, scalar: moneyScalar(4) },
  money: { nullableTag: 0x6e, fixedTag: 0x3c, scalar: moneyScalar(8) },
  smalldatetime: { nullableTag: 0x6f, fixedTag: 0x3a, scalar: smalldatetimeScalar },
  datetime: { nullableTag: 0x6f, fixedTag: 0x3d, scalar: datetimeScalar },
};

const nullType: WireType = {
  writeInfo: (out) => void out.u8(0x1f),
  writeValue: () => undefined,
  readValue: () => null,
  nullSize: 0,
};

function numberType({ nullableTag, fixedTag, scalar }: NumberType, nullable: boolean): WireType {
  return nullable ? shortType((out) => out.u8(nullableTag).u8(scalar.size), scalar) : fixedType(fixedTag, scalar);
}

function decimalType(tag: number, precision: number, scale: number): WireType {
  const scalar = decimalScalar(precision, scale);
  return shortType((out) => out.u8(tag).u8(scalar.size).u8(precision).u8(scale), scalar);
}

/** A type without a length and without null. */
function fixedType(tag: number, scalar: Scalar): WireType {
  return {
    writeInfo: (out) => void out.u8(tag),
    writeValue: (out, value) => {
      if (value === null) throw new TypeError('null in a column that is not null');
      scalar.write(out, value);
    },
    readValue: (bytes) => scalar.read(bytes),
    nullSize: 0,
  };
}

/** A type with a length of one byte; 0 is null. */
function shortType(writeInfo: (out: ByteWriter) => unknown, scalar: Scalar): WireType {
  return {
    writeInfo: (out) => void writeInfo(out),
    writeValue: (out, value) => {
      if (value === null) {
        out.u8(0);
      } else {
        scalar.write(out.u8(scalar.size), value);
      }
    },
    readValue: (bytes) => {
      const size = bytes.u8();
      return size === 0 ? null : scalar.read(new ByteReader(bytes.bytes(size)));
    },
    nullSize: 1,
  };
}

/** Between a value and its bytes. */
interface Coding {
  readonly collated: boolean;
  encode(value: Exclude<Value, null>): Uint8Array;
  decode(bytes: Buffer): Value;
}

const binaryCoding: Coding = {
  collated: false,
  encode: (value) => {
    if (value instanceof Uint8Array) return value;
    const digits = /^0x((?:[0-9a-f]{2})*)$/i.exec(String(value));
    if (digits === null) throw new TypeError(`${value} is not binary: 0x… or bytes are`);
    return Buffer.from(digits[1] ?? '', 'hex');
  },
  decode: (bytes) => Buffer.from(bytes),
};

function textCoding(encoding: 'latin1' | 'utf16le'): Coding {
  return {
    collated: true,
    encode: (value) => {
      const text = String(value);
      // Only the characters that code page 1252 shares with Latin-1.
      if (encoding === 'latin1' && !/^[\0-\x7f\xa0-\xff]*$/.test(text)) {
        throw new RangeError(`${text} does not fit into varchar`);
      }
      return Buffer.from(text, encoding);
    },
    decode: (bytes) => bytes.toString(encoding),
  };
}

function declaredSize(size: number): number | 'max' {
  return size === 0xffff ? 'max' : size;
}

/** Text and binary: a length of two bytes, or chunks for `max`; `size` counts bytes. */
function stringType(tag: number, coding: Coding, size: number | 'max'): WireType {
  const writeInfo = (out: ByteWriter) => {
    out.u8(tag).u16(size === 'max' ? 0xffff : size);
    if (coding.collated) out.bytes(collation);
  };
  if (size === 'max') return longType(writeInfo, coding);
  return {
    writeInfo,
    writeValue: (out, value) => {
      if (value === null) {
        out.u16(0xffff);
        return;
      }
      const bytes = coding.encode(value);
      if (bytes.length > size) throw new RangeError(`${bytes.length} bytes do not fit into ${size}`);
      out.u16(bytes.length).bytes(bytes);
    },
    readValue: (bytes) => {
      const length = bytes.u16();
      return length === 0xffff ? null : coding.decode(bytes.bytes(length));
    },
    nullSize: 2,
  };
}

const nullChunks = 0xffff_ffff_ffff_ffffn;
const chunkSize = 8000;

/** A value in chunks (PLP), the way of `max` types and xml. */
function longType(writeInfo: (out: ByteWriter) => unknown, coding: Coding): WireType {
  return {
    writeInfo: (out) => void writeInfo(out),
    writeValue: (out, value) => {
      if (value === null) {
        out.integer(nullChunks, 8);
        return;
      }
      const bytes = coding.encode(value);
      out.integer(BigInt(bytes.length), 8);
      for (let at = 0; at < bytes.length; at += chunkSize) {
        const chunk = bytes.subarray(at, at + chunkSize);
        out.u32(chunk.length).bytes(chunk);
      }
      out.u32(0);
    },
    readValue: (bytes) => {
      if (bytes.integer(8) === nullChunks) return null;
      const chunks: Buffer[] = [];
      for (let length = bytes.u32(); length > 0; length = bytes.u32()) chunks.push(bytes.bytes(length));
      return coding.decode(Buffer.concat(chunks));
    },
    nullSize: 8,
  };
}
