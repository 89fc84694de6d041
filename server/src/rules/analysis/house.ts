import { tableNameOf } from '../../syntax/inspect.ts';
import type { HouseRules, RuleContext } from '../engine/rule.ts';
import type { Step } from './steps.ts';

/** The options that the workspace declares for tables which a statement writes or reads. */
export function housesOf(step: Step, context: RuleContext): readonly HouseRules['options'][] {
  const declared = step.find('table').flatMap(({ node }) => context.house(tableNameOf(node.name)) ?? []);
  return context.own === null ? declared : [context.own, ...declared];
}

/** True when one of the statement's tables is declared to bear hashes of a preset with known weaknesses. */
export function hasLegacyHash(step: Step, context: RuleContext, presets: readonly string[]): boolean {
  return housesOf(step, context).some((options) => presets.includes(options.hash_rules?.preset ?? 'default'));
}

/** True when one of the statement's tables is declared to treat values so before they are hashed. */
export function normalises(step: Step, context: RuleContext, how: 'text' | 'empty'): boolean {
  return housesOf(step, context).some(({ hash_rules: rules, empty_as_null }) =>
    how === 'empty'
      ? empty_as_null === true || rules?.empty_as_null === true
      : rules?.trim === true || rules?.case !== undefined,
  );
}

/** True when one of the statement's tables is declared to close intervals one unit early. */
export function hasClosingRule(step: Step, context: RuleContext): boolean {
  return housesOf(step, context).some((options) => options.closing !== undefined && options.closing !== 'half-open');
}
