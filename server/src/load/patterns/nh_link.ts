import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { firstSightingPlan } from '../vault/first-sighting.ts';

/** Non-historised link: a transaction with its measures, appended once; a second delivery of its key changes nothing. */
export function planNonHistorisedLink(context: LoadContext): LoadPlan {
  const { source, target } = context;
  const says = `Non-historised link ${target.name.table} from ${source.name.table}: appends transactions that are not there yet.`;
  return firstSightingPlan(context, says, 'transactions');
}
