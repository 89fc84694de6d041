/** A time axis that leaves out the ends of time: 1900 starts and 4000 or 9999 ends would flatten everything between. */
export interface TimeAxis {
  /** Share of the width, 0 to 1; the ends of time lie on the borders. */
  position(instant: string | null): number;
  /** True for an instant that lies beyond the axis, drawn as an open edge. */
  isBeyond(instant: string | null): boolean;
  readonly ticks: readonly { readonly position: number; readonly label: string }[];
}

const day = 86_400_000;
const margin = 0.08;
const earliest = Date.UTC(1901, 0, 2);
const latest = Date.UTC(2900, 0, 1);

/** Milliseconds since 1970 of `2026-03-01`, `2026-03-01 10:00:00.123456` or ISO 8601, all taken as UTC. */
function parseInstant(instant: string): number | null {
  const text = instant.trim().replace(' ', 'T');
  const full = /T/.test(text) ? text.replace(/(\.\d{3})\d+/, '$1') : `${text}T00:00:00`;
  const parsed = Date.parse(/Z$|[+-]\d{2}:?\d{2}$/.test(full) ? full : `${full}Z`);
  return Number.isNaN(parsed) ? null : parsed;
}

/** Builds the axis over the instants that are neither the beginning nor the end of time. */
export function timeAxis(instants: readonly (string | null)[]): TimeAxis {
  const bounded = instants.flatMap((instant) => {
    const time = instant === null ? null : parseInstant(instant);
    return time === null || time < earliest || time > latest ? [] : [time];
  });
  const first = bounded.length === 0 ? Date.UTC(2000, 0, 1) : Math.min(...bounded);
  const last = bounded.length === 0 ? first + day : Math.max(...bounded);
  // One moment alone has its day around it, so that a tick tells when it was.
  const span = last === first ? day : Math.max(last - first, 1000);
  const from = first - span * margin * 2;
  const to = last + span * margin * 2;
  const place = (time: number) => Math.min(Math.max((time - from) / (to - from), 0), 1);
  return {
    position: (instant) => {
      const time = instant === null ? Number.POSITIVE_INFINITY : (parseInstant(instant) ?? Number.NEGATIVE_INFINITY);
      return place(time);
    },
    isBeyond: (instant) => {
      const time = instant === null ? null : parseInstant(instant);
      return time === null || time < earliest || time > latest;
    },
    ticks: tickTimes(from, to).map((time) => ({ position: place(time), label: tickLabel(time, to - from) })),
  };
}

const steps = [
  1000,
  5000,
  15_000,
  60_000,
  300_000,
  900_000,
  3_600_000,
  6 * 3_600_000,
  day,
  2 * day,
  7 * day,
  14 * day,
  30 * day,
  91 * day,
  182 * day,
  365 * day,
  1826 * day,
  3652 * day,
];

function tickTimes(from: number, to: number): number[] {
  const step = steps.find((candidate) => (to - from) / candidate <= 7) ?? (to - from) / 6;
  const ticks: number[] = [];
  for (let time = Math.ceil(from / step) * step; time < to; time += step) ticks.push(time);
  return ticks;
}

function tickLabel(time: number, span: number): string {
  const text = new Date(time).toISOString();
  const isMidnight = text.slice(11, 19) === '00:00:00';
  if (span < 600_000 && !isMidnight) return text.slice(11, 19);
  return span < 4 * day && !isMidnight ? text.slice(5, 16).replace('T', ' ') : text.slice(0, 10);
}

/** `2026-03-01`, or with the time of day where it is not midnight. */
export function formatInstant(instant: string | null): string {
  if (instant === null) return 'open';
  const text = instant.replace('T', ' ').replace(/(\.\d*?)0+$/, '$1');
  return text.replace(/ 00:00:00\.?$/, '').replace(/\.$/, '');
}
