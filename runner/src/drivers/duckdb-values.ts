import {
  DuckDBBlobValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { CellValue } from '../../../protocol/run.ts';

/**
 * A value without a lost digit: numbers up to 32 bits, floats and booleans stay themselves, everything else is text.
 * Timestamps have six digits, blobs are lower-case hex.
 */
export function cellOf(value: DuckDBValue): CellValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return String(value);
    default:
      break;
  }
  if (value === null || value === undefined) return null;
  if (value instanceof DuckDBTimestampValue) return sixDigits(String(value));
  if (value instanceof DuckDBTimestampTZValue) {
    const text = String(value);
    const zone = /[+-][\d:]+$/.exec(text)?.[0] ?? '';
    return `${sixDigits(text.slice(0, text.length - zone.length))}${zone}`;
  }
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('hex');
  return String(value);
}

/** `decimal(10,2)`, `timestamp`, `varchar` … */
export function typeName(type: DuckDBType): string {
  return String(type).toLowerCase();
}

/** Infinite timestamps and dates before Christ have no fraction that could be padded. */
function sixDigits(text: string): string {
  const [, seconds, fraction = ''] = /^(.*:\d\d)(?:\.(\d+))?$/.exec(text) ?? [];
  return seconds === undefined ? text : `${seconds}.${fraction.padEnd(6, '0')}`;
}
