import type { Evidence } from './evidence.ts';
import type { InSteps } from './in-steps.ts';
import { compactName, formatTableName } from './names.ts';
import type { Hints, RoleGuess } from './roles.ts';
import type { Structure } from './structure.ts';

/** Which table holds the columns of which staging table, and what that says about both. */
export interface Twins {
  /** Persistent table → the staging table whose columns it holds. */
  readonly twinOf: ReadonlyMap<Structure, Structure>;
  readonly hints: ReadonlyMap<Structure, Hints>;
}

const leastShare = 0.8;
const commonName = 200;

/**
 * Finds tables with a key or validity columns that hold nearly all columns of a table without them: persistent staging
 * beside its stage, a dimension beside its source.
 */
export function* findTwins(structures: readonly Structure[], guesses: readonly RoleGuess[]): InSteps<Twins> {
  const stages = structures.filter((structure, index) => !structure.validity && guesses[index]?.role === 'staging');
  const byColumn = new Map<string, Structure[]>();
  for (const stage of stages) {
    for (const column of stage.columns) {
      const name = compactName(column.facts.name);
      const known = byColumn.get(name);
      if (known === undefined) byColumn.set(name, [stage]);
      else known.push(stage);
    }
    yield;
  }
  const twinOf = new Map<Structure, Structure>();
  const hints = new Map<Structure, Hints>();
  for (const [index, structure] of structures.entries()) {
    yield;
    const guess = guesses[index];
    const stored = structure.validity || (structure.key.length > 0 && guess?.role !== 'staging');
    if (!stored || structure.loadDates.length > 0) continue;
    const twin = bestTwin(structure, byColumn);
    if (twin === null) continue;
    twinOf.set(structure, twin);
    hints.set(structure, holderHints(structure, twin));
    hints.set(twin, {
      staging: [{ weight: 0.1, reason: `its columns return in ${formatTableName(structure.table.name)}` }],
    });
  }
  return { twinOf, hints };
}

function bestTwin(structure: Structure, byColumn: ReadonlyMap<string, readonly Structure[]>): Structure | null {
  const counts = new Map<Structure, number>();
  for (const column of structure.columns) {
    const stages = byColumn.get(compactName(column.facts.name));
    if (stages === undefined || stages.length > commonName) continue;
    for (const stage of stages) if (stage !== structure) counts.set(stage, (counts.get(stage) ?? 0) + 1);
  }
  let best: { readonly stage: Structure; readonly rank: number } | null = null;
  for (const [stage, count] of counts) {
    const share = count / stage.columns.length;
    if (share < leastShare || stage.columns.length < 2) continue;
    const sameName = compactName(stage.table.name.table) === compactName(structure.table.name.table);
    const rank = share + (sameName ? 1 : 0) + count / 1000;
    if (best === null || rank > best.rank) best = { stage, rank };
  }
  return best?.stage ?? null;
}

function holderHints(structure: Structure, twin: Structure): Hints {
  const holds: Evidence = { weight: 0.3, reason: `it holds the columns of ${formatTableName(twin.table.name)}` };
  if (structure.validity && structure.surrogate === null) return { 'persistent-staging': [holds] };
  return { dimension: [holds] };
}
