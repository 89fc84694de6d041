import { insertAt } from './analysis/fixes.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const mergeLacksSemicolon: Rule = {
  name: 'merge-lacks-semicolon',
  hazards: ['M01'],
  platforms: tsqlPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'A MERGE statement must end with a semicolon.',
  why: 'The server refuses the whole batch with error 10713, so nothing of it runs.',
  help: 'End the MERGE with a semicolon.',
  invalid: [
    {
      sql: `MERGE dw.Account WITH (HOLDLOCK) AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo) VALUES (s.AccountNo)
EXEC dw.LogRun;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Account WITH (HOLDLOCK) AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo) VALUES (s.AccountNo);`,
    },
  ],
  statement(step, context) {
    const { statement } = step;
    if (statement.kind !== 'merge' || statement.terminated || statement.branches.length === 0) return;
    context.report(step, statement.branches.at(-1) ?? statement, {
      message: 'This MERGE does not end with a semicolon.',
      fixes: [{ title: 'Add the semicolon', safe: true, edits: [insertAt(statement.end, ';')] }],
    });
  },
};
