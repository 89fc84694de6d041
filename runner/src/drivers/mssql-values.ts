import type { CellValue, ResultColumn } from '../../../protocol/run.ts';

/** What the driver says of a column. */
export interface ColumnShape {
  readonly colName: string;
  readonly type: { readonly name: string };
  readonly precision?: number | undefined;
  readonly scale?: number | undefined;
  /** Bytes; 65535 for `max`. */
  readonly dataLength?: number | undefined;
}

/** Turns the values of one column into cells. */
export interface ColumnReader {
  readonly column: ResultColumn;
  readonly read: (value: unknown) => CellValue;
}

/** Digits that a double holds for certain. */
const exactDigits = 15;

/**
 * How a column's values become cells without losing a digit: bigint and decimal as text, dates as text in the column's own
 * precision, binary as lower-case hex. The driver hands decimals over as doubles, so those with more than 15 digits can't
 * be exact: they begin with "≈".
 */
export function columnReader(meta: ColumnShape): ColumnReader {
  const { colName, precision = 0, scale = 0 } = meta;
  const typeName = baseName(meta.type.name);
  const column = (type: string, read: ColumnReader['read']): ColumnReader => ({
    column: { name: colName, type },
    read: (value) => (value === null || value === undefined ? null : read(value)),
  });
  switch (typeName) {
    case 'bit':
      return column('bit', (value) => value === true);
    case 'int':
      return column(integerName(meta), (value) => (typeof value === 'number' ? value : String(value)));
    case 'bigint':
      return column('bigint', String);
    case 'float':
      return column(meta.dataLength === 4 ? 'real' : 'float', double);
    case 'real':
      return column('real', double);
    case 'decimal':
    case 'numeric':
      return column(`${typeName}(${precision},${scale})`, (value) => fixed(Number(value), scale));
    case 'money':
    case 'smallmoney':
      return column(typeName, (value) => fixed(Number(value), 4));
    case 'date':
      return column('date', (value) => (value instanceof Date ? dayText(value) : String(value)));
    case 'time':
      return column(`time(${scale})`, (value) => (value instanceof Date ? timeText(value, scale) : String(value)));
    case 'datetime':
      return column('datetime', (value) => momentText(value, 3));
    case 'smalldatetime':
      return column('smalldatetime', (value) => momentText(value, 0));
    case 'datetime2':
      return column(`datetime2(${scale})`, (value) => momentText(value, scale));
    case 'datetimeoffset':
      return column(`datetimeoffset(${scale})`, (value) => `${momentText(value, scale)} +00:00`);
    case 'uniqueidentifier':
      return column('uniqueidentifier', (value) => String(value).toLowerCase());
    case 'varbinary':
    case 'binary':
    case 'image':
    case 'udt':
      return column(sized(typeName, meta, 1), (value) =>
        Buffer.isBuffer(value) ? value.toString('hex') : String(value),
      );
    case 'nvarchar':
    case 'nchar':
      return column(sized(typeName, meta, 2), String);
    case 'varchar':
    case 'char':
      return column(sized(typeName, meta, 1), String);
    default:
      return column(typeName, anything);
  }
}

/** The driver's names of types: `IntN`, `DateTime2`, `NVarChar` … */
function baseName(name: string): string {
  const lower = name.toLowerCase().replace(/^uniqueidentifiern?$/, 'uniqueidentifier');
  return aliases[lower] ?? lower;
}

const aliases: Readonly<Record<string, string>> = {
  intn: 'int',
  tinyint: 'int',
  smallint: 'int',
  bitn: 'bit',
  floatn: 'float',
  decimaln: 'decimal',
  numericn: 'numeric',
  moneyn: 'money',
  datetimen: 'datetime',
};

function integerName({ dataLength }: ColumnShape): string {
  return dataLength === 1 ? 'tinyint' : dataLength === 2 ? 'smallint' : dataLength === 8 ? 'bigint' : 'int';
}

/** @param bytes bytes a character */
function sized(name: string, { dataLength }: ColumnShape, bytes: number): string {
  if (dataLength === undefined) return name;
  return `${name}(${dataLength >= 0xffff ? 'max' : dataLength / bytes})`;
}

function double(value: unknown): CellValue {
  return typeof value === 'number' && Number.isFinite(value) ? value : String(value);
}

function fixed(value: number, scale: number): string {
  const text = value.toFixed(scale);
  return text.replace(/\D/g, '').replace(/^0+/, '').length <= exactDigits ? text : `≈${text}`;
}

function anything(value: unknown): CellValue {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value;
  if (value instanceof Date) return momentText(value, 7);
  return Buffer.isBuffer(value) ? value.toString('hex') : String(value);
}

/** The driver reads dates as UTC; a fraction below the millisecond stands beside them, in seconds. */
function momentText(value: unknown, digits: number): string {
  return value instanceof Date ? `${dayText(value)} ${timeText(value, digits)}` : String(value);
}

function dayText(date: Date): string {
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  return `${year}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
}

function timeText(date: Date, digits: number): string {
  const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  if (digits === 0) return clock;
  const beyond = 'nanosecondsDelta' in date && typeof date.nanosecondsDelta === 'number' ? date.nanosecondsDelta : 0;
  const ticks = date.getUTCMilliseconds() * 10_000 + Math.round(beyond * 1e7);
  return `${clock}.${String(ticks).padStart(7, '0').slice(0, digits)}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
