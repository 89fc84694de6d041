import { nameFits } from '../model/names.ts';
import { tableNameOf } from '../syntax/inspect.ts';
import type { Output, WriteTarget } from '../syntax/tree.ts';
import { mergesOf } from './analysis/merges.ts';
import type { Step } from './analysis/steps.ts';
import { type Rule, type RuleContext, serverPlatforms } from './engine/rule.ts';

export const outputMeetsTrigger: Rule = {
  name: 'output-meets-trigger',
  hazards: ['M18'],
  platforms: serverPlatforms,
  severity: 'error',
  fix: 'none',
  summary: 'OUTPUT without INTO stands on a table that has a trigger for the same action.',
  why: 'The server refuses the statement (error 334).',
  help: 'Write OUTPUT … INTO a table variable or a temporary table and read the rows from there.',
  invalid: [
    {
      ddl: `CREATE TRIGGER dw.trUnit ON dw.Unit AFTER UPDATE AS SET NOCOUNT ON;`,
      sql: `UPDATE dw.Unit SET Label = 'x' OUTPUT inserted.UnitNo WHERE UnitNo = 1;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TRIGGER dw.trUnit ON dw.Unit AFTER UPDATE AS SET NOCOUNT ON;`,
      sql: `DECLARE @changed TABLE (UnitNo int);
UPDATE dw.Unit SET Label = 'x' OUTPUT inserted.UnitNo INTO @changed WHERE UnitNo = 1;`,
    },
  ],
  statement(step, context) {
    for (const { merge } of mergesOf(step, context.tables)) {
      const actions = merge.branches.flatMap(({ action }) =>
        action === null ? [] : [action.kind.replace('merge-', '').toUpperCase()],
      );
      check(step, context, merge.target, merge.output, actions);
    }
    for (const kind of ['insert', 'update', 'delete'] as const) {
      for (const { node } of step.find(kind)) check(step, context, node.target, node.output, [kind.toUpperCase()]);
    }
  },
};

function check(
  step: Step,
  context: RuleContext,
  target: WriteTarget,
  output: readonly Output[],
  actions: readonly string[],
): void {
  const open = output.find((clause) => clause.into === null);
  if (open === undefined || target.kind !== 'table') return;
  const name = tableNameOf(target.name);
  const trigger = context.tables.objects.triggers.find(
    (candidate) =>
      nameFits(name, candidate.table) && candidate.events.some((event) => actions.includes(event.toUpperCase())),
  );
  if (trigger === undefined) return;
  context.report(step, open, {
    message: `OUTPUT needs INTO here: ${context.text(step, target.name)} has the trigger ${trigger.name}.`,
  });
}
