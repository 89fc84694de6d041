import { type ChangeCounts, type CountName, countNames } from '../../protocol/counts.ts';
import type { PanelRun } from '../../protocol/panel.ts';
import type { CellValue } from '../../protocol/run.ts';

const numbers = new Intl.NumberFormat('en-US');

/** A count with commas between its thousands. */
export function formatNumber(value: number): string {
  return numbers.format(value);
}

/** `340 ms`, `12.4 s`, `3 min 20 s`. */
export function formatElapsed(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** A cell's text; NULL is told apart from the text `NULL` by its look, see `isNull` in the style sheet. */
export function formatCell(value: CellValue): string {
  return value === null ? 'NULL' : String(value);
}

/** `42 inserted, 3 expired`; kinds without rows are left out. */
export function summarize(counts: ChangeCounts): string {
  const parts = countNames.flatMap((name: CountName) => {
    const count = counts[name];
    return count === null || count === 0 || name === 'unchanged' ? [] : [`${formatNumber(count)} ${name}`];
  });
  return parts.length === 0 ? 'no changes' : parts.join(', ');
}

/** The sentence that a screen reader hears when the run ends. */
export function announcement(run: PanelRun): string {
  const what = { preview: 'Preview', run: 'Load', 'dry-run': 'Dry run', check: 'Check' }[run.mode];
  switch (run.status) {
    case null:
      return run.state === 'cancelling' ? `${what} is being cancelled` : `${what} is running`;
    case 'done':
      return `${what} finished: ${run.counts === null ? 'no counts' : summarize(run.counts)}`;
    case 'failed':
      return `${what} failed: ${run.errors[0]?.message ?? 'see the messages'}`;
    case 'cancelled':
      return `${what} cancelled`;
    case 'unknown':
      return `${what} ended, but its result is unknown`;
  }
}
