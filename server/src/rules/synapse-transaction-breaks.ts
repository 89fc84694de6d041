import { bare } from '../syntax/inspect.ts';
import { isTransactionOpen } from './analysis/flow.ts';
import { callName } from './analysis/names.ts';
import { indicesOf, indicesWhere } from './analysis/selections.ts';
import type { Rule } from './engine/rule.ts';

const errorFunctions = ['ERROR_MESSAGE', 'ERROR_NUMBER', 'ERROR_STATE', 'ERROR_SEVERITY', 'ERROR_PROCEDURE'];
const definitions = ['create-table', 'alter-table', 'drop', 'create-view', 'create-index', 'rename', 'create-schema'];

export const synapseTransactionBreaks: Rule = {
  name: 'synapse-transaction-breaks',
  hazards: ['P11'],
  platforms: ['synapse'],
  severity: 'error',
  fix: 'none',
  summary: 'Transaction code uses what a Synapse dedicated pool does not allow.',
  why: 'After an error only ROLLBACK is allowed (111233), so the handler itself fails; DDL, savepoints and named transactions are refused.',
  help: 'Roll back first, then read ERROR_MESSAGE(); keep DDL outside of transactions.',
  judges: 'body',
  invalid: [
    {
      platform: 'synapse',
      sql: `SET XACT_ABORT ON;
BEGIN TRANSACTION;
BEGIN TRY
    UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
    COMMIT;
END TRY
BEGIN CATCH
    DECLARE @message nvarchar(4000) = ERROR_MESSAGE();
    ROLLBACK;
    THROW 50010, @message, 1;
END CATCH;`,
    },
    { platform: 'synapse', sql: `SET XACT_ABORT ON;\nBEGIN TRANSACTION;\nCREATE TABLE #t (UnitNo int);\nCOMMIT;` },
  ],
  valid: [
    {
      platform: 'synapse',
      sql: `SET XACT_ABORT ON;
BEGIN TRANSACTION;
BEGIN TRY
    UPDATE dw.Unit SET Label = 'x' WHERE UnitNo = 1;
    COMMIT;
END TRY
BEGIN CATCH
    ROLLBACK;
    THROW;
END CATCH;`,
    },
  ],
  body(body, context) {
    for (const index of suspectIndices(body)) {
      const step = body.steps[index];
      if (step === undefined) continue;
      const { statement } = step;
      if (definitions.includes(statement.kind) && isTransactionOpen(body, index) && step.region !== 'catch') {
        context.report(step, statement, { message: 'DDL is not allowed inside a transaction on Synapse.' });
      }
      if (
        statement.kind === 'transaction' &&
        (statement.action === 'save' || (statement.action === 'begin' && statement.name !== null))
      ) {
        context.report(step, statement, {
          message: `${statement.action === 'save' ? 'Savepoints' : 'Named transactions'} are not supported on Synapse.`,
        });
      }
      if (statement.kind === 'throw') {
        const number = statement.arguments[0] === undefined ? null : bare(statement.arguments[0]);
        const value = number?.kind === 'literal' ? Number(number.value) : 0;
        if (value >= 100_000 && value <= 150_000) {
          context.report(step, statement, { message: 'Synapse refuses THROW with a number from 100000 to 150000.' });
        }
      }
      if (step.region !== 'catch') continue;
      const reads = step.find('call').find(({ node }) => errorFunctions.includes(callName(node)));
      if (reads === undefined) continue;
      const ends = indicesOf(body, 'transaction').filter((at) => {
        const other = body.steps[at];
        return other?.tryCatch === step.tryCatch && other.region === 'catch';
      });
      const rolledBack = ends.some((at) => at < index);
      if (!rolledBack && ends.some((at) => at > index)) {
        context.report(step, reads.node, {
          message: `${callName(reads.node)} is read before ROLLBACK, which fails on Synapse after an error.`,
        });
      }
    }
  },
};

const suspectIndices = indicesWhere(
  ({ statement, region }) =>
    region === 'catch' ||
    statement.kind === 'transaction' ||
    statement.kind === 'throw' ||
    definitions.includes(statement.kind),
);
