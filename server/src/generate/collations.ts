/** Which collation counts where texts of several tables meet. */
import { sameIdentifier } from '../model/names.ts';
import { mayHoldDigest, typeFacts } from '../model/types.ts';
import type { LoadTables } from './types.ts';

/**
 * False where all tables compare text alike; else what settles it: a collation by name, or true for the database's own.
 * Tables of two databases, or columns with stated collations, may compare text differently. COLLATE brings text that is
 * not Unicode into its code page, so the collation that such columns of the target state is taken, which keeps their letters.
 */
export function mixedCollations({ source, target, extra }: LoadTables): boolean | string {
  const all = [source, target, ...Object.values(extra)];
  const isMixed =
    all.some((one) => !sameIdentifier(one.name.database ?? '', target.name.database ?? '')) ||
    all.some((one) => one.columns.some((column) => column.collation !== null));
  if (!isMixed) return false;
  const stated = target.columns.filter(({ type }) => isPlainText(type)).map(({ collation }) => collation);
  const [only, ...others] = new Set(stated);
  return typeof only === 'string' && others.length === 0 && /^\w+$/.test(only) ? only : true;
}

/** Text in a code page, digests left out: those are ASCII in every one. */
function isPlainText(type: string): boolean {
  const facts = typeFacts(type, true);
  return facts.family === 'text' && !facts.unicode && !mayHoldDigest(facts);
}
