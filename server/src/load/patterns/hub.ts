import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { firstSightingPlan } from '../vault/first-sighting.ts';

/** Hub: one row per business key, with the load time and source of its first sighting; never changed afterwards. */
export function planHub(context: LoadContext): LoadPlan {
  const { source, target } = context;
  const says = `Hub ${target.name.table} from ${source.name.table}: inserts business keys that are not there yet.`;
  return firstSightingPlan(context, says, 'business keys');
}
