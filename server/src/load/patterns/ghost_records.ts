import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { planSatellite } from './satellite.ts';

/**
 * Satellite with ghost rows: each load adds those that are missing, so that the pointers of PIT tables never dangle.
 * `ghost` says what they bear.
 */
export function planGhostRecords(context: LoadContext): LoadPlan {
  return planSatellite(context);
}
