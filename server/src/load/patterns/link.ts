import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { firstSightingPlan } from '../vault/first-sighting.ts';

/** Link: one row per combination of business keys, as first sighted; never changed afterwards. */
export function planLink(context: LoadContext): LoadPlan {
  const { source, target } = context;
  const says = `Link ${target.name.table} from ${source.name.table}: inserts relationships that are not there yet.`;
  return firstSightingPlan(context, says, 'relationships');
}
