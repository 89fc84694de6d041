/**
 * Dates and times as text and as the counts that TDS sends, without a loss:
 * `2024-02-29`, `13:45:30.1234567`, `2024-02-29 13:45:30.1234567`, `2024-02-29 13:45:30.1234567 +02:00`.
 */

const millisecondsPerDay = 86_400_000;
const ticksPerSecond = 10_000_000n;
const ticksPerMinute = 60n * ticksPerSecond;
const ticksPerDay = 1440n * ticksPerMinute;
const dayOne = Date.parse('0001-01-01T00:00:00Z');

/** A point in time: days since 0001-01-01 and units of 100 ns since midnight. */
export interface Moment {
  readonly day: number;
  readonly ticks: bigint;
}

/** Days from 0001-01-01 to 1900-01-01, where datetime and smalldatetime begin. */
export const day1900 = dayNumber('1900-01-01');

/** Days since 0001-01-01. */
export function dayNumber(date: string): number {
  const day = (Date.parse(`${date}T00:00:00Z`) - dayOne) / millisecondsPerDay;
  if (Number.isNaN(day) || dayText(day) !== date) throw new TypeError(`${date} is not a date`);
  return day;
}

export function dayText(day: number): string {
  return new Date(dayOne + day * millisecondsPerDay).toISOString().slice(0, 10);
}

/** Units of 100 ns since midnight. */
export function timeTicks(time: string): bigint {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,7}))?$/.exec(time);
  if (parts === null) throw new TypeError(`${time} is not a time`);
  const [, hours, minutes, seconds, fraction = ''] = parts;
  const whole = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return BigInt(whole) * ticksPerSecond + BigInt(fraction.padEnd(7, '0'));
}

/** `scale` is the number of digits after the second. */
export function timeText(ticks: bigint, scale: number): string {
  const seconds = Number(ticks / ticksPerSecond);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  const fraction = String(ticks % ticksPerSecond).padStart(7, '0');
  return scale === 0 ? clock : `${clock}.${fraction.slice(0, scale)}`;
}

/** A date and time without a zone. */
export function moment(text: string): Moment {
  const [date = '', time = '00:00:00'] = text.split(/[ T]/);
  return { day: dayNumber(date), ticks: timeTicks(time) };
}

/** A date and time with a zone: the moment in UTC, and the minutes that its zone is ahead. */
export function zonedMoment(text: string): { readonly utc: Moment; readonly offset: number } {
  const parts = /^(.*?) ?(?:([+-])(\d\d):(\d\d)|Z)$/.exec(text);
  if (parts === null) throw new TypeError(`${text} has no time zone`);
  const [, local = '', sign, hours = '0', minutes = '0'] = parts;
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return { utc: shift(moment(local), -offset), offset };
}

export function zonedText(utc: Moment, offset: number, scale: number): string {
  const local = shift(utc, offset);
  const zone = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  return `${dayText(local.day)} ${timeText(local.ticks, scale)} ${offset < 0 ? '-' : '+'}${zone}`;
}

function shift({ day, ticks }: Moment, minutes: number): Moment {
  const moved = BigInt(day) * ticksPerDay + ticks + BigInt(minutes) * ticksPerMinute;
  return { day: Number(moved / ticksPerDay), ticks: moved % ticksPerDay };
}
