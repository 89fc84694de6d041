/** Multi-active satellites: the set of rows of a parent key is the unit; any difference writes the whole new set. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { type Model, Refusal } from './load.ts';
import { distinctRows, groupBy, lastOf, pick, storedKey, targetRow } from './values.ts';

export const multiActive: Model = (load, staged) => {
  const { cdk = [], load_ts: loadTs = 'load_ts', duplicates } = load.options;
  const [hashdiff = 'hashdiff'] = Object.keys(load.options.hashdiff ?? {});
  const timeOf = (row: TextRow): string => row[loadTs] ?? '';
  const contentOf = (rows: readonly TextRow[]): string =>
    rows
      .map((row) => pick(row, [...cdk, hashdiff]))
      .sort()
      .join();
  const stored = groupBy(load.target, (row) => storedKey(row, load));
  const added: TextRow[] = [];
  for (const [key, rows] of groupBy(
    staged.map((row) => targetRow(row, load)),
    (row) => storedKey(row, load),
  )) {
    const history = groupBy(stored.get(key) ?? [], timeOf);
    let current = history.get(lastOf([...history.keys()].sort()) ?? '') ?? [];
    for (const [, delivered] of [...groupBy(rows, timeOf)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const set = distinctRows(delivered);
      const members = new Set(set.map((row) => pick(row, cdk)));
      if (members.size < set.length || (duplicates === 'fail' && set.length < delivered.length)) {
        throw new Refusal('duplicate_key');
      }
      if (contentOf(set) === contentOf(current)) continue;
      added.push(...set);
      current = set;
    }
  }
  return { target: [...load.target, ...added] };
};
