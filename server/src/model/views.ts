import { TableLookup } from './lookup.ts';
import { formatTableName } from './names.ts';
import { type RoleGuess, spoken } from './roles.ts';
import type { Structure } from './structure.ts';

/** The tables whose rows views show, also through other views; only views are in it. */
export function shownTables(structures: readonly Structure[]): ReadonlyMap<Structure, ReadonlySet<Structure>> {
  const views = structures.filter(({ table }) => table.reads !== undefined);
  const shown = new Map<Structure, ReadonlySet<Structure>>();
  if (views.length === 0) return shown;
  const lookup = new TableLookup(structures.map((structure) => ({ ...structure.table, structure })));
  for (const view of views) {
    const found = new Set<Structure>();
    const pending = [view];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      for (const name of next.table.reads ?? []) {
        const read = lookup.one(name)?.structure;
        if (read === undefined || read === view || found.has(read)) continue;
        found.add(read);
        pending.push(read);
      }
    }
    shown.set(view, found);
  }
  return shown;
}

/** A view over a dimension is what people query, not what is loaded from. */
export function viewGuess(guess: RoleGuess, shown: Iterable<readonly [Structure, RoleGuess]>): RoleGuess {
  if (guess.role !== 'staging') return guess;
  for (const [{ table }, { role }] of shown) {
    if (role !== 'dimension' && role !== 'pit' && role !== 'bridge') continue;
    const reason = `It shows rows of the ${spoken(role)} table ${formatTableName(table.name)}.`;
    return { role: 'unknown', confidence: 0, reasons: [reason] };
  }
  return guess;
}
