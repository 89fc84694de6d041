import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { detectsAbsence, finishPlan, makeVersions, type VersionRules, versionSteps } from '../versions.ts';
import { planScd1 } from './scd1.ts';
import { checkRules, planTypeTwo } from './scd2.ts';
import { oneRowCounts, typeTwoCounts, typeTwoWrites } from './type-two.ts';

/**
 * Deletes found by absence. Under `with_load` the load itself runs too, with one clock and in one transaction, so that a
 * key is judged once; else absent keys alone are looked for.
 */
export function planInactivation(context: LoadContext): LoadPlan {
  const { options } = context;
  const versioned = options.valid_from !== undefined;
  if (options.with_load === true) {
    return versioned
      ? planTypeTwo(context, checkRules(context), 'Type 2 load with deletes found by absence.')
      : planScd1(context);
  }
  const rules: VersionRules = { versioned, loads: false };
  const versions = makeVersions(context, rules);
  if (!detectsAbsence(context)) {
    context.problems.push({
      code: 'no-detection',
      severity: 'error',
      message: `Nothing would be looked for: state load (full or partition) or detection_source, and hard_deletes, for ${context.target.name.table}.`,
    });
  }
  return finishPlan(
    versionSteps(versions, rules),
    'Finds keys that the source no longer delivers.',
    typeTwoWrites(versions, []),
    versioned ? typeTwoCounts(versions) : oneRowCounts(versions),
  );
}
