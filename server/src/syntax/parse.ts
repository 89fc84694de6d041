import type { PlatformName } from '../../../protocol/platform.ts';
import { type BatchState, batchStateBehind } from './batchStarts.ts';
import { dialectOf } from './dialect.ts';
import { ScriptReader } from './reader.ts';
import type { Script, ScriptBatch, Unit } from './tree.ts';

export interface ParseOptions {
  /** Absent: sqlserver. `detectPlatform` guesses from a text. */
  readonly platform?: PlatformName;
}

/** Parses a file. Never throws; every mistake is a problem of the unit where it stands (`problemsOf`). */
export function parse(text: string, options: ParseOptions = {}): Script {
  const platform = options.platform ?? 'sqlserver';
  const reader = new ScriptReader(text, dialectOf(platform));
  while (reader.nextStart() !== null) reader.readUnit();
  return { text, platform, batches: reader.finish() };
}

/** A replacement of the characters from `start` to `end` (exclusive, offsets in the old text) by `text`. */
export interface ScriptEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Parses a file again after an edit. Only units that the edit can have changed are read; all others are the same
 * objects as before, moved. The result equals `parse` of the new text.
 */
export function reparse(previous: Script, edit: ScriptEdit): Script {
  const start = Math.max(0, Math.min(edit.start, previous.text.length));
  const end = Math.max(start, Math.min(edit.end, previous.text.length));
  const text = previous.text.slice(0, start) + edit.text + previous.text.slice(end);
  const delta = edit.text.length - (end - start);
  const { platform } = previous;
  const old = placedUnits(previous);
  const first = firstTouched(old, start);
  const restart = old[first];
  const reader =
    restart === undefined
      ? new ScriptReader(text, dialectOf(platform))
      : new ScriptReader(text, dialectOf(platform), restart.unit.offset, batchesBefore(previous, restart));
  // Old units behind the edit, by which the reading may meet the old one again.
  let candidate = old.findIndex(({ unit }, index) => index >= first && unit.offset >= end);
  for (;;) {
    const next = reader.nextStart();
    if (next === null) return { text, platform, batches: reader.finish() };
    while (candidate >= 0 && candidate < old.length && (old[candidate]?.unit.offset ?? 0) + delta < next)
      candidate += 1;
    const met = candidate < 0 ? undefined : old[candidate];
    const meets = met !== undefined && met.unit.offset + delta === next && met.isFirst === reader.atBatchStart;
    if (meets && met.state === reader.batchState) {
      const rest = previous.batches.slice(met.batch);
      return { text, platform, batches: reader.finishWith(rest, delta, met.unit.offset) };
    }
    reader.readUnit();
  }
}

interface PlacedUnit {
  readonly unit: Unit;
  /** Index of its batch, and whether it is the first there. */
  readonly batch: number;
  readonly isFirst: boolean;
  /** What its batch holds before it. */
  readonly state: BatchState;
}

function placedUnits(script: Script): readonly PlacedUnit[] {
  return script.batches.flatMap((batch, index) => {
    let state: BatchState = 'empty';
    return batch.units.map((unit, position) => {
      const placed = { unit, batch: index, isFirst: position === 0, state };
      state = batchStateBehind(state, unit);
      return placed;
    });
  });
}

/**
 * Index of the unit from which the text is read again: the last one that begins before the edit and whose reading can
 * not have depended on it is left alone, the one after it is read. -1 for the start of the text.
 */
function firstTouched(units: readonly PlacedUnit[], start: number): number {
  const low = units.findIndex(({ unit }) => unit.offset + unit.length + unit.lookahead >= start);
  if (low < 0) return units.length - 1;
  // What stands between units (GO lines, comments) belongs to the unit before it.
  const touched = units[low];
  return touched === undefined || touched.unit.offset >= start ? low - 1 : low;
}

/** The batches before a unit; the last is its own batch as far as it goes. */
function batchesBefore(script: Script, placed: PlacedUnit): readonly ScriptBatch[] {
  const own = script.batches[placed.batch];
  if (own === undefined) return [];
  const { offset } = placed.unit;
  const units = own.units.filter((unit) => unit.offset < offset);
  const sqlcmd = own.sqlcmd.filter((line) => line.start < offset);
  return [...script.batches.slice(0, placed.batch), { ...own, units, sqlcmd }];
}
