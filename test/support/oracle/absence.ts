/** Deletes found by absence: who is absent, and the guards before anything is written. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { type OracleLoad, Refusal } from './load.ts';
import { keyPart, pick, stagedKey, storedKey } from './values.ts';

/**
 * The rows of `candidates` (current, not flagged deleted) whose key is not delivered. Judged inside the scope, by the
 * stage or by the key list. Nothing is absent where the source was empty and that is to be skipped.
 */
export function absentRows(
  candidates: readonly TextRow[],
  staged: readonly TextRow[],
  load: OracleLoad,
): readonly TextRow[] {
  const { options } = load;
  if ((options.hard_deletes ?? 'ignore') === 'ignore') return [];
  const byList = options.detection_source === 'key_list';
  if (!byList && options.load !== 'full' && options.load !== 'partition') return [];
  const source = byList ? withKeyOf(load.extra['key_list'] ?? [], load) : staged;
  if (source.length === 0) {
    if (options.on_empty_stage === 'fail') throw new Refusal('empty_stage');
    if (options.on_empty_stage === 'skip') return [];
  }
  const present = new Set(source.map((row) => stagedKey(row, load)));
  const judged = candidates.filter(scopeTest(staged, load));
  const absent = judged.filter((row) => !present.has(storedKey(row, load)));
  const limit = options.max_inactivation_pct;
  if (limit !== undefined && absent.length * 100 > judged.length * limit) throw new Refusal('inactivation_threshold');
  return absent;
}

function withKeyOf(rows: readonly TextRow[], load: OracleLoad): readonly TextRow[] {
  const keys = load.options.keys ?? [];
  return rows.filter((row) =>
    keys.every((key) => keyPart(row[key] ?? null, load.tables.stage[key] ?? 'string', load) !== null),
  );
}

/** Whether a stored row lies in the partitions that the step names, or else in those that the stage delivers. */
function scopeTest(staged: readonly TextRow[], load: OracleLoad): (row: TextRow) => boolean {
  const { load: kind, scope = [] } = load.options;
  if (kind !== 'partition') return () => true;
  const { scope: stated } = load;
  if (stated !== undefined)
    return (row) => scope.every((column) => (stated[column] ?? []).includes(row[column] ?? null));
  const delivered = new Set(staged.map((row) => pick(row, scope)));
  return (row) => delivered.has(pick(row, scope));
}
