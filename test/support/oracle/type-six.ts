/** Type 6: type 2 whose versions all bear the key's current values, with type 1 columns overwritten beside them. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import type { Model } from './load.ts';
import { isOpen, typeTwo } from './type-two.ts';
import { groupBy, stagedKey, storedKey } from './values.ts';

export const typeSix: Model = (load, staged) => {
  const { current_columns: current = {}, type1 = [], type1_scope: scope } = load.options;
  const versioned = typeTwo(load, staged);
  const delivered = groupBy(staged, (row) => stagedKey(row, load));
  const target = versioned.target.map((row): TextRow => {
    const [fresh] = delivered.get(storedKey(row, load)) ?? [];
    if (fresh === undefined) return row;
    const present = Object.entries(current).map(([column, copy]) => [copy, fresh[column] ?? null]);
    const overwritten =
      scope === 'current' && !isOpen(row, load) ? [] : type1.map((column) => [column, fresh[column] ?? null]);
    return { ...row, ...Object.fromEntries([...present, ...overwritten]) };
  });
  return { ...versioned, target };
};
