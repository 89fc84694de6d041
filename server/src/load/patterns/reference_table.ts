import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { firstSightingPlan } from '../vault/first-sighting.ts';

/** Reference table: codes with their descriptions; a code that is there keeps what it has. */
export function planReferenceTable(context: LoadContext): LoadPlan {
  const { source, target } = context;
  const says = `Reference table ${target.name.table} from ${source.name.table}: inserts codes that are not there yet.`;
  return firstSightingPlan(context, says, 'codes');
}
