/** The patterns by name: one file each under `patterns/`. */
import type { PatternName } from '../../../protocol/specification.ts';
import type { LoadContext } from './context.ts';
import { planInactivation } from './patterns/inactivation.ts';
import { planScd0 } from './patterns/scd0.ts';
import { planScd1 } from './patterns/scd1.ts';
import { planScd2 } from './patterns/scd2.ts';
import { planScd2Day } from './patterns/scd2_day.ts';
import { planScd2Timestamp } from './patterns/scd2_timestamp.ts';
import { planScd3 } from './patterns/scd3.ts';
import type { LoadPlan } from './plan.ts';

export type Planner = (context: LoadContext) => LoadPlan;

export const planners: Readonly<Partial<Record<PatternName, Planner>>> = {
  inactivation: planInactivation,
  scd0: planScd0,
  scd1: planScd1,
  scd2: planScd2,
  scd2_day: planScd2Day,
  scd2_timestamp: planScd2Timestamp,
  scd3: planScd3,
};
