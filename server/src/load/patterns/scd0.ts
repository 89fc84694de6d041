import { all, any, coalesce, column, isNotNull, isNull } from '../build.ts';
import type { LoadContext } from '../context.ts';
import type { Expression } from '../language.ts';
import type { LoadPlan } from '../plan.ts';
import {
  changeOf,
  changesName,
  finishPlan,
  insertWrite,
  kindIs,
  makeVersions,
  stored,
  storedRow,
  trackedFeeds,
  type VersionRules,
  type Versions,
  versionSteps,
} from '../versions.ts';
import { oneRowCounts } from './type-two.ts';

/** Type 0: the first values stay; by option a NULL is filled once, when a value is known. */
export function planScd0(context: LoadContext): LoadPlan {
  const fills = context.options.type0_fill_null_once === true;
  const rules: VersionRules = {
    versioned: false,
    loads: true,
    changed: (versions) => (fills ? isFilled(versions) : null),
  };
  const versions = makeVersions(context, rules);
  if (!fills)
    return finishPlan(
      versionSteps(versions, rules),
      says,
      insertWrite(versions, ['new'], insertSays),
      oneRowCounts(versions),
    );
  const fill = {
    kind: 'update',
    shows: 'updated',
    says: 'Fill what was not known before.',
    from: changesName,
    where: [kindIs(versions, 'changed')],
    match: storedRow(versions),
    set: trackedFeeds(versions).map((feed) => ({
      column: feed.target.name,
      value: coalesce(stored(context, feed.target), changeOf(context, feed.target)),
    })),
  } as const;
  const writes = [fill, ...insertWrite(versions, ['new'], insertSays)];
  return finishPlan(versionSteps(versions, rules), says, writes, oneRowCounts(versions));
}

const says = 'Type 0: the first values of a key stay.';
const insertSays = 'Insert the new keys.';

function isFilled(versions: Versions): Expression | null {
  const feeds = trackedFeeds(versions);
  if (feeds.length === 0) return null;
  return any(
    ...feeds.map((feed) =>
      all(isNull(stored(versions.context, feed.target)), isNotNull(column('s', feed.target.name, feed.type))),
    ),
  );
}
