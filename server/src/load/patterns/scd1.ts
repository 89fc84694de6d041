import type { LoadContext } from '../context.ts';
import { makeFeed } from '../feed.ts';
import { feedPlan } from '../feed-plan.ts';
import { lastStates } from '../feed-versions.ts';
import type { LoadPlan, Step } from '../plan.ts';
import {
  absenceColumns,
  derivedColumns,
  finishPlan,
  insertWrite,
  makeVersions,
  overwrite,
  type VersionRules,
  versionSteps,
  writableColumns,
} from '../versions.ts';
import { absenceWrites, oneRowCounts } from './type-two.ts';

/** Type 1: one row per key, overwritten when a tracked column differs. */
export function planScd1(context: LoadContext): LoadPlan {
  const { strategy, load } = context.options;
  if (strategy === 'type1_cdc' || load === 'cdc') return planFromFeed(context);
  const rules: VersionRules = { versioned: false, loads: true };
  const versions = makeVersions(context, rules);
  const written = new Set([
    ...versions.attributes.map((feed) => feed.target),
    ...derivedColumns(versions),
    ...absenceColumns(versions),
  ]);
  const columns = writableColumns(context).filter((of) => written.has(of));
  return finishPlan(
    versionSteps(versions, rules),
    'Type 1: inserts new keys and overwrites changed ones.',
    [
      ...overwrite(versions, ['changed'], columns, 'Overwrite the rows that changed.'),
      ...absenceWrites(versions),
      ...insertWrite(versions, ['new'], 'Insert the new keys.'),
    ],
    oneRowCounts(versions),
  );
}

/** Type 1 from a change feed: the latest event of a key counts, whenever it comes. */
function planFromFeed(context: LoadContext): LoadPlan {
  const feed = makeFeed(context, [], undefined);
  const last: Step | null =
    feed === null
      ? null
      : {
          kind: 'let',
          says: 'The last state of each key that is still there.',
          name: 'wanted',
          query: lastStates(feed),
        };
  return feedPlan(
    context,
    feed,
    last === null ? null : { steps: [last], name: 'wanted' },
    { validFrom: undefined, validTo: undefined, current: undefined },
    'Type 1 from a change feed: the latest event of a key counts, whenever it comes.',
  );
}
