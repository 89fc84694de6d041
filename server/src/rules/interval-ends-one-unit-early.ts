import { bare } from '../syntax/inspect.ts';
import type { Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { hasClosingRule } from './analysis/house.ts';
import { callOf, roleByName } from './analysis/names.ts';
import type { Body, Scope, Step } from './analysis/steps.ts';
import { durationOf, type Earlier, earlierThan, stepOf } from './analysis/time.ts';
import { variablesOf } from './analysis/variables.ts';
import { closingSteps, closingsOf } from './analysis/versions.ts';
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
  judges: 'part',
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
  statement(step, context) {
    for (const { closing, scope } of closingsOf(step, context.tables)) {
      const { end } = closing;
      const earlier = end === null ? null : earlierThan(end.value);
      if (end === null || earlier === null || hasClosingRule(step, context)) continue;
      if (!isBelowPrecision(earlier, scope, context)) report(step, context, end.value, earlier, 'warning');
    }
    inView(step, context);
  },
  body(body, context) {
    const reported = new Set<Expression>();
    for (const step of closingSteps(body, context.tables)) {
      for (const { closing } of closingsOf(step, context.tables)) {
        const found = closing.end === null ? null : throughVariable(body, closing.end.value);
        if (found === null || reported.has(found.value) || hasClosingRule(step, context)) continue;
        reported.add(found.value);
        report(found.step, context, found.value, found.earlier, 'warning');
      }
    }
  },
};

/** `SET @yesterday = DATEADD(ms, -3, @today)` and later `ValidTo = @yesterday`. */
function throughVariable(body: Body, value: Expression) {
  const inner = bare(value);
  if (inner.kind !== 'variable') return null;
  for (const assigned of variablesOf(body).get(inner.name.toLowerCase())?.values ?? []) {
    const earlier = earlierThan(assigned.value);
    if (earlier !== null) return { ...assigned, earlier };
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
  for (const { node } of step.find('select-item')) {
    if (node.alias === null || roleByName(node.alias.name) !== 'effective-end') continue;
    const inner = bare(node.expression);
    const first = callOf(inner, 'COALESCE', 'ISNULL')?.arguments[0] ?? inner;
    const earlier = earlierThan(first);
    if (earlier === null || callOf(earlier.from, 'LEAD') === null) continue;
    report(step, context, first, earlier, 'info');
  }
}

function report(
  step: Step,
  context: RuleContext,
  at: Expression,
  earlier: Earlier,
  severity: 'warning' | 'info',
): void {
  const text = context.text(step, earlier.from);
  context.report(step, at, {
    message: `The interval ends ${earlier.amount} ${earlier.unit}${earlier.amount === 1 ? '' : 's'} before the next one starts.`,
    severity,
    fixes: [{ title: `End it at ${text}`, safe: false, edits: [replace(at, text)] }],
  });
}
