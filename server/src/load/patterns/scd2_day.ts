import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { checkRules, planTypeTwo } from './scd2.ts';

/** Type 2 with one version per key and day: a version that began today is rewritten in place. */
export function planScd2Day(context: LoadContext): LoadPlan {
  return planTypeTwo(
    context,
    checkRules(context),
    'Type 2 with one version per key and day: a version that began today is rewritten in place.',
  );
}
