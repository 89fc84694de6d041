/** Conversions between types: CAST, CONVERT with its styles, assignment to variables and storing into columns. */
import { dateText, endOfTime, readMoment, roundTicks, roundToDatetime, ticksPerDay, timeText } from './clock.ts';
import { decodeText, encodeText } from './collations.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { describeType, integerBounds, isBinary, isInteger, isText, isTime, isUnicode, type SqlType } from './types.ts';
import type { Value } from './values.ts';

/** `store` refuses what a column cannot hold; the others cut texts. */
export type ConversionMode = 'cast' | 'assign' | 'store';
type Known = Exclude<Value, null>;
type Conversion = (value: Known) => Value;

/** How values of one type become values of another. Throws error 529 or 257 where there is no way. */
export function conversion(
  from: SqlType,
  to: SqlType,
  mode: ConversionMode = 'cast',
  style: number | null = null,
): (value: Value) => Value {
  const convert = from.isNull === true ? (value: Known) => value : known(from, to, mode, style);
  return (value) => (value === null ? null : convert(value));
}

function known(from: SqlType, to: SqlType, mode: ConversionMode, style: number | null): Conversion {
  if (isText(to)) return toText(from, to, mode, style);
  if (isInteger(to)) return toInteger(from, to);
  if (to.base === 'decimal') return toDecimal(from, to);
  if (isTime(to)) return toTime(from, to);
  if (isBinary(to)) return toBinary(from, to, style);
  if (to.base === 'xml' && from.base === 'xml') return (value) => value;
  throw new BeyondEngine(`conversion of ${describeType(from)} to ${describeType(to)}`);
}

function refused(from: SqlType, to: SqlType): SqlError {
  return new SqlError(529, `Explicit conversion from data type ${from.base} to ${to.base} is not allowed.`);
}

// --- texts

function toText(from: SqlType, to: SqlType, mode: ConversionMode, style: number | null): Conversion {
  const spell = spelling(from, style);
  const fitted = fitting(to, mode);
  if (isText(from) || isBinary(from)) return (value) => fitted(spell(value));
  const room = to.length === 'max' ? Number.POSITIVE_INFINITY : to.length;
  return (value) => {
    const text = spell(value);
    if (text.length <= room) return fitted(text);
    // Times are cut like texts; numbers are refused, integers in varchar become a star.
    if (isTime(from)) return fitted(text);
    if (isInteger(from) && !isUnicode(to)) return '*';
    throw new SqlError(8115, `Arithmetic overflow error converting expression to data type ${to.base}.`);
  };
}

function spelling(from: SqlType, style: number | null): (value: Known) => string {
  if (isText(from)) return String;
  if (isInteger(from)) return String;
  if (from.base === 'decimal') return (value) => decimalText(BigInt(String(value)), from.scale);
  if (isTime(from)) return (value) => timeSpelling(BigInt(String(value)), from, style);
  if (isBinary(from)) return (value) => binarySpelling(value, style);
  throw new BeyondEngine(`text of ${describeType(from)}`);
}

