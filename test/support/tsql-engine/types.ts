/** Types of T-SQL: names, precedence, and what an operation over two of them gives. */
import type { DataType } from '../../../server/src/syntax/tree.ts';
import { type Collation, mergedCollation } from './collations.ts';
import { BeyondEngine, SqlError } from './errors.ts';

export type TextBase = 'char' | 'varchar' | 'nchar' | 'nvarchar';
export type IntegerBase = 'bit' | 'tinyint' | 'smallint' | 'int' | 'bigint';
export type TimeBase = 'date' | 'time' | 'datetime' | 'datetime2';
export type Base = TextBase | IntegerBase | TimeBase | 'decimal' | 'binary' | 'varbinary' | 'xml';

export interface SqlType {
  readonly base: Base;
  /** Texts count characters where they begin with `n`, bytes else; 0 for types without a length. */
  readonly length: number | 'max';
  readonly precision: number;
  /** Decimal places of decimals, of seconds in times. */
  readonly scale: number;
  /** Null for all but texts. */
  readonly collation: Collation | null;
  /** The word NULL, which takes any type. */
  readonly isNull?: true;
}

const plain = { length: 0, precision: 0, scale: 0, collation: null } as const;

export const bit: SqlType = { ...plain, base: 'bit' };
export const int: SqlType = { ...plain, base: 'int' };
export const bigint: SqlType = { ...plain, base: 'bigint' };
export const xml: SqlType = { ...plain, base: 'xml' };
export const untypedNull: SqlType = { ...plain, base: 'int', isNull: true };

export function datetime2(scale: number): SqlType {
  return { ...plain, base: 'datetime2', scale };
}

export function decimal(precision: number, scale: number): SqlType {
  return { ...plain, base: 'decimal', precision, scale };
}

export function varbinary(length: number | 'max'): SqlType {
  return { ...plain, base: 'varbinary', length };
}

export function textType(base: TextBase, length: number | 'max', collation: Collation): SqlType {
  return { base, length, precision: 0, scale: 0, collation };
}

export function isText(type: SqlType): boolean {
  return type.collation !== null;
}

export function isUnicode(type: SqlType): boolean {
  return type.base === 'nvarchar' || type.base === 'nchar';
}

export function isTime(type: SqlType): boolean {
  return type.base === 'date' || type.base === 'time' || type.base === 'datetime' || type.base === 'datetime2';
}

export function isInteger(type: SqlType): boolean {
  return type.base in integerBounds;
}

export function isBinary(type: SqlType): boolean {
  return type.base === 'binary' || type.base === 'varbinary';
}

