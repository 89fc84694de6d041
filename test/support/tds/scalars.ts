import type { ByteReader, ByteWriter } from './bytes.ts';
import { day1900, dayNumber, dayText, moment, timeText, timeTicks, zonedMoment, zonedText } from './clock.ts';

/**
 * A value of a cell or a parameter. Decimal, money, dates and times, uniqueidentifier and whatever a JavaScript number
 * cannot hold are text; binary values are bytes.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array;

/** How the bytes of one value look, without its length. */
export interface Scalar {
  /** Bytes of a value. */
  readonly size: number;
  write(out: ByteWriter, value: Exclude<Value, null>): void;
  read(bytes: ByteReader): Value;
}

export function integerScalar(size: number): Scalar {
  return {
    size,
    write: (out, value) => {
      const whole = BigInt(typeof value === 'object' ? Number.NaN : value);
      const signed = size > 1;
      const fits = signed ? BigInt.asIntN(size * 8, whole) === whole : BigInt.asUintN(8, whole) === whole;
      if (!fits) throw new RangeError(`${whole} does not fit into ${size} bytes`);
      out.integer(whole, size);
    },
    read: (bytes) => {
      const whole = size > 1 ? bytes.signed(size) : bytes.integer(size);
      return size === 8 ? whole : Number(whole);
    },
  };
}

export const bitScalar: Scalar = {
  size: 1,
  write: (out, value) => out.u8(Number(value) === 0 ? 0 : 1),
  read: (bytes) => bytes.u8() !== 0,
};

export const realScalar: Scalar = {
  size: 4,
  write: (out, value) => out.f32(Number(value)),
  read: (bytes) => bytes.f32(),
};

export const floatScalar: Scalar = {
  size: 8,
  write: (out, value) => out.f64(Number(value)),
  read: (bytes) => bytes.f64(),
};

/** money and smallmoney: ten-thousandths; money sends its high half first. */
export function moneyScalar(size: 4 | 8): Scalar {
  return {
    size,
    write: (out, value) => {
      const units = unscaled(String(value), 4);
      if (size === 8) out.integer(units >> 32n, 4);
      out.integer(units, 4);
    },
    read: (bytes) => {
      const high = size === 8 ? bytes.signed(4) : undefined;
      return scaledText(high === undefined ? bytes.signed(4) : (high << 32n) + bytes.integer(4), 4);
    },
  };
}

/** decimal and numeric: a sign byte, then the digits as one integer. */
export function decimalScalar(precision: number, scale: number): Scalar {
  const size = precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
  return {
    size,
    write: (out, value) => {
      const units = unscaled(String(value), scale);
      if (String(units).replace('-', '').length > precision) {
        throw new RangeError(`${value} does not fit into decimal(${precision}, ${scale})`);
      }
      out.u8(units < 0n ? 0 : 1).integer(units < 0n ? -units : units, size - 1);
    },
    read: (bytes) => {
      const sign = bytes.u8() === 1 ? 1n : -1n;
      // The length is the sender's choice: it may be shorter than the precision asks for.
      return scaledText(sign * bytes.integer(bytes.rest), scale);
    },
  };
}

export const dateScalar: Scalar = {
  size: 3,
  write: (out, value) => out.integer(BigInt(dayNumber(String(value))), 3),
  read: (bytes) => dayText(Number(bytes.integer(3))),
};

export function timeScalar(scale: number): Scalar {
  const size = timeSize(scale);
  return {
    size,
    write: (out, value) => out.integer(toScale(timeTicks(String(value)), scale), size),
    read: (bytes) => timeText(fromScale(bytes.integer(size), scale), scale),
  };
}

export function datetime2Scalar(scale: number): Scalar {
  const size = timeSize(scale);
  return {
    size: size + 3,
    write: (out, value) => {
      const { day, ticks } = moment(String(value));
      out.integer(toScale(ticks, scale), size).integer(BigInt(day), 3);
    },
    read: (bytes) => {
      const ticks = fromScale(bytes.integer(size), scale);
      return `${dayText(Number(bytes.integer(3)))} ${timeText(ticks, scale)}`;
    },
  };
}

export function datetimeoffsetScalar(scale: number): Scalar {
  const size = timeSize(scale);
  return {
    size: size + 5,
    write: (out, value) => {
      const { utc, offset } = zonedMoment(String(value));
      out.integer(toScale(utc.ticks, scale), size).integer(BigInt(utc.day), 3).integer(BigInt(offset), 2);
    },
    read: (bytes) => {
      const ticks = fromScale(bytes.integer(size), scale);
      const day = Number(bytes.integer(3));
      return zonedText({ day, ticks }, Number(bytes.signed(2)), scale);
    },
  };
}

/** datetime: days since 1900 and three-hundredths of a second, as the server rounds them. */
export const datetimeScalar: Scalar = {
  size: 8,
  write: (out, value) => {
    const { day, ticks } = moment(String(value));
    out.i32(day - day1900).u32(Math.round((Number(ticks) * 3) / 100_000));
  },
  read: (bytes) => {
    const day = Number(bytes.signed(4)) + day1900;
    const milliseconds = Math.round((bytes.u32() * 10) / 3);
    return `${dayText(day)} ${timeText(BigInt(milliseconds) * 10_000n, 3)}`;
  },
};

export const smalldatetimeScalar: Scalar = {
  size: 4,
  write: (out, value) => {
    const { day, ticks } = moment(String(value));
    out.u16(day - day1900).u16(Number(ticks / 600_000_000n));
  },
  read: (bytes) => {
    const day = bytes.u16() + day1900;
    return `${dayText(day)} ${timeText(BigInt(bytes.u16()) * 600_000_000n, 0)}`;
  },
};

/** uniqueidentifier: the first three groups are little-endian, the last two are not. */
export const guidScalar: Scalar = {
  size: 16,
  write: (out, value) => {
    const digits = String(value).replaceAll('-', '');
    if (!/^[0-9a-f]{32}$/i.test(digits)) throw new TypeError(`${value} is not a uniqueidentifier`);
    out.bytes(swapGroups(Buffer.from(digits, 'hex')));
  },
  read: (bytes) => {
    const digits = swapGroups(bytes.bytes(16)).toString('hex').toUpperCase();
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
};

function swapGroups(bytes: Buffer): Buffer {
  const swapped = Buffer.from(bytes);
  swapped.subarray(0, 4).reverse();
  swapped.subarray(4, 6).reverse();
  swapped.subarray(6, 8).reverse();
  return swapped;
}

function timeSize(scale: number): number {
  return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

/** Units of the scale; digits that it cannot hold throw. */
function toScale(ticks: bigint, scale: number): bigint {
  const unit = 10n ** BigInt(7 - scale);
  if (ticks % unit !== 0n) throw new RangeError(`a time has more than ${scale} decimal places`);
  return ticks / unit;
}

function fromScale(units: bigint, scale: number): bigint {
  return units * 10n ** BigInt(7 - scale);
}

/** `12.5` at scale 2 is 1250; digits that the scale cannot hold throw. */
function unscaled(text: string, scale: number): bigint {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  const [, sign, whole = '', fraction = ''] = parts ?? [];
  if (parts === null || whole + fraction === '') throw new TypeError(`${text} is not a decimal number`);
  if (fraction.length > scale) throw new RangeError(`${text} has more than ${scale} decimal places`);
  const units = BigInt(whole + fraction.padEnd(scale, '0'));
  return sign === '-' ? -units : units;
}

function scaledText(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${units < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
}
