import { counted, named } from '../build.ts';
import type { LoadContext } from '../context.ts';
import type { LoadPlan, Step } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import { ghostPart, withGhostRows } from '../vault/ghosts.ts';
import {
  candidatesStep,
  highWaterStep,
  sequenceStep,
  stagedKeyCount,
  stagedStep,
} from '../vault/satellite/candidates.ts';
import { changesStep, timelineStep } from '../vault/satellite/changes.ts';
import { guards } from '../vault/satellite/guards.ts';
import { makeSatellite, type Satellite } from '../vault/satellite/rows.ts';
import {
  keyCount,
  missingKeySteps,
  rowCount,
  skippedCount,
  skippedWarnings,
  stagedAs,
  vaultParameters,
  vaultStage,
} from '../vault/staging.ts';

const newRows = counted('NewRows');
const changedKeys = counted('ChangedKeys');

/**
 * Satellite: insert only. A staged row becomes a version when its key has none yet or its content differs from the
 * version before it; what is read of the satellite are the latest versions of the staged keys.
 */
export function planSatellite(context: LoadContext): LoadPlan {
  const { source: from, target } = context;
  const stage = vaultStage(context);
  const satellite = makeSatellite(stage);
  const ghosts = ghostPart(stage);
  return {
    target: target.name,
    source: from.name,
    says: `Satellite ${target.name.table} from ${from.name.table}: inserts a version where a key's content differs from its latest version.`,
    parameters: vaultParameters(stage),
    steps: [...missingKeySteps(stage), ...(satellite === null ? [] : satelliteSteps(satellite)), ...ghosts.steps],
    writes: [
      ...ghosts.writes,
      {
        kind: 'insert',
        says: 'Insert the versions.',
        shows: 'inserted',
        from: 'changes',
        where: [],
        values: stage.columns.map((of) => ({ column: of.target.name, value: stagedAs('c', of) })),
      },
    ],
    warnings: skippedWarnings(stage),
    counts: {
      inserted: withGhostRows(newRows, ghosts),
      updated: null,
      expired: null,
      inactivated: null,
      deleted: null,
      unchanged: { kind: 'arithmetic', operator: '-', left: acceptedRows, right: changedKeys },
      skipped: skippedCount(stage),
    },
    keeps: [],
    replaces: null,
  };
}

function satelliteSteps(satellite: Satellite): readonly Step[] {
  const { stage, context } = satellite;
  return [
    ...highWaterStep(satellite),
    stagedStep(satellite),
    stagedKeyCount(satellite),
    candidatesStep(satellite),
    sequenceStep(satellite),
    ...guards(satellite),
    context.options.out_of_order === 'timeline_check' ? timelineStep(satellite) : changesStep(satellite),
    rowCount('changes', 'What will be inserted.', newRows.name),
    keyCount(stage, named('changes'), 'Keys with a new version.', changedKeys.name),
  ];
}
