import { arithmetic, counted, exists, item, literal, named, select, source } from '../build.ts';
import type { LoadContext } from '../context.ts';
import type { LoadPlan, Step } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import { deliveredEndSteps } from '../vault/effectivity/delivered.ts';
import { derivedEndSteps } from '../vault/effectivity/derived.ts';
import { makeRelationships, type Relationships, writtenAs } from '../vault/effectivity/relation.ts';
import {
  keyCount,
  missingKeySteps,
  rowCount,
  sameKey,
  skippedCount,
  skippedWarnings,
  stagedAs,
  vaultParameters,
  vaultStage,
} from '../vault/staging.ts';

const newRows = counted('NewRows');
const changedKeys = counted('ChangedKeys');

/**
 * Effectivity satellite: when a relationship was in force. Insert only: closing is a new row that bears the end. A new
 * partner of the driving key closes the former one, a partner that returns opens again; or start and end are delivered.
 */
export function planEffectivitySatellite(context: LoadContext): LoadPlan {
  const { source: from, target, options } = context;
  const relationships = makeRelationships(context);
  const stage = relationships?.stage ?? vaultStage(context);
  return {
    target: target.name,
    source: from.name,
    says:
      options.auto_end_dating === false
        ? `Effectivity satellite ${target.name.table} from ${from.name.table}: adds the starts and ends that the source delivers.`
        : `Effectivity satellite ${target.name.table} from ${from.name.table}: opens the delivered relationships of a driving key and closes its others, by new rows only.`,
    parameters: vaultParameters(stage),
    steps: [...missingKeySteps(stage), ...(relationships === null ? [] : changeSteps(relationships))],
    writes: [
      {
        kind: 'insert',
        says: 'Add the opening and closing rows.',
        shows: 'inserted',
        from: 'changes',
        where: [],
        values: (relationships?.columns ?? []).map((written) => ({
          column: written.name,
          value: writtenAs('c', written),
        })),
      },
    ],
    warnings: skippedWarnings(stage),
    counts: {
      inserted: newRows,
      updated: null,
      expired: null,
      inactivated: null,
      deleted: null,
      unchanged: arithmetic(acceptedRows, '-', changedKeys),
      skipped: skippedCount(stage),
    },
    keeps: [],
    replaces: null,
  };
}

function changeSteps(relationships: Relationships): readonly Step[] {
  const { stage } = relationships;
  const derives = stage.context.options.auto_end_dating !== false;
  const [staged, ...rest] = derives ? derivedEndSteps(relationships) : deliveredEndSteps(relationships);
  const touched = select(
    stage.keys.map((key) => item(key.target.name, stagedAs('x', key))),
    source(named('changes'), 'x'),
    {
      where: [
        exists(select([item('one', literal(1))], source(named('staged'), 's'), { where: sameKey(stage, 's', 'x') })),
      ],
    },
  );
  return [
    ...(staged === undefined ? [] : [staged]),
    keyCount(stage, named('staged'), 'Distinct relationships in the stage.', acceptedRows.name),
    ...rest,
    rowCount('changes', 'What will be inserted.', newRows.name),
    keyCount(stage, touched, 'Staged relationships among them.', changedKeys.name),
  ];
}
