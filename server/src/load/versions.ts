/**
 * Loads that compare the staged row of a key with its current row: one join into a small relation of changes, then the
 * writes from it. The patterns scd0 … scd6 and inactivation say what a change does; this file says what a change is.
 */
import { column, compare, concat, literal, shown } from './build.ts';
import { clockParameter, type LoadContext, report, textParameters } from './context.ts';
import type { LoadPlan, PlanParameter, Step, Warning, Write } from './plan.ts';
import { duplicateGuard, skippedRows, stagedRows, stageMeasures, takesNullKeys } from './stage.ts';
import { absenceSteps, limitName, limitType, thresholdSteps } from './versions/absence.ts';
import { changeSteps, itemsOfStage } from './versions/changes.ts';
import { countStep } from './versions/counts.ts';
import { detectsAbsence, type VersionRules, type Versions } from './versions/model.ts';
import { startDefinition } from './versions/start.ts';
import { batchTimeGuard } from './versions/writes.ts';

export * from './versions/absence.ts';
export * from './versions/changes.ts';
export * from './versions/counts.ts';
export * from './versions/model.ts';
export * from './versions/start.ts';
export * from './versions/writes.ts';

/** Everything up to the writes: staged rows, guards, the change relation and the counts over it. */
export interface VersionSteps {
  readonly versions: Versions;
  readonly steps: readonly Step[];
  readonly warnings: readonly Warning[];
  readonly parameters: readonly PlanParameter[];
}

/** The steps of a load that keeps versions, up to its change set; nothing is written yet. */
export function versionSteps(versions: Versions, rules: VersionRules): VersionSteps {
  const { context, keys } = versions;
  const { options } = context;
  const stagedItems = itemsOfStage(versions);
  const staged = stagedRows(context, stagedItems, 'staged');
  const stagedKeys = keys.map((part) => column('s', part.target.name, part.type));
  const steps: Step[] = [...startDefinition(versions), ...staged.steps, ...stageMeasures(context, staged)];
  if (keys.length > 0) steps.push(duplicateGuard(context, staged, stagedKeys));
  const warnings: Warning[] = [
    {
      code: 'null_key',
      when: compare(skippedRows, '>', literal(0)),
      message: concat(shown(skippedRows), literal(` staged rows without a key were skipped`)),
    },
  ];
  const absence = detectsAbsence(context) ? absenceSteps(versions) : null;
  if (absence !== null) {
    steps.push(...absence.steps);
    warnings.push(...absence.warnings);
  }
  if (absence === null && rules.loads) tellIdleDeletes(context);
  steps.push(...changeSteps(versions, rules, staged.relation, absence?.keyList ?? null));
  steps.push(countStep(versions));
  if (absence !== null && options.max_inactivation_pct !== undefined)
    steps.push(...thresholdSteps(versions, staged.relation));
  if (rules.versioned && versions.validTo !== undefined) steps.push(batchTimeGuard(versions));
  const limit: readonly PlanParameter[] =
    absence !== null && options.max_inactivation_pct !== undefined
      ? [
          {
            name: limitName,
            type: limitType,
            value: options.max_inactivation_pct,
            clock: false,
            description: 'highest share of the open keys, in per cent, that one run may inactivate',
          },
        ]
      : [];
  return {
    versions,
    steps,
    warnings: options.null_keys === 'fail' || takesNullKeys(context) ? warnings.slice(1) : warnings,
    parameters: [clockParameter('time of the load (UTC)'), ...textParameters(context), ...limit],
  };
}

/** The plan of a load that keeps versions, with its writes and what they count. */
export function finishPlan(
  { versions, steps, warnings, parameters }: VersionSteps,
  says: string,
  writes: readonly Write[],
  counts: LoadPlan['counts'],
): LoadPlan {
  const { context } = versions;
  return {
    target: context.target.name,
    source: context.source.name,
    says,
    parameters,
    steps,
    // A table of keys alone has nothing to set.
    writes: writes.filter((write) => write.kind !== 'update' || write.set.length > 0),
    warnings,
    counts,
    keeps: [],
    replaces: null,
  };
}

/** A rule for absent keys is idle while the stage is not said to hold every key. */
function tellIdleDeletes(context: LoadContext): void {
  const { hard_deletes: rule, load } = context.options;
  if (rule === undefined || rule === 'ignore' || load === 'cdc') return;
  report(
    context,
    'no-detection',
    `hard_deletes is ${rule}, but absent keys of ${context.target.name.table} are not looked for, since the stage may hold changes alone; add --set load=full where it holds every key.`,
    'info',
  );
}
