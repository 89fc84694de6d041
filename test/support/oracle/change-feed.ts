/** Change feeds: the state is the replay of every event so far, in the order of their sequence. */
import { rowText } from '../../../cli/src/conformance/rows.ts';
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { type Model, type OracleLoad, Refusal } from './load.ts';
import { compareValues, distinctRows, groupBy, sameValue, stagedKey, storedKey, targetRow } from './values.ts';

/** Every state becomes a version from its sequence on. */
export const typeTwoFeed: Model = (load, staged) => {
  const events = allEvents(load, staged);
  const { known, target } = keysOfEvents(load, events);
  const kept = target.filter((row) => !known.has(storedKey(row, load)));
  const versions = [...groupBy(events, (event) => stagedKey(event, load)).values()].flatMap((history) =>
    versionsOf(history, load),
  );
  return { target: [...kept, ...versions], events };
};

/** Only the newest event of a key counts; a delete removes the row and is remembered. */
export const typeOneFeed: Model = (load, staged) => {
  const events = allEvents(load, staged);
  const { known, target } = keysOfEvents(load, events);
  const truncated = events.filter((event) => isTruncate(event, load)).map((event) => sequenceOf(event, load));
  const mark = truncated.sort((a, b) => compareValues(a, b, sequenceType(load))).at(-1) ?? null;
  const isVoid = (event: TextRow): boolean =>
    mark !== null && compareValues(sequenceOf(event, load), mark, sequenceType(load)) < 0;
  const kept = mark === null ? target.filter((row) => !known.has(storedKey(row, load))) : [];
  const valid = events.filter((event) => !isTruncate(event, load) && !isVoid(event));
  const rows = [...groupBy(valid, (event) => stagedKey(event, load)).values()].flatMap((history) => {
    const state = statesOf(history, load).at(-1);
    return state === undefined || state.row === null ? [] : [targetRow(state.row, load)];
  });
  return { target: [...kept, ...rows], events };
};

interface State {
  readonly sequence: string | null;
  /** Null: deleted from here on. */
  readonly row: TextRow | null;
}

function versionsOf(history: readonly TextRow[], load: OracleLoad): readonly TextRow[] {
  const { valid_from: from = '', valid_to: to = '', open_end: openEnd = null, untracked = [] } = load.options;
  const versions: TextRow[] = [];
  let current: TextRow | undefined;
  const close = (end: string | null): void => {
    if (current !== undefined) versions.push({ ...current, [to]: end });
    current = undefined;
  };
  for (const { sequence, row } of statesOf(history, load)) {
    if (row === null) close(sequence);
    else if (current !== undefined && sameTracked(current, row, load)) {
      if (load.options.untracked_mode === 'update_current') {
        current = { ...current, ...Object.fromEntries(untracked.map((column) => [column, row[column] ?? null])) };
      }
    } else {
      close(sequence);
      current = { ...targetRow(row, load), [from]: sequence };
    }
  }
  close(openEnd);
  return versions;
}

/** One state per sequence of a key, in order; where a delete and an upsert share one, the delete wins. */
function statesOf(history: readonly TextRow[], load: OracleLoad): readonly State[] {
  const type = sequenceType(load);
  const bySequence = groupBy(history, (event) => String(sequenceOf(event, load)));
  const ordered = [...bySequence.values()].sort(([a = {}], [b = {}]) =>
    compareValues(sequenceOf(a, load), sequenceOf(b, load), type),
  );
  let former: TextRow | null = null;
  return ordered.map((events): State => {
    const [first = {}] = events;
    const deleted = events.some((event) => isDelete(event, load));
    former = deleted ? null : merged(former, first, load);
    return { sequence: sequenceOf(first, load), row: former };
  });
}

/** With `ignore_null_updates` a NULL in an event leaves the former value. */
function merged(former: TextRow | null, event: TextRow, { options }: OracleLoad): TextRow {
  if (!options.ignore_null_updates || former === null) return event;
  return Object.fromEntries(Object.entries(event).map(([column, value]) => [column, value ?? former[column] ?? null]));
}

function sameTracked(current: TextRow, row: TextRow, load: OracleLoad): boolean {
  return (load.options.compare ?? []).every((column) =>
    sameValue(current[column] ?? null, row[column] ?? null, load.tables.target[column] ?? 'string', load),
  );
}

function allEvents(load: OracleLoad, staged: readonly TextRow[]): readonly TextRow[] {
  const { options } = load;
  if (options.null_sequence === 'fail' && staged.some((row) => sequenceOf(row, load) === null)) {
    throw new Refusal('null_sequence');
  }
  const events = distinctRows([...load.events, ...staged]);
  if (options.same_sequence_conflict === 'fail') {
    const upserts = events.filter((event) => !isDelete(event, load) && !isTruncate(event, load));
    const same = groupBy(upserts, (event) => stagedKey(event, load) + String(sequenceOf(event, load)));
    const deletes = new Set(
      events
        .filter((event) => isDelete(event, load))
        .map((event) => stagedKey(event, load) + String(sequenceOf(event, load))),
    );
    for (const [place, rows] of same) {
      if (!deletes.has(place) && new Set(rows.map(rowText)).size > 1) throw new Refusal('ambiguous_sequence');
    }
  }
  return events;
}

function keysOfEvents(load: OracleLoad, events: readonly TextRow[]) {
  const known = new Set(events.filter((event) => !isTruncate(event, load)).map((event) => stagedKey(event, load)));
  return { known, target: load.target };
}

function sequenceOf(event: TextRow, { options }: OracleLoad): string | null {
  return event[options.sequence_by ?? ''] ?? null;
}

function sequenceType({ options, tables }: OracleLoad): string {
  return tables.stage[options.sequence_by ?? ''] ?? 'bigint';
}

function isDelete(event: TextRow, { options }: OracleLoad): boolean {
  return (options.delete_values ?? []).includes(event[options.op_column ?? ''] ?? '');
}

function isTruncate(event: TextRow, { options }: OracleLoad): boolean {
  return (options.truncate_values ?? []).includes(event[options.op_column ?? ''] ?? '');
}