export const integerBounds: Readonly<Record<string, readonly [bigint, bigint]>> = {
  bit: [0n, 1n],
  tinyint: [0n, 255n],
  smallint: [-32_768n, 32_767n],
  int: [-2_147_483_648n, 2_147_483_647n],
  bigint: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** Lowest first; the operand of the lower type is converted to the higher one. */
const precedence: readonly Base[] = [
  'binary',
  'varbinary',
  'char',
  'varchar',
  'nchar',
  'nvarchar',
  'bit',
  'tinyint',
  'smallint',
  'int',
  'bigint',
  'decimal',
  'time',
  'date',
  'datetime',
  'datetime2',
  'xml',
];

/** The longest text or binary that is not `max`, in the unit of its type. */
export function longest(base: Base): number {
  return base === 'nvarchar' || base === 'nchar' ? 4000 : 8000;
}

/** A type as written. `fallback` is the length where none is written: 1 in declarations, 30 in CAST and CONVERT. */
export function readType(written: DataType, fallback: 1 | 30, collation: Collation): SqlType {
  const base = written.name.parts.at(-1)?.name.toLowerCase() ?? '';
  const [first, second] = written.arguments;
  const numbers = (of: string | undefined, otherwise: number): number => (of === undefined ? otherwise : Number(of));
  switch (base) {
    case 'sysname':
      return textType('nvarchar', 128, collation);
    case 'nvarchar':
    case 'varchar':
    case 'nchar':
    case 'char': {
      const length = first?.toLowerCase() === 'max' ? 'max' : numbers(first, fallback);
      if (length !== 'max' && (length < 1 || length > longest(base))) throw tooLong(base, length);
      return textType(base, length, collation);
    }
    case 'varbinary':
    case 'binary': {
      const length = first?.toLowerCase() === 'max' ? 'max' : numbers(first, fallback);
      if (length !== 'max' && (length < 1 || length > 8000)) throw tooLong(base, length);
      return { ...plain, base, length };
    }
    case 'decimal':
    case 'numeric': {
      const [precision, scale] = [numbers(first, 18), numbers(second, 0)];
      if (precision > 38 || scale > precision)
        throw new SqlError(
          2750,
          `Column or parameter has a specified column precision or scale greater than the maximum.`,
        );
      return decimal(precision, scale);
    }
    case 'datetime2':
    case 'time': {
      const scale = numbers(first, 7);
      if (scale > 7) throw new SqlError(1002, `Line 1: Specified scale ${scale} is invalid.`);
      return { ...plain, base, scale };
    }
    case 'datetime':
      return { ...plain, base, scale: 3 };
    case 'date':
    case 'bit':
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
    case 'xml':
      return { ...plain, base };
    default:
      throw new BeyondEngine(`type ${written.text}`);
  }
}

function tooLong(base: string, length: number): SqlError {
  return new SqlError(
    131,
    `The size (${length}) given to the type '${base}' exceeds the maximum allowed for any data type (8000).`,
    15,
  );
}

export function describeType(type: SqlType): string {
  if (type.base === 'decimal') return `decimal(${type.precision},${type.scale})`;
  if (type.base === 'datetime2' || type.base === 'time') return `${type.base}(${type.scale})`;
  return isText(type) || isBinary(type) ? `${type.base}(${type.length})` : type.base;
}

/** The common type of values that stand side by side: comparison, CASE, COALESCE, UNION. */
export function commonType(types: readonly SqlType[]): SqlType {
  const known = types.filter(({ isNull }) => isNull !== true);
  const [first, ...rest] = known;
  return first === undefined ? untypedNull : rest.reduce(common, first);
}

function common(a: SqlType, b: SqlType): SqlType {
  const [low, high] = precedence.indexOf(a.base) <= precedence.indexOf(b.base) ? [a, b] : [b, a];
  if (isText(low) && isText(high)) {
    const base = low.base.startsWith('n') && high.base === 'varchar' ? 'nvarchar' : high.base;
    const collation = mergedCollation(a.collation, b.collation);
    return { base, length: longer(a.length, b.length), precision: 0, scale: 0, collation };
  }
  if (isBinary(low) && isBinary(high)) return { ...high, length: longer(a.length, b.length) };
  if (isBinary(low) !== isBinary(high)) throw clash(low, high);
  if (isText(low)) return high;
  if (isTime(low) && isTime(high)) {
    if (low.base === 'time')
      throw new SqlError(
        402,
        `The data types ${describeType(a)} and ${describeType(b)} are incompatible in the equal to operator.`,
      );
    return high.base === low.base ? { ...high, scale: Math.max(a.scale, b.scale) } : high;
  }
  if (isTime(high)) throw clash(low, high);
  if (high.base !== 'decimal') return high;
  const [x, y] = [asDecimal(low), asDecimal(high)];
  const scale = Math.max(x.scale, y.scale);
  const whole = Math.max(x.precision - x.scale, y.precision - y.scale);
  const precision = Math.min(38, whole + scale);
  return decimal(precision, Math.min(scale, precision - Math.min(whole, precision)));
}

function clash(low: SqlType, high: SqlType): SqlError {
  return new SqlError(206, `Operand type clash: ${low.base} is incompatible with ${high.base}`);
}

function longer(a: number | 'max', b: number | 'max'): number | 'max' {
  return a === 'max' || b === 'max' ? 'max' : Math.max(a, b);
}

/** The decimal that holds every value of a number type. */
export function asDecimal(type: SqlType): SqlType {
  const digits = { bit: 1, tinyint: 3, smallint: 5, int: 10, bigint: 19 };
  const of = Object.entries(digits).find(([base]) => base === type.base)?.[1];
  return of === undefined ? type : decimal(of, 0);
}
