import type { TryCatch } from '../syntax/tree.ts';
import { indentOf, insertAt } from './analysis/fixes.ts';
import { indicesWhere, stepsAt } from './analysis/selections.ts';
import type { Step } from './analysis/steps.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const catchSwallowsError: Rule = {
  name: 'catch-swallows-error',
  hazards: ['P12'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A CATCH block around writes ends without raising the error again.',
  why: 'The job that runs the load sees success, and the next steps work on half-loaded tables.',
  help: 'End the CATCH block with THROW.',
  invalid: [
    {
      sql: `BEGIN TRY
    INSERT INTO dw.Unit (UnitNo) SELECT s.UnitNo FROM stg.Unit AS s;
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
END CATCH;`,
    },
  ],
  valid: [
    {
      sql: `BEGIN TRY
    INSERT INTO dw.Unit (UnitNo) SELECT s.UnitNo FROM stg.Unit AS s;
END TRY
BEGIN CATCH
    PRINT ERROR_MESSAGE();
    THROW;
END CATCH;`,
    },
  ],
  body(body, context) {
    const steps = stepsAt(body, guardedIndices(body));
    const blocks = new Set(steps.flatMap(({ tryCatch }) => tryCatch ?? []));
    for (const block of blocks) {
      const tried = steps.filter((step) => step.tryCatch === block && step.region === 'try');
      const caught = steps.filter((step) => isInside(step, block));
      const writes = tried.some(({ statement }) => ['insert', 'update', 'delete', 'merge'].includes(statement.kind));
      const last = caught.at(-1);
      if (!writes || last === undefined || caught.some(passesOn)) continue;
      // A procedure that is called may raise the error itself.
      const calls = caught.some(({ statement }) => statement.kind === 'execute');
      const final = block.catch.at(-1);
      if (final === undefined) continue;
      const text = context.slice(last, final.end - 1, final.end + 1);
      const indent = indentOf(context, last, final.start);
      const end = final.end + (text.endsWith(';') && !text.startsWith(';') ? 1 : 0);
      context.report(last, final, {
        message: 'The error ends here: whoever runs this load sees success.',
        severity: calls ? 'info' : 'warning',
        fixes: [
          {
            title: 'Raise the error again',
            safe: false,
            edits: [{ ...insertAt(end, `${text.includes(';') ? '' : ';'}\n${indent}THROW;`), step: last }],
          },
        ],
      });
    }
  },
};

const guardedIndices = indicesWhere((step) => step.tryCatch !== null);

function isInside(step: Step, block: TryCatch): boolean {
  const [first] = block.catch;
  const last = block.catch.at(-1);
  return (
    first !== undefined &&
    last !== undefined &&
    step.statement.start >= first.start &&
    step.statement.end <= last.end &&
    (step.tryCatch === block ? step.region === 'catch' : true)
  );
}

/** Raises, returns a code, or keeps the error for later. */
function passesOn({ statement }: Step): boolean {
  if (statement.kind === 'return') return statement.value !== null;
  // A variable that keeps the error may be raised behind the block.
  return ['throw', 'raiserror', 'goto', 'set-variable'].includes(statement.kind);
}
