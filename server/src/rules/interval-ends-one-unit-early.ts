import { bare } from '../syntax/inspect.ts';
import type { Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { hasClosingRule } from './analysis/house.ts';
import { callOf, roleByName } from './analysis/names.ts';
import type { Body, Scope, Step } from './analysis/steps.ts';
import { durationOf, type Earlier, earlierThan, stepOf } from './analysis/time.ts';
import { variablesOf } from './analysis/variables.ts';
import { closingOf } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const intervalEndsOneUnitEarly: Rule = {
  name: 'interval-ends-one-unit-early',
  hazards: ['T01'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A version is closed one day, second or millisecond before the next one starts.',
  why: 'A moment between the two belongs to no version, and where the data is finer than the unit, or the type rounds, intervals overlap.',
  help: 'End a version where the next one starts, and read with from <= d AND d < to. A house that closes early on purpose states its closing rule in mergewright.json.',
  invalid: [
    {
      sql: `UPDATE t SET ValidTo = DATEADD(day, -1, @today), IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);`,
    },
  ],
  valid: [
    {
      sql: `UPDATE t SET ValidTo = @today, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);`,
    },
  ],
  body(body, context) {
    const reported = new Set<Expression>();
    for (const step of body.steps) {
      if (hasClosingRule(step, context)) continue;
      for (const { node, scope } of [...step.find('update'), ...step.find('merge-update')]) {
        const end = closingOf(node.assignments, scope, context.tables)?.end;
        if (end == null) continue;
        const found = direct(end.value, scope, step) ?? throughVariable(body, end.value);
        if (found === null || reported.has(found.at)) continue;
        reported.add(found.at);
        if (!isBelowPrecision(found.earlier, found.scope, context)) report(found, context, 'warning');
      }
      inView(step, context);
    }
  },
};

interface Found {
  readonly step: Step;
  readonly at: Expression;
  readonly earlier: Earlier;
  readonly scope: Scope | null;
}

function direct(value: Expression, scope: Scope | null, step: Step): Found | null {
  const earlier = earlierThan(value);
  return earlier === null ? null : { step, at: value, earlier, scope };
}

/** `SET @yesterday = DATEADD(ms, -3, @today)` and later `ValidTo = @yesterday`. */
function throughVariable(body: Body, value: Expression): Found | null {
  const inner = bare(value);
  if (inner.kind !== 'variable') return null;
  for (const assigned of variablesOf(body).get(inner.name.toLowerCase())?.values ?? []) {
    const earlier = earlierThan(assigned.value);
    if (earlier !== null) return { step: assigned.step, at: assigned.value, earlier, scope: null };
  }
  return null;
}

/** Another rule says that the subtraction is lost in rounding. */
function isBelowPrecision(earlier: Earlier, scope: Scope | null, context: RuleContext): boolean {
  const type = context.tables.type(earlier.from, scope);
  const step = type === null ? null : stepOf(type);
  return step !== null && durationOf(earlier) < step;
}

/** An end-dating view: LEAD of the next start, one unit earlier. */
function inView(step: Step, context: RuleContext): void {
  for (const { node, scope } of step.find('select-item')) {
    if (node.alias === null || roleByName(node.alias.name) !== 'effective-end') continue;
    const inner = bare(node.expression);
    const first = callOf(inner, 'COALESCE', 'ISNULL')?.arguments[0] ?? inner;
    const earlier = earlierThan(first);
    if (earlier === null || callOf(earlier.from, 'LEAD') === null) continue;
    report({ step, at: first, earlier, scope }, context, 'info');
  }
}

function report({ step, at, earlier }: Found, context: RuleContext, severity: 'warning' | 'info'): void {
  const text = context.text(step, earlier.from);
  context.report(step, at, {
    message: `The interval ends ${earlier.amount} ${earlier.unit}${earlier.amount === 1 ? '' : 's'} before the next one starts.`,
    severity,
    fixes: [{ title: `End it at ${text}`, safe: false, edits: [replace(at, text)] }],
  });
}
