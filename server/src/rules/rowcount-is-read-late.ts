import { indicesWhere } from './analysis/selections.ts';
import type { Body, Step } from './analysis/steps.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const rowcountIsReadLate: Rule = {
  name: 'rowcount-is-read-late',
  hazards: ['P02'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'none',
  summary: '@@ROWCOUNT is read after another statement has reset it.',
  why: 'SET, PRINT, IF, DECLARE with a value and BEGIN or COMMIT TRANSACTION reset it, so the count is 0 or 1 whatever the load did.',
  help: 'Read it into a variable in the statement right behind the write; take @@ERROR in the same SELECT.',
  invalid: [
    {
      sql: `DECLARE @error int, @rows int;
UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
SET @error = @@ERROR;
SET @rows = @@ROWCOUNT;`,
    },
  ],
  valid: [
    {
      sql: `DECLARE @error int, @rows int;
UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
SELECT @error = @@ERROR, @rows = @@ROWCOUNT;`,
    },
  ],
  body(body, context) {
    for (const index of countingIndices(body)) {
      const step = body.steps[index];
      const read = step === undefined ? undefined : countRead(step);
      const before = body.steps[index - 1];
      if (step === undefined || read === undefined || before === undefined) continue;
      if (body.batches[index] !== body.batches[index - 1] || before.region !== step.region) continue;
      if (!resets(before) || !followsWrite(body, index)) continue;
      context.report(step, read.node, {
        message: `${describe(before)} has reset @@ROWCOUNT before it is read here.`,
      });
    }
  },
};

const countingIndices = indicesWhere((step) => countRead(step) !== undefined);

function countRead(step: Step) {
  return step.find('variable').find(({ node }) => node.name.toUpperCase() === '@@ROWCOUNT');
}

function resets({ statement }: Step): boolean {
  switch (statement.kind) {
    case 'set-variable':
    case 'set-option':
    case 'print':
    case 'raiserror':
    case 'use':
      return true;
    case 'transaction':
      return true;
    case 'declare':
      return statement.variables.some((variable) => variable.value !== null);
    case 'if':
      return true;
    default:
      return false;
  }
}

/** Between the write and the reading stand only statements that reset the count. */
function followsWrite(body: Body, index: number): boolean {
  for (let at = index - 1; at >= 0; at -= 1) {
    const step = body.steps[at];
    if (step === undefined) return false;
    if (['insert', 'update', 'delete', 'merge'].includes(step.statement.kind)) return true;
    if (!resets(step)) return false;
  }
  return false;
}

function describe({ statement }: Step): string {
  switch (statement.kind) {
    case 'set-variable':
    case 'set-option':
      return 'SET';
    case 'print':
      return 'PRINT';
    case 'transaction':
      return `${statement.action.toUpperCase()} TRANSACTION`;
    case 'if':
      return 'IF';
    case 'raiserror':
      return 'RAISERROR';
    case 'use':
      return 'USE';
    default:
      return 'DECLARE';
  }
}
