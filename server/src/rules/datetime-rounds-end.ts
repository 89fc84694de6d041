import { bare } from '../syntax/inspect.ts';
import type { Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { callName } from './analysis/names.ts';
import { indicesWhere, stepsAt } from './analysis/selections.ts';
import type { Scope, Step } from './analysis/steps.ts';
import { earlierThan } from './analysis/time.ts';
import { type VariableFact, variablesOf } from './analysis/variables.ts';
import type { Rule, RuleContext } from './engine/rule.ts';

export const datetimeRoundsEnd: Rule = {
  name: 'datetime-rounds-end',
  hazards: ['T02'],
  platforms: ['sqlserver', 'azuresql', 'synapse'],
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A datetime is given a fraction of a second that it cannot hold.',
  why: "datetime keeps .000, .003 and .007 only: '23:59:59.999' becomes midnight of the next day, and one millisecond less may change nothing.",
  help: 'Use datetime2, or half-open intervals that need no last moment of a day.',
  judges: 'part',
  invalid: [
    { sql: `DECLARE @end datetime = '2026-01-31 23:59:59.999';` },
    { sql: `DECLARE @end datetime = DATEADD(ms, -1, CAST('2026-02-01' AS datetime));` },
  ],
  valid: [
    { sql: `DECLARE @end datetime2(3) = '2026-01-31 23:59:59.999';` },
    { sql: `DECLARE @end datetime = '2026-01-31 23:59:59.997';` },
  ],
  statement(step, context) {
    for (const { node } of step.find('declared-variable')) {
      if (node.type?.text === 'datetime' && node.value !== null) checkLiteral(step, context, node.value);
    }
    for (const { node } of step.find('cast')) {
      if (node.type.text === 'datetime') checkLiteral(step, context, node.operand);
    }
    for (const { node, scope } of step.find('assignment')) {
      if (node.column === null || !endsDay(node.value)) continue;
      if (context.tables.type(node.column, scope) === 'datetime') checkLiteral(step, context, node.value);
    }
    for (const { node, scope } of step.find('binary')) {
      if (!['=', '<', '<=', '>', '>=', '<>'].includes(node.operator) || !endsDay(node.right)) continue;
      if (context.tables.type(node.left, scope) === 'datetime') checkLiteral(step, context, node.right);
    }
  },
  body(body, context) {
    for (const step of stepsAt(body, suspectIndices(body))) {
      if (step.statement.kind === 'set-variable' && endsDay(step.statement.value)) {
        const { variable, value } = step.statement;
        if (variablesOf(body).get(variable.name.toLowerCase())?.type === 'datetime') checkLiteral(step, context, value);
      }
      for (const { node, scope } of step.find('call')) {
        if (callName(node) !== 'DATEADD') continue;
        const earlier = earlierThan(node);
        if (earlier?.unit !== 'millisecond' || earlier.amount > 2) continue;
        if (typeOf(earlier.from, scope, context, variablesOf(body)) !== 'datetime') continue;
        context.report(step, node, {
          message: `A datetime does not move by ${earlier.amount} ms: it keeps .000, .003 and .007 only.`,
          fixes: [
            {
              title: 'Subtract from a datetime2(3)',
              safe: false,
              edits: [replace(earlier.from, `CAST(${context.text(step, earlier.from)} AS datetime2(3))`)],
            },
          ],
        });
      }
    }
  },
};

const suspectIndices = indicesWhere(
  (step) =>
    (step.statement.kind === 'set-variable' && endsDay(step.statement.value)) ||
    step.find('call').some(({ node }) => callName(node) === 'DATEADD'),
);

/** A literal that ends above .998, which rounds up into the next day. */
function endsDay(value: Expression): boolean {
  const inner = bare(value);
  return inner.kind === 'literal' && /23:59:59\.99[89]\d*\s*$/.test(inner.value);
}

function typeOf(
  expression: Expression,
  scope: Scope | null,
  context: RuleContext,
  variables: ReadonlyMap<string, VariableFact>,
): string | null {
  const inner = bare(expression);
  if (inner.kind === 'variable') return variables.get(inner.name.toLowerCase())?.type ?? null;
  return context.tables.type(inner, scope);
}

function checkLiteral(step: Step, context: RuleContext, value: Expression): void {
  const inner = bare(value);
  if (!endsDay(inner)) return;
  const text = context.text(step, inner);
  context.report(step, inner, {
    message: `As a datetime, ${text} is the next day at midnight.`,
    fixes: [
      {
        title: 'Use .997, the last value of the day',
        safe: false,
        edits: [replace(inner, text.replace(/\.99[89]\d*/, '.997'))],
      },
    ],
  });
}
