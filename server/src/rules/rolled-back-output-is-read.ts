import { indicesWhere, stepsAt, stepsWith } from './analysis/selections.ts';
import { type Rule, serverPlatforms } from './engine/rule.ts';

export const rolledBackOutputIsRead: Rule = {
  name: 'rolled-back-output-is-read',
  hazards: ['M21'],
  platforms: serverPlatforms,
  severity: 'info',
  fix: 'none',
  summary: 'A CATCH block counts rows that OUTPUT collected before the rollback.',
  why: 'A table variable keeps its rows after ROLLBACK, so the counts name changes that never happened.',
  help: 'Report counts only after COMMIT.',
  invalid: [
    {
      sql: `CREATE PROCEDURE dw.LoadUnit AS
BEGIN
    SET XACT_ABORT ON;
    DECLARE @changes TABLE (Act nvarchar(10));
    BEGIN TRY
        BEGIN TRANSACTION;
        UPDATE dw.Unit SET Label = 'x' OUTPUT 'UPDATE' INTO @changes WHERE UnitNo = 1;
        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        ROLLBACK TRANSACTION;
        SELECT COUNT(*) AS updated FROM @changes;
        THROW;
    END CATCH;
END;`,
    },
  ],
  valid: [
    {
      sql: `CREATE PROCEDURE dw.LoadUnit AS
BEGIN
    SET XACT_ABORT ON;
    DECLARE @changes TABLE (Act nvarchar(10));
    BEGIN TRY
        BEGIN TRANSACTION;
        UPDATE dw.Unit SET Label = 'x' OUTPUT 'UPDATE' INTO @changes WHERE UnitNo = 1;
        COMMIT TRANSACTION;
        SELECT COUNT(*) AS updated FROM @changes;
    END TRY
    BEGIN CATCH
        ROLLBACK TRANSACTION;
        THROW;
    END CATCH;
END;`,
    },
  ],
  body(body, context) {
    for (const step of stepsAt(body, readingIndices(body))) {
      const filled = new Set(
        stepsWith(body, 'output')
          .filter((other) => other.region === 'try' && other.tryCatch === step.tryCatch)
          .flatMap((other) => other.find('output'))
          .flatMap(({ node }) => (node.into?.kind === 'table-variable' ? [node.into.name.toLowerCase()] : [])),
      );
      const read = step.find('table-variable').find(({ node }) => filled.has(node.name.toLowerCase()));
      if (read === undefined) continue;
      context.report(step, read.node, {
        message: `${read.node.name} still holds the rows of changes that were rolled back.`,
      });
    }
  },
};

const readingIndices = indicesWhere(
  ({ region, statement }) => region === 'catch' && statement.kind === 'select-statement',
);
