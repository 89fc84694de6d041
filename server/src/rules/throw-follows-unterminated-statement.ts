import { insertAt } from './analysis/fixes.ts';
import { stepsOf } from './analysis/selections.ts';
import { isTerminated, siblingBefore } from './analysis/siblings.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const throwFollowsUnterminatedStatement: Rule = {
  name: 'throw-follows-unterminated-statement',
  hazards: ['P03'],
  platforms: tsqlPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'The statement before THROW does not end with a semicolon.',
  why: 'THROW is no reserved word: behind ROLLBACK TRANSACTION it is read as the name of a transaction, so nothing is rolled back or raised (error 6401); elsewhere the batch does not compile.',
  help: 'End the statement before THROW with a semicolon.',
  judges: 'body',
  invalid: [
    {
      sql: `BEGIN TRY
    UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION
    THROW
END CATCH;`,
    },
  ],
  valid: [
    {
      sql: `BEGIN TRY
    UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;`,
    },
  ],
  body(body, context) {
    for (const step of stepsOf(body, 'throw')) {
      const before = siblingBefore(body, step);
      if (before === null || isTerminated(before, context)) continue;
      const transaction = /\b(?:ROLLBACK|COMMIT|BEGIN|SAVE)(?:\s+TRAN(?:SACTION)?)?\s*$/i.test(
        context.slice(before.step, before.statement.start, before.statement.end),
      );
      context.report(
        step,
        { start: step.statement.start, end: step.statement.start + 5 },
        {
          message: transaction
            ? 'THROW is read as the name of the transaction, so nothing is rolled back or raised.'
            : 'THROW needs a semicolon at the end of the statement before it.',
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
