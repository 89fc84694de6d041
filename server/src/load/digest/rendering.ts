/**
 * The text of a value inside a hash text (handbook, "Hash rule"). The same row has the same text on every platform, so
 * each type has exactly one rendering; types without one are refused.
 */
import type { PlatformName } from '../../../../protocol/platform.ts';
import { isTsql } from '../../../../protocol/platform.ts';

/** How values of a type are rendered. Texts in, texts out: see `renderedValue`. */
export type Rendering =
  | { readonly kind: 'text' }
  /** char(n), nchar(n): trailing blanks are padding. */
  | { readonly kind: 'padded-text' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'decimal'; readonly scale: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'date' }
  | { readonly kind: 'timestamp' }
  /** `datetime`: its milliseconds, then 000. */
  | { readonly kind: 'milliseconds' }
  /** `smalldatetime`: whole minutes. */
  | { readonly kind: 'minutes' }
  | { readonly kind: 'offset-timestamp' }
  | { readonly kind: 'time' }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'binary' };

export type RenderingOutcome =
  | { readonly rendering: Rendering; readonly refusal: null }
  | { readonly rendering: null; readonly refusal: string };

/**
 * The rendering of a column type (lower case, without blanks, as the catalog writes it) on a platform, or why the hash
 * rule refuses it. `timestamp` is a point in time everywhere but in T-SQL, where it is a row version.
 */
export function renderingOf(type: string, platform: PlatformName): RenderingOutcome {
  const match = /^([a-z_0-9 ]+?)(?:\(([^)]*)\))?( with time zone)?$/.exec(type.trim().toLowerCase());
  const name = match?.[1] ?? type;
  const parameters = (match?.[2] ?? '').split(',').map((part) => Number.parseInt(part, 10));
  const tsql = isTsql(platform);
  if (match?.[3] !== undefined) return name === 'timestamp' ? admitted({ kind: 'offset-timestamp' }) : refused(type);
  switch (name) {
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'integer':
    case 'bigint':
    case 'hugeint':
    case 'utinyint':
    case 'usmallint':
    case 'uinteger':
    case 'ubigint':
      return admitted({ kind: 'integer' });
    case 'decimal':
    case 'numeric':
    case 'dec':
      return admitted({ kind: 'decimal', scale: decimalScale(parameters, platform) });
    case 'money':
    case 'smallmoney':
      return admitted({ kind: 'decimal', scale: 4 });
    case 'bit':
      return tsql ? admitted({ kind: 'boolean' }) : refused(type);
    case 'boolean':
    case 'bool':
      return admitted({ kind: 'boolean' });
    case 'char':
    case 'character':
    case 'nchar':
      return tsql ? admitted({ kind: 'padded-text' }) : admitted({ kind: 'text' });
    case 'varchar':
    case 'nvarchar':
    case 'string':
    case 'sysname':
      return admitted({ kind: 'text' });
    case 'text':
      return tsql ? refused(type) : admitted({ kind: 'text' });
    case 'date':
      return admitted({ kind: 'date' });
    case 'datetime2':
      return admitted({ kind: 'timestamp' });
    case 'timestamp':
    case 'timestamp_ntz':
      return tsql ? refused(type) : admitted({ kind: 'timestamp' });
    case 'datetime':
      return tsql ? admitted({ kind: 'milliseconds' }) : admitted({ kind: 'timestamp' });
    case 'smalldatetime':
      return admitted({ kind: 'minutes' });
    case 'datetimeoffset':
    case 'timestamptz':
      return admitted({ kind: 'offset-timestamp' });
    case 'time':
      return admitted({ kind: 'time' });
    case 'uniqueidentifier':
    case 'uuid':
      return admitted({ kind: 'uuid' });
    case 'binary':
    case 'varbinary':
    case 'blob':
    case 'bytea':
      return admitted({ kind: 'binary' });
    default:
      return refused(type);
  }
}