function decimalText(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${units < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
}

/** Without a style the newer types are written as in style 121. */
function timeSpelling(ticks: bigint, from: SqlType, style: number | null): string {
  if (from.base === 'datetime') throw new BeyondEngine('text of a datetime');
  if (style === null || style === 121 || style === 126 || style === 23) {
    if (from.base === 'date' || style === 23) return dateText(ticks);
    const time = timeText(ticks, from.scale);
    return from.base === 'time' ? time : `${dateText(ticks)}${style === 126 ? 'T' : ' '}${time}`;
  }
  throw new BeyondEngine(`style ${style} of a date`);
}

function binarySpelling(value: Known, style: number | null): string {
  if (!Buffer.isBuffer(value) || style === null || style === 0) throw new BeyondEngine('bytes read as characters');
  const digits = value.toString('hex').toUpperCase();
  if (style === 1) return `0x${digits}`;
  if (style === 2) return digits;
  throw new BeyondEngine(`style ${style} of binary`);
}

/** Brings a text into its type's code page and length. */
function fitting(to: SqlType, mode: ConversionMode): (text: string) => string {
  const isPadded = to.base === 'char' || to.base === 'nchar';
  const cut = isUnicode(to) ? cutUnits(to, mode) : cutBytes(to, mode);
  return (text) => {
    const kept = cut(text);
    return isPadded && to.length !== 'max' ? kept.padEnd(to.length, ' ') : kept;
  };
}

function cutUnits(to: SqlType, mode: ConversionMode): (text: string) => string {
  const { length } = to;
  if (length === 'max') return (text) => text;
  return (text) => {
    if (text.length <= length) return text;
    if (mode === 'store' && text.slice(length).trim() !== '') throw tooLong(text.slice(0, length));
    return text.slice(0, length);
  };
}

function cutBytes(to: SqlType, mode: ConversionMode): (text: string) => string {
  const { length, collation } = to;
  return (text) => {
    const bytes = encodeText(text, collation);
    if (length === 'max' || bytes.length <= length) return decodeText(bytes, collation);
    let end = length;
    const isUtf8 = /_UTF8$/i.test(collation?.name ?? '');
    // A character is never cut in two.
    while (isUtf8 && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    const rest = decodeText(bytes.subarray(end), collation);
    const kept = decodeText(bytes.subarray(0, end), collation);
    if (mode === 'store' && rest.trim() !== '') throw tooLong(kept);
    return kept;
  };
}

function tooLong(kept: string): SqlError {
  return new SqlError(
    2628,
    `String or binary data would be truncated in table. Truncated value: '${kept.slice(0, 40)}'.`,
  );
}

// --- numbers

function toInteger(from: SqlType, to: SqlType): Conversion {
  const [low, high] = integerBounds[to.base] ?? [0n, 0n];
  const checked = (value: bigint, text: string): bigint => {
    if (to.base === 'bit') return value === 0n ? 0n : 1n;
    if (value >= low && value <= high) return value;
    if (isText(from) && to.base !== 'bigint')
      throw new SqlError(248, `The conversion of the ${from.base} value '${text}' overflowed an ${to.base} column.`);
    throw overflow(to);
  };
  if (isInteger(from)) return (value) => checked(BigInt(String(value)), String(value));
  if (from.base === 'decimal') return (value) => checked(BigInt(String(value)) / 10n ** BigInt(from.scale), '');
  if (isText(from)) {
    return (value) => {
      const text = String(value).trim();
      if (!/^[+-]?\d*$/.test(text) || /^[+-]$/.test(text))
        throw new SqlError(
          245,
          `Conversion failed when converting the ${from.base} value '${value}' to data type ${to.base}.`,
        );
      return checked(text === '' ? 0n : BigInt(text.replace(/^\+/, '')), text);
    };
  }
  throw isTime(from) ? refused(from, to) : new BeyondEngine(`conversion of ${from.base} to ${to.base}`);
}

export function overflow(to: SqlType): SqlError {
  return new SqlError(8115, `Arithmetic overflow error converting expression to data type ${to.base}.`);
}

function toDecimal(from: SqlType, to: SqlType): Conversion {
  const limit = 10n ** BigInt(to.precision);
  const checked = (units: bigint): bigint => {
    if (units < limit && units > -limit) return units;
    throw new SqlError(8115, `Arithmetic overflow error converting ${from.base} to data type numeric.`, 16, 8);
  };
  if (isInteger(from)) return (value) => checked(BigInt(String(value)) * 10n ** BigInt(to.scale));
  if (from.base === 'decimal') return (value) => checked(rescaled(BigInt(String(value)), from.scale, to.scale));
  if (isText(from)) {
    return (value) => {
      const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/.exec(String(value));
      const [, sign = '', whole = '', fraction = ''] = match ?? [];
      if (match === null || whole + fraction === '')
        throw new SqlError(8114, `Error converting data type ${from.base} to numeric.`, 16, 5);
      const units = rescaled(BigInt(whole + fraction), fraction.length, to.scale);
      return checked(sign === '-' ? -units : units);
    };
  }
  throw refused(from, to);
}

/** Rounds half away from zero. */
export function rescaled(units: bigint, from: number, to: number): bigint {
  if (to >= from) return units * 10n ** BigInt(to - from);
  const unit = 10n ** BigInt(from - to);
  const half = unit / 2n;
  return units < 0n ? -((-units + half) / unit) : (units + half) / unit;
}

// --- dates and bytes

function toTime(from: SqlType, to: SqlType): Conversion {
  const fitted = (ticks: bigint): bigint => {
    if (to.base === 'date') return (ticks / ticksPerDay) * ticksPerDay;
    if (to.base === 'datetime') return inRange(roundToDatetime(ticks), 639_905n * ticksPerDay);
    const rounded = roundTicks(ticks, to.scale);
    if (to.base === 'time') return rounded % ticksPerDay;
    return inRange(rounded, 0n);
  };
  if (isText(from)) return (value) => fitted(readMoment(String(value), to.base === 'datetime'));
  if (!isTime(from) || (from.base === 'time') !== (to.base === 'time')) {
    if (isTime(from) && to.base === 'time') return (value) => fitted(BigInt(String(value)) % ticksPerDay);
    throw refused(from, to);
  }
  return (value) => fitted(BigInt(String(value)));
}

function inRange(ticks: bigint, first: bigint): bigint {
  if (ticks < first || ticks >= endOfTime)
    throw new SqlError(517, `Adding a value to a 'datetime2' column caused an overflow.`);
  return ticks;
}

function toBinary(from: SqlType, to: SqlType, style: number | null): Conversion {
  const limit = to.length;
  if (isBinary(from)) return (value) => (Buffer.isBuffer(value) && limit !== 'max' ? value.subarray(0, limit) : value);
  if (isText(from) && (style === 1 || style === 2)) {
    return (value) => {
      const digits = /^(0x)?((?:[0-9a-f]{2})*)$/i.exec(String(value));
      if (digits === null || (digits[1] === undefined) !== (style === 2))
        throw new SqlError(8114, `Error converting data type ${from.base} to varbinary.`, 16, 5);
      const bytes = Buffer.from(digits[2] ?? '', 'hex');
      return limit === 'max' ? bytes : bytes.subarray(0, limit);
    };
  }
  if (isText(from) && style === null)
    return (value) => {
      const bytes = isUnicode(from) ? Buffer.from(String(value), 'utf16le') : encodeText(String(value), from.collation);
      return limit === 'max' ? bytes : bytes.subarray(0, limit);
    };
  throw new BeyondEngine(`conversion of ${describeType(from)} to ${describeType(to)}`);
}
