import type { Statement } from '../syntax/tree.ts';
import { insertAt } from './analysis/fixes.ts';
import { indicesWhere, stepsAt } from './analysis/selections.ts';
import { isTerminated, siblingBefore } from './analysis/siblings.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const cteFollowsUnterminatedStatement: Rule = {
  name: 'cte-follows-unterminated-statement',
  hazards: ['P04'],
  platforms: tsqlPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'The statement before WITH does not end with a semicolon.',
  why: 'The server reads WITH as a part of the statement before and refuses the batch (error 319).',
  help: 'End the statement before WITH with a semicolon.',
  judges: 'body',
  invalid: [
    {
      sql: `DECLARE @now datetime2(6) = SYSUTCDATETIME()
WITH latest AS (SELECT MemberNo, MAX(ValidFrom) AS ValidFrom FROM dw.DimTier GROUP BY MemberNo)
SELECT MemberNo FROM latest WHERE ValidFrom < @now;`,
    },
  ],
  valid: [
    {
      sql: `DECLARE @now datetime2(6) = SYSUTCDATETIME();
WITH latest AS (SELECT MemberNo, MAX(ValidFrom) AS ValidFrom FROM dw.DimTier GROUP BY MemberNo)
SELECT MemberNo FROM latest WHERE ValidFrom < @now;`,
    },
  ],
  body(body, context) {
    for (const step of stepsAt(body, openingIndices(body))) {
      const clause = withClause(step.statement);
      if (clause === null || clause.start !== step.statement.start) continue;
      const before = siblingBefore(body, step);
      if (before === null || isTerminated(before, context)) continue;
      context.report(
        step,
        { start: clause.start, end: clause.start + 4 },
        {
          message: 'WITH needs a semicolon at the end of the statement before it.',
          fixes: [
            {
              title: 'End the statement before with a semicolon',
              safe: true,
              edits: [{ ...insertAt(before.statement.end, ';'), step: before.step }],
            },
          ],
        },
      );
    }
  },
};

const openingIndices = indicesWhere(({ statement }) => withClause(statement)?.start === statement.start);

function withClause(statement: Statement) {
  if (statement.kind === 'select-statement') return statement.query.with;
  return 'with' in statement ? statement.with : null;
}
