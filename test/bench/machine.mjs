// How fast the machine is at the moment, and what that makes of a budget in milliseconds; and the usual statistics.
import { spawn } from 'node:child_process';

/** What the start of Node alone takes at the moment and, with no other work on the machine of the budgets, in milliseconds. */
export let bare = 93;
const usualBare = 93;

/** Measures the start of Node again; to be called beside the measurement that is judged by it. */
export async function feelSpeed() {
  bare = median([await bareStart(), await bareStart(), await bareStart()]);
}

/**
 * Whether a measurement keeps a budget of milliseconds: `ok` and `note` of its row. On a slow or busy machine, where Node
 * alone takes longer to start than usual, the budget is so much longer, too; the note says where only that let a row pass.
 *
 * @param alone milliseconds of Node's start that were measured in turns with `ours`, where they were
 */
export function judged(ours, budget, alone = bare) {
  if (ours <= budget) return { ok: true, note: null };
  const allowed = budget * Math.max(1, alone / usualBare);
  if (ours > allowed) return { ok: false, note: null };
  const times = (alone / usualBare).toPrecision(2);
  return { ok: true, note: `only as the machine is busy: Node starts ${times} times as slowly as at rest` };
}

export function bareStart() {
  const started = performance.now();
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("x")'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve) => child.stdout.once('data', () => resolve(performance.now() - started)));
}

export function percentile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export function median(values) {
  return percentile(values, 0.5);
}
