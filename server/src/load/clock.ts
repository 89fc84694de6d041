/** Starts and ends of versions: the load's clock in the type of the validity columns, and how intervals are closed. */
import type { LoadOptions } from '../../../protocol/specification.ts';
import { cast, literal, moveTime, parameter } from './build.ts';
import { clockName } from './context.ts';
import { type Expression, types, type ValueType } from './language.ts';

/** The load's clock. */
export const clock: Expression = parameter(clockName, types.clock);

/** The start of a version that begins now: the clock in the column's type, at grain `day` the day's first instant. */
export function startNow(type: ValueType, grain: LoadOptions['grain']): Expression {
  return grain === 'day' ? cast(cast(clock, types.day), type) : cast(clock, type);
}

/** The end of a version whose successor starts at `start`. */
export function endBefore(
  start: Expression,
  type: ValueType,
  closing: LoadOptions['closing'] = 'half-open',
): Expression {
  switch (closing) {
    case 'half-open':
      return start;
    case 'minus-1-day':
      return moveTime(start, -1, 'day');
    case 'minus-3-ms':
      return moveTime(start, -3, 'millisecond');
    case 'minus-unit':
      return oneUnitBefore(start, type);
  }
}

/** One step of the type's own precision back. */
function oneUnitBefore(start: Expression, type: ValueType): Expression {
  const { base, family, scale } = type.facts;
  if (family === 'date') return moveTime(start, -1, 'day');
  if (base === 'smalldatetime') return moveTime(start, -1, 'minute');
  if (base === 'datetime') return moveTime(start, -3, 'millisecond');
  const digits = scale ?? 6;
  if (digits >= 7) return moveTime(start, -1, 'tick');
  if (digits > 3) return moveTime(start, -(10 ** (6 - digits)), 'microsecond');
  if (digits > 0) return moveTime(start, -(10 ** (3 - digits)), 'millisecond');
  return moveTime(start, -1, 'second');
}

/** A point in time from the specification, in the column's type. */
export function instant(text: string, type: ValueType): Expression {
  return literal(text, type);
}
