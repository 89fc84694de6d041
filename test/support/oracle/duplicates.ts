import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { type OracleLoad, Refusal } from './load.ts';
import { distinctRows, groupBy, stagedKey } from './values.ts';

/** One staged row per key; several stop the load, unless they are the very same row and identical rows collapse. */
export function oneRowPerKey(staged: readonly TextRow[], load: OracleLoad): ReadonlyMap<string, TextRow> {
  const rows = load.options.duplicates === 'collapse_identical' ? distinctRows(staged) : staged;
  const single = new Map<string, TextRow>();
  for (const [key, [first, ...others]] of groupBy(rows, (row) => stagedKey(row, load))) {
    if (others.length > 0) throw new Refusal('duplicate_key');
    if (first !== undefined) single.set(key, first);
  }
  return single;
}
