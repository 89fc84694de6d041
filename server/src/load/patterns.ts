/**
 * The patterns by name: one file each under `patterns/`.
 *
 * How to add one:
 *
 * 1. Write `patterns/NAME.ts` with one function `(context: LoadContext) => LoadPlan`, and name it in the table below.
 *    `context.ts` has the tables, the columns that the stage feeds, keys and their comparison; report what stands against
 *    the load with `report(context, code, message)`: an error there means that nothing is generated.
 * 2. Build steps with the functions of `build.ts` (the trees are in `language.ts`, steps and writes in `plan.ts`):
 *    `define` a scalar, `let` a materialised relation, `measure` scalars over a relation, `guard` and `guard-rows` to
 *    stop before anything is written. Steps write nothing but temporary tables, so they are the preview, too.
 * 3. All writes read one materialised relation under the alias `c` (the target is `t`), filtered by conditions over `c`;
 *    a stored row is found by `RowMatch`. No row is touched by two writes. The MERGE shape follows by itself.
 * 4. Counts are expressions over variables that a `measure` step set before the first write; null where the pattern has
 *    no such action.
 * 5. Texts compare `exact` or by their `column`'s collation; `same` and `differs` are null-safe and never negated. In a
 *    query that groups by exact texts, the select list reads them through `aggregate('min', …)`. The latest row of a key
 *    is `latestRows(query, keys, by)` over the rows of the staged keys only.
 * 6. Under `context.traits.rowAddresses` a scanned target row has an address (`rowAddress('t')`) that a write may use;
 *    without it the match compares the stored key and start.
 *
 * `scd1.ts` is the shortest example; loads that compare one staged row with the current row share `versions.ts`.
 */
import type { PatternName } from '../../../protocol/specification.ts';
import type { LoadContext } from './context.ts';
import { planBridge } from './patterns/bridge.ts';
import { planEffectivitySatellite } from './patterns/eff_satellite.ts';
import { planGhostRecords } from './patterns/ghost_records.ts';
import { planHash } from './patterns/hash.ts';
import { planHub } from './patterns/hub.ts';
import { planInactivation } from './patterns/inactivation.ts';
import { planLink } from './patterns/link.ts';
import { planMultiActiveSatellite } from './patterns/ma_satellite.ts';
import { planNonHistorisedLink } from './patterns/nh_link.ts';
import { planPersistentStaging } from './patterns/persistent_staging.ts';
import { planPit } from './patterns/pit.ts';
import { planRecordTrackingSatellite } from './patterns/record_tracking_satellite.ts';
import { planReferenceTable } from './patterns/reference_table.ts';
import { planSatellite } from './patterns/satellite.ts';
import { planEndDatingView } from './patterns/satellite_end_dating_view.ts';
import { planScd0 } from './patterns/scd0.ts';
import { planScd1 } from './patterns/scd1.ts';
import { planScd2 } from './patterns/scd2.ts';
import { planScd2Cdc } from './patterns/scd2_cdc.ts';
import { planScd2Day } from './patterns/scd2_day.ts';
import { planScd2Timestamp } from './patterns/scd2_timestamp.ts';
import { planScd3 } from './patterns/scd3.ts';
import { planScd6 } from './patterns/scd6.ts';
import { planStageNullKeys } from './patterns/stage_null_keys.ts';
import { planStatusTrackingSatellite } from './patterns/status_tracking_satellite.ts';
import { planExtendedTracking } from './patterns/xts.ts';
import type { LoadPlan } from './plan.ts';

export type Planner = (context: LoadContext) => LoadPlan;

export const planners: Readonly<Partial<Record<PatternName, Planner>>> = {
  bridge: planBridge,
  eff_satellite: planEffectivitySatellite,
  ghost_records: planGhostRecords,
  hash: planHash,
  hub: planHub,
  inactivation: planInactivation,
  link: planLink,
  ma_satellite: planMultiActiveSatellite,
  nh_link: planNonHistorisedLink,
  pit: planPit,
  record_tracking_satellite: planRecordTrackingSatellite,
  reference_table: planReferenceTable,
  satellite: planSatellite,
  satellite_end_dating_view: planEndDatingView,
  scd0: planScd0,
  scd1: planScd1,
  scd2: planScd2,
  scd2_cdc: planScd2Cdc,
  scd2_day: planScd2Day,
  scd2_timestamp: planScd2Timestamp,
  scd3: planScd3,
  scd6: planScd6,
  persistent_staging: planPersistentStaging,
  stage_null_keys: planStageNullKeys,
  status_tracking_satellite: planStatusTrackingSatellite,
  xts: planExtendedTracking,
};