/**
 * Renders a value given as plain text: a number in decimal digits, a date or time in ISO form (blank or `T` between date
 * and time), a boolean as 1, 0, true or false, bytes as hex with or without `0x`. The text is trusted to be one that the
 * type can hold; digits beyond its precision are cut, never rounded.
 */
export function renderedValue(value: string, rendering: Rendering): string {
  switch (rendering.kind) {
    case 'text':
      return value;
    case 'padded-text':
      return value.replace(/ +$/, '');
    case 'integer':
      return decimalText(value, 0);
    case 'decimal':
      return decimalText(value, rendering.scale);
    case 'boolean':
      return /^(1|true|t)$/i.test(value) ? '1' : '0';
    case 'date':
      return value.slice(0, 10);
    case 'timestamp':
      return timestampText(value, 6);
    case 'milliseconds':
      return timestampText(value, 3);
    case 'minutes':
      return `${timestampText(value, 0).slice(0, 16)}:00.000000`;
    case 'offset-timestamp':
      return timestampText(inUtc(value), 6);
    case 'time':
      return timeText(value, 6);
    case 'uuid':
      return value.toLowerCase();
    case 'binary':
      return value.replace(/^(0x|\\x)/i, '').toLowerCase();
  }
}

function admitted(rendering: Rendering): RenderingOutcome {
  return { rendering, refusal: null };
}

function refused(type: string): RenderingOutcome {
  return {
    rendering: null,
    refusal: `${type} has no text that is the same on every platform; cast it to decimal, varchar or datetime2 before hashing`,
  };
}

/** T-SQL's `decimal` without parameters is decimal(18,0), DuckDB's decimal(18,3). */
function decimalScale(parameters: readonly number[], platform: PlatformName): number {
  const [precision, scale] = parameters;
  if (precision === undefined || Number.isNaN(precision)) return platform === 'duckdb' ? 3 : 0;
  return scale === undefined || Number.isNaN(scale) ? 0 : scale;
}

function decimalText(value: string, scale: number): string {
  const match = /^\s*([+-]?)0*(\d*)(?:\.(\d*))?\s*$/.exec(value);
  const whole = match?.[2] === undefined || match[2] === '' ? '0' : match[2];
  const fraction = (match?.[3] ?? '').padEnd(scale, '0').slice(0, scale);
  const sign = match?.[1] === '-' && /[1-9]/.test(whole + fraction) ? '-' : '';
  return scale === 0 ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** `yyyy-MM-dd HH:mm:ss.ffffff`: `kept` digits of the fraction, zeros up to six. */
function timestampText(value: string, kept: number): string {
  return `${value.slice(0, 10)} ${timeText(value.slice(11), kept)}`;
}

function timeText(value: string, kept: number): string {
  const match = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d*))?)?/.exec(value);
  const fraction = (match?.[4] ?? '').slice(0, kept).padEnd(6, '0');
  return `${match?.[1] ?? '00'}:${match?.[2] ?? '00'}:${match?.[3] ?? '00'}.${fraction}`;
}

/** Moves a point in time with an offset (`+02:00`, `+02`, `Z`) to UTC; its fraction is kept digit by digit. */
function inUtc(value: string): string {
  const match = /^(.{10})[ T](\d\d:\d\d(?::\d\d)?)(\.\d+)?\s*(?:Z|([+-])(\d\d)(?::?(\d\d))?)?$/.exec(value);
  if (match?.[4] === undefined) return value.replace(/\s*Z$/, '');
  const minutes = (Number(match[5]) * 60 + Number(match[6] ?? 0)) * (match[4] === '-' ? -1 : 1);
  const moved = new Date(Date.parse(`${match[1]}T${match[2]}Z`) - minutes * 60_000).toISOString();
  return `${moved.slice(0, 10)} ${moved.slice(11, 19)}${match[3] ?? ''}`;
}
