import { isSpark } from '../../../protocol/platform.ts';
import { detectingSteps, detectionsOf } from './analysis/absences.ts';
import { emptyGuard, indentOf, insertAt } from './analysis/fixes.ts';
import { isGuardedBy } from './analysis/guards.ts';
import { originsOf } from './analysis/sides.ts';
import type { Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { closingOf } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const inactivationLacksStageGuard: Rule = {
  name: 'inactivation-lacks-stage-guard',
  hazards: ['I01'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Rows that are absent from the stage are closed or deleted although the stage may be empty.',
  why: 'When the extract fails and the stage is empty, every row of the target is taken for deleted.',
  help: 'Stop before the statement when the stage holds no rows.',
  judges: 'body',
  invalid: [
    {
      sql: `UPDATE t SET IsCurrent = 0, ValidTo = @now FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  valid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Item)
BEGIN
    THROW 50010, N'empty_stage: stg.Item holds no rows', 1;
END;
UPDATE t SET IsCurrent = 0, ValidTo = @now FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  body(body, context) {
    for (const step of detectingSteps(body, context.tables)) {
      for (const detection of detectionsOf(step, context)) {
        if (!takesAway(step, context) || isGuardedBy(body, step, originsOf(detection.stage, context.tables))) continue;
        const { node } = detection.stage;
        const start = step.statement.start;
        const table = node.kind === 'table' && detection.stage.common === null ? context.text(step, node.name) : null;
        context.report(step, detection.at, {
          message: `When ${sourceText(detection.stage)} is empty, this takes every row of ${sourceText(detection.target)} for deleted.`,
          severity: isSpark(context.platform.name) ? 'info' : 'warning',
          fixes:
            table === null
              ? []
              : [
                  {
                    title: 'Stop the load when the stage is empty',
                    safe: false,
                    edits: [insertAt(start, emptyGuard(context.platform, table, indentOf(context, step, start)))],
                  },
                ],
        });
        break;
      }
    }
  },
};

/** The statement closes, flags or deletes the rows, or writes tombstones for them. */
export function takesAway(step: Step, context: RuleContext): boolean {
  if (step.find('delete').length > 0) return true;
  for (const { node, scope } of step.find('update')) {
    if (closingOf(node.assignments, scope, context.tables) !== null) return true;
    return node.assignments.some(({ column }) => {
      const role = column === null ? null : context.tables.role(column, scope);
      return role === 'inactive-date' || role === 'current-flag' || role === 'technical';
    });
  }
  return step.find('insert').length > 0;
}
