import { indentOf, insertAt } from './analysis/fixes.ts';
import { setsOption } from './analysis/flow.ts';
import { stepsOf } from './analysis/selections.ts';
import type { Rule } from './engine/rule.ts';

export const transactionLacksXactAbort: Rule = {
  name: 'transaction-lacks-xact-abort',
  hazards: ['P01'],
  platforms: ['sqlserver', 'azuresql', 'synapse'],
  severity: 'warning',
  fix: 'safe',
  summary: 'A transaction is opened without SET XACT_ABORT ON.',
  why: 'Some errors then undo only their own statement and COMMIT keeps half a load; a time-out leaves the transaction open and its locks held.',
  help: 'Write SET XACT_ABORT ON as the first statement.',
  judges: 'body',
  invalid: [
    {
      sql: `BEGIN TRANSACTION;
UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
COMMIT TRANSACTION;`,
    },
  ],
  valid: [
    {
      sql: `SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
COMMIT TRANSACTION;`,
    },
  ],
  body(body, context) {
    const begin = stepsOf(body, 'transaction').find(
      ({ statement }) => statement.kind === 'transaction' && statement.action === 'begin',
    );
    if (begin === undefined || setsOption(body, 'XACT_ABORT', 'ON')) return;
    // A transaction that nothing is written in is no load.
    const writes = body.steps.some(({ statement }) =>
      ['insert', 'update', 'delete', 'merge', 'execute', 'truncate', 'create-table', 'select-statement'].includes(
        statement.kind,
      ),
    );
    const first = body.owner === null ? begin : body.steps[0];
    if (!writes || first === undefined) return;
    const start = first.statement.start;
    context.report(begin, begin.statement, {
      message: 'An error inside this transaction may undo one statement only, and COMMIT then keeps the rest.',
      fixes: [
        {
          title: 'Add SET XACT_ABORT ON',
          safe: true,
          edits: [{ ...insertAt(start, `SET XACT_ABORT ON;\n${indentOf(context, first, start)}`), step: first }],
        },
      ],
    });
  },
};
