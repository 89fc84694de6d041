/** Ticks of 100 ns since 0001-01-01, and their texts. */
import { BeyondEngine, SqlError } from './errors.ts';

export const ticksPerMillisecond = 10_000n;
export const ticksPerSecond = 10_000_000n;
export const ticksPerDay = 864_000_000_000n;
const unixEpoch = 719_162n * ticksPerDay;
/** The first tick after 9999-12-31. */
export const endOfTime = 3_652_059n * ticksPerDay;

export function ticksOfDate(moment: Date): bigint {
  return unixEpoch + BigInt(moment.getTime()) * ticksPerMillisecond;
}

/** Rounded to a number of decimal places, half up. */
export function roundTicks(ticks: bigint, scale: number): bigint {
  const unit = 10n ** BigInt(7 - scale);
  return ((ticks + unit / 2n) / unit) * unit;
}

/** Three-hundredths of a second, as datetime keeps them. */
export function roundToDatetime(ticks: bigint): bigint {
  const [day, rest] = [ticks / ticksPerDay, ticks % ticksPerDay];
  const units = (rest * 300n + ticksPerSecond / 2n) / ticksPerSecond;
  return day * ticksPerDay + (units * ticksPerSecond + 150n) / 300n;
}

export function dateText(ticks: bigint): string {
  const moment = new Date(Number(ticks / ticksPerDay - unixEpoch / ticksPerDay) * 86_400_000);
  const year = String(moment.getUTCFullYear()).padStart(4, '0');
  return `${year}-${two(moment.getUTCMonth() + 1)}-${two(moment.getUTCDate())}`;
}

/** `hh:mm:ss` with `scale` decimal places. */
export function timeText(ticks: bigint, scale: number): string {
  const rest = ticks % ticksPerDay;
  const seconds = Number(rest / ticksPerSecond);
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const fraction = String(rest % ticksPerSecond).padStart(7, '0');
  return scale === 0 ? clock : `${clock}.${fraction.slice(0, scale)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

const form = /^(\d{4})-(\d\d)-(\d\d)(?:([ T])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?$/;

/**
 * Reads the ISO forms, which mean the same under every language. `datetime` reads `yyyy-mm-dd hh:mm` by the session's
 * language and takes three decimal places only.
 */
export function readMoment(text: string, isDatetime: boolean): bigint {
  const trimmed = text.trim();
  if (trimmed === '') return 693_595n * ticksPerDay;
  const match = form.exec(trimmed);
  const failed = new SqlError(241, 'Conversion failed when converting date and/or time from character string.');
  if (match === null) {
    if (/^\d{4}/.test(trimmed)) throw failed;
    throw new BeyondEngine(`date '${text}'`);
  }
  const [, year = '', month = '', day = '', between, hours = '0', minutes = '0', seconds = '0', fraction = ''] = match;
  if (isDatetime && (between !== 'T' || fraction.length > 3)) {
    if (between === 'T' || fraction.length > 3) throw failed;
    throw new BeyondEngine(`datetime '${text}', which depends on the session's language`);
  }
  const moment = new Date(
    Date.UTC(2000, Number(month) - 1, Number(day), Number(hours), Number(minutes), Number(seconds)),
  );
  moment.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isReal =
    Number(year) > 0 &&
    moment.getUTCMonth() === Number(month) - 1 &&
    Number(hours) < 24 &&
    Number(minutes) < 60 &&
    Number(seconds) < 60;
  if (!isReal) throw failed;
  return ticksOfDate(moment) + (BigInt(fraction.padEnd(9, '0')) + 50n) / 100n;
}
