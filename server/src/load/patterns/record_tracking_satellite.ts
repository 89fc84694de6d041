import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { stagedRows, vaultStage } from '../vault/staging.ts';
import { trackingPlan } from '../vault/tracking.ts';

/** Record tracking satellite: one row per key, load time and source in which the key appeared. */
export function planRecordTrackingSatellite(context: LoadContext): LoadPlan {
  const { source, target } = context;
  const stage = vaultStage(context);
  return trackingPlan(
    {
      stage,
      steps: [{ kind: 'let', says: 'Staged rows with a key.', name: 'staged', query: stagedRows(stage) }],
      relation: 'staged',
      columns: stage.columns.map((of) => ({ name: of.target.name, type: of.type })),
    },
    `Record tracking satellite ${target.name.table} from ${source.name.table}: records each appearance of a key once.`,
  );
}
