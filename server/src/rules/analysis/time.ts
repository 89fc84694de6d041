import { bare } from '../../syntax/inspect.ts';
import type { Expression } from '../../syntax/tree.ts';
import { callName, columnName } from './names.ts';

/** A point in time moved back by a fixed amount. */
export interface Earlier {
  /** Lower case singular: day, second, millisecond, microsecond, nanosecond … */
  readonly unit: string;
  /** Positive. */
  readonly amount: number;
  readonly from: Expression;
}

const units: Readonly<Record<string, string>> = {
  d: 'day',
  dd: 'day',
  day: 'day',
  days: 'day',
  hh: 'hour',
  hour: 'hour',
  mi: 'minute',
  n: 'minute',
  minute: 'minute',
  s: 'second',
  ss: 'second',
  second: 'second',
  seconds: 'second',
  ms: 'millisecond',
  millisecond: 'millisecond',
  milliseconds: 'millisecond',
  mcs: 'microsecond',
  microsecond: 'microsecond',
  microseconds: 'microsecond',
  ns: 'nanosecond',
  nanosecond: 'nanosecond',
};

/** Reads DATEADD(day, -1, x), x - INTERVAL 1 DAY, date_sub(x, 1) and, for dates, x - 1. */
export function earlierThan(expression: Expression): Earlier | null {
  const inner = bare(expression);
  if (inner.kind === 'cast') return earlierThan(inner.operand);
  if (inner.kind === 'call') {
    const name = callName(inner);
    const [first, second, third] = inner.arguments;
    if (
      (name === 'DATEADD' || name === 'DATE_ADD' || name === 'TIMESTAMPADD') &&
      third !== undefined &&
      first !== undefined
    ) {
      const unit = units[wordOf(first)];
      const amount = second === undefined ? null : numberOf(second);
      return unit !== undefined && amount !== null && amount < 0 ? { unit, amount: -amount, from: third } : null;
    }
    if (name === 'DATE_SUB' && first !== undefined && second !== undefined) {
      const amount = numberOf(second);
      return amount !== null && amount > 0 ? { unit: 'day', amount, from: first } : null;
    }
    if (name === 'DATE_ADD' && first !== undefined && second !== undefined) {
      const amount = numberOf(second);
      return amount !== null && amount < 0 ? { unit: 'day', amount: -amount, from: first } : null;
    }
    return null;
  }
  if (inner.kind === 'binary' && inner.operator === '-') {
    const right = bare(inner.right);
    if (right.kind === 'interval') {
      const amount = numberOf(right.value);
      const unit = units[right.unit.toLowerCase()];
      return amount !== null && unit !== undefined ? { unit, amount, from: inner.left } : null;
    }
    const amount = numberOf(right);
    return amount === 1 ? { unit: 'day', amount, from: inner.left } : null;
  }
  return null;
}

function wordOf(expression: Expression): string {
  const inner = bare(expression);
  if (inner.kind === 'column') return columnName(inner).toLowerCase();
  return inner.kind === 'literal' ? inner.value.toLowerCase() : '';
}

function numberOf(expression: Expression): number | null {
  const inner = bare(expression);
  if (inner.kind === 'literal') {
    const value = Number(inner.value);
    return Number.isFinite(value) && inner.value.trim() !== '' ? value : null;
  }
  if (inner.kind === 'unary' && inner.operator === '-') {
    const value = numberOf(inner.operand);
    return value === null ? null : -value;
  }
  return null;
}

/** Size of a unit in nanoseconds. */
const nanoseconds: Readonly<Record<string, number>> = {
  nanosecond: 1,
  microsecond: 1e3,
  millisecond: 1e6,
  second: 1e9,
  minute: 60e9,
  hour: 3600e9,
  day: 86_400e9,
};

/** Smallest step of a type in nanoseconds; null for other types. */
export function stepOf(type: string): number | null {
  if (/^datetime$/.test(type)) return 3_333_333;
  if (/^smalldatetime/.test(type)) return 60e9;
  if (/^date$/.test(type)) return 86_400e9;
  const scale = /^(?:datetime2|datetimeoffset|time)(?:\((\d)\))?$/.exec(type);
  if (scale !== null) return 10 ** (9 - Number(scale[1] ?? 7));
  return /^timestamp/.test(type) ? 1000 : null;
}

/** In nanoseconds; infinite for a unit of no fixed length. */
export function durationOf(earlier: Earlier): number {
  return earlier.amount * (nanoseconds[earlier.unit] ?? Number.POSITIVE_INFINITY);
}
