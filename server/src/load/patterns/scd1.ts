import type { LoadContext } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import {
  absenceColumns,
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
  const rules: VersionRules = { versioned: false, loads: true };
  const versions = makeVersions(context, rules);
  const written = new Set([...versions.attributes.map((feed) => feed.target), ...absenceColumns(versions)]);
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
