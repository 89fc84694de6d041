import { compare } from '../build.ts';
import type { Feed, LoadContext } from '../context.ts';
import type { Expression } from '../language.ts';
import type { LoadPlan } from '../plan.ts';
import {
  anyDiffers,
  feedsNamed,
  finishPlan,
  makeVersions,
  stagedChangeTime,
  stored,
  trackedFeeds,
  type VersionRules,
  type Versions,
  versionSteps,
} from '../versions.ts';
import { typeTwoCounts, typeTwoWrites } from './type-two.ts';

/** Type 2: a changed key's current version is closed and the next one opened, in one transaction. */
export function planScd2(context: LoadContext): LoadPlan {
  return planTypeTwo(context, checkRules(context), 'Type 2: closes changed versions and opens the next ones.');
}

/** Changes by comparison of the tracked columns, or by change time under `strategy: timestamp`. */
export function checkRules({ options }: LoadContext): VersionRules {
  const base = { versioned: true, loads: true, changed, refreshed } as const;
  return options.strategy === 'timestamp' ? { ...base, changed: (versions) => isNewer(versions) } : base;
}

export function planTypeTwo(context: LoadContext, rules: VersionRules, says: string): LoadPlan {
  const versions = makeVersions(context, rules);
  const writes = typeTwoWrites(
    versions,
    refreshedFeeds(versions).map((feed) => feed.target),
  );
  return finishPlan(versionSteps(versions, rules), says, writes, typeTwoCounts(versions));
}

/** Tracked columns decide; columns that are new in the stage only where they may open versions. */
function changed(versions: Versions): Expression | null {
  const backfilled = backfilledNames(versions);
  return anyDiffers(
    versions.context,
    trackedFeeds(versions).filter((feed) => !backfilled.has(feed.source?.name ?? '')),
  );
}

/** Later than the start of the current version, nothing else. */
function isNewer(versions: Versions): Expression | null {
  const { context, validFrom } = versions;
  const staged = stagedChangeTime(versions);
  if (staged === null || validFrom === undefined) return null;
  return compare(staged, '>', stored(context, validFrom));
}

function refreshed(versions: Versions): Expression | null {
  return anyDiffers(versions.context, refreshedFeeds(versions));
}

/** Columns kept up on the current row without a version. */
function refreshedFeeds(versions: Versions): readonly Feed[] {
  const { context, attributes } = versions;
  const { untracked = [], untracked_mode: mode } = context.options;
  const names = [...backfilledNames(versions), ...(mode === 'update_current' ? untracked : [])];
  return feedsNamed(context, attributes, names, 'untracked');
}

function backfilledNames({ context }: Versions): ReadonlySet<string> {
  const { on_new_column: rule, new_columns: added = [] } = context.options;
  return new Set(rule === 'backfill_current' ? added : []);
}
