/** Loads that replace all rows of their target: what they have in common. */
import { counted, countRows, item, select, source, table } from '../build.ts';
import type { LoadContext } from '../context.ts';
import { type Query, types } from '../language.ts';
import type { LoadPlan, PlanParameter, Step, Warning } from '../plan.ts';
import { rowCount } from './staging.ts';

const builtRows = counted('BuiltRows');
const formerRows = counted('FormerRows');

/** The rows that the target will hold, and how they come about. */
export interface Rebuild {
  readonly says: string;
  readonly parameters: readonly PlanParameter[];
  readonly steps: readonly Step[];
  /** Its items bear the names of the target's columns. */
  readonly rows: Query;
  readonly warnings: readonly Warning[];
}

/** All rows go, the built ones come: both are counted, also where they are the same. */
export function rebuildPlan(context: LoadContext, { says, parameters, steps, rows, warnings }: Rebuild): LoadPlan {
  const { source: from, target } = context;
  const columns = rows.items.map(({ name, value }) => ({ name, value }));
  return {
    target: target.name,
    source: from.name,
    says,
    parameters,
    steps: [
      ...steps,
      { kind: 'let', says: `The rows that ${target.name.table} will hold.`, name: 'built', query: rows },
      rowCount('built', 'How many they are.', builtRows.name),
      {
        kind: 'measure',
        says: 'How many rows they replace.',
        query: select([item(formerRows.name, countRows())], source(table(target.name), 't')),
      },
    ],
    writes: [],
    warnings,
    counts: {
      inserted: builtRows,
      updated: null,
      expired: null,
      inactivated: null,
      deleted: formerRows,
      unchanged: null,
      skipped: null,
    },
    keeps: [],
    replaces: {
      kind: 'rows',
      says: 'Replace all rows.',
      built: 'built',
      identity: context.options.target_identity ?? context.options.target_key ?? [],
      query: select(
        columns.map(({ name }) => item(name, { kind: 'column', of: 'b', name, type: types.text })),
        source({ kind: 'named', name: 'built' }, 'b'),
      ),
    },
  };
}
