import { detectionsOf, detects } from './analysis/absences.ts';
import { isGuardedBy } from './analysis/guards.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { indicesByTables, stepsAt } from './analysis/selections.ts';
import { tableNamesOf } from './analysis/sides.ts';
import { sourceText } from './analysis/tables.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';
import { takesAway } from './inactivation-lacks-stage-guard.ts';

export const inactivationLacksShareLimit: Rule = {
  name: 'inactivation-lacks-share-limit',
  hazards: ['I02'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'none',
  summary: 'Any number of rows may be closed or deleted as absent in one run.',
  why: 'When half of the extract is missing, half of the target is taken for deleted.',
  help: 'Count the rows that would go first, and stop when their share is above a limit that a parameter may raise.',
  judges: 'body',
  invalid: [
    {
      sql: `UPDATE t SET IsCurrent = 0, ValidTo = @now FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  valid: [
    {
      sql: `DECLARE @current int = (SELECT COUNT(*) FROM dw.Item WHERE IsCurrent = 1);
DECLARE @gone int = (SELECT COUNT(*) FROM dw.Item AS t WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo));
IF @gone > 0.2 * @current
BEGIN
    THROW 50011, N'too many rows would be closed', 1;
END;
UPDATE t SET IsCurrent = 0, ValidTo = @now FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  body(body, context) {
    for (const step of stepsAt(body, takingIndices(body, context.tables))) {
      const [detection] = detectionsOf(step, context);
      if (detection !== undefined && takesAway(step, context)) {
        if (!isGuardedBy(body, step, tableNamesOf(detection.target))) {
          context.report(step, detection.at, {
            message: `Nothing limits the share of ${sourceText(detection.target)} that this may take away.`,
          });
        }
        continue;
      }
      for (const facts of mergesOf(step, context.tables)) {
        const [branch] = branchesOf(facts.merge, 'not-matched-by-source');
        if (branch === undefined || isGuardedBy(body, step, tableNamesOf(facts.target))) continue;
        context.report(step, branch, {
          message: `Nothing limits the share of ${sourceText(facts.target)} that this branch may take away.`,
        });
      }
    }
  },
};

const takingIndices = indicesByTables((step, tables) => step.find('merge').length > 0 || detects(step, tables));
