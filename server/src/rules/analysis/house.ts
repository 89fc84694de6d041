import { findAll, tableNameOf } from '../../syntax/inspect.ts';
import type { HouseRules, RuleContext } from '../engine/rule.ts';
import type { Step } from './steps.ts';

/** The options that the workspace declares for tables which a statement writes or reads. */
export function housesOf(step: Step, context: RuleContext): readonly HouseRules['options'][] {
  return findAll(step.statement, 'table').flatMap((table) => context.house(tableNameOf(table.name)) ?? []);
}

/** True when one of the statement's tables is declared to bear hashes of a preset with known weaknesses. */
export function hasLegacyHash(step: Step, context: RuleContext, presets: readonly string[]): boolean {
  return housesOf(step, context).some((options) => presets.includes(options.hash_rules?.preset ?? 'default'));
}

/** True when one of the statement's tables is declared to close intervals one unit early. */
export function hasClosingRule(step: Step, context: RuleContext): boolean {
  return housesOf(step, context).some((options) => options.closing !== undefined && options.closing !== 'half-open');
}
