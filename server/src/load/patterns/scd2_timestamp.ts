import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { checkRules, planTypeTwo } from './scd2.ts';

/** Type 2 by change time: a staged row later than the start of the current version is its next version. */
export function planScd2Timestamp(context: LoadContext): LoadPlan {
  const timed: LoadContext = { ...context, options: { ...context.options, strategy: 'timestamp' } };
  return planTypeTwo(timed, checkRules(timed), 'Type 2 by change time: a later change time opens the next version.');
}
