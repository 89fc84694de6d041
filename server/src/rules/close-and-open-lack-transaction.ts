import { isSpark, isTsql } from '../../../protocol/platform.ts';
import { insertAt, insertBehind } from './analysis/fixes.ts';
import { openTransactions, setsOption } from './analysis/flow.ts';
import { meet, tablesIn } from './analysis/sides.ts';
import type { Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { closingsOf } from './analysis/versions.ts';
import type { Rule, RuleContext } from './engine/rule.ts';

export const closeAndOpenLackTransaction: Rule = {
  name: 'close-and-open-lack-transaction',
  hazards: ['P05'],
  platforms: ['sqlserver', 'azuresql', 'synapse', 'fabric', 'duckdb'],
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Versions are closed and opened by two statements outside a transaction.',
  why: 'When the second statement fails, or a reader comes between the two, changed keys have no current version.',
  help: 'Put both statements into one transaction.',
  invalid: [
    {
      sql: `UPDATE t SET ValidTo = @now, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);
INSERT INTO dw.DimTier (MemberNo, Tier, ValidFrom, IsCurrent)
SELECT s.MemberNo, s.Tier, @now, 1 FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.IsCurrent = 1);`,
    },
  ],
  valid: [
    {
      sql: `SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE t SET ValidTo = @now, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);
INSERT INTO dw.DimTier (MemberNo, Tier, ValidFrom, IsCurrent)
SELECT s.MemberNo, s.Tier, @now, 1 FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.IsCurrent = 1);
COMMIT TRANSACTION;`,
    },
  ],
  body(body, context) {
    const open = openTransactions(body);
    if (setsOption(body, 'IMPLICIT_TRANSACTIONS', 'ON') || isSpark(context.platform.name)) return;
    body.steps.forEach((step, index) => {
      const target = closes(step, context);
      if (target === null || open[index] === true) return;
      const own = tablesIn(target.node);
      const later = body.steps.slice(index + 1).find((other) =>
        other.find('insert').some(({ scope }) => {
          const written = scope?.target;
          return written != null && meet(tablesIn(written.node), own);
        }),
      );
      if (later === undefined || (step.root !== later.root && body.owner !== null)) return;
      const [begin, commit] = isTsql(context.platform.name)
        ? [
            `${setsOption(body, 'XACT_ABORT', 'ON') || context.platform.name === 'fabric' ? '' : 'SET XACT_ABORT ON;\n'}BEGIN TRANSACTION;\n`,
            '\nCOMMIT TRANSACTION;',
          ]
        : ['BEGIN TRANSACTION;\n', '\nCOMMIT;'];
      context.report(step, step.statement, {
        message: `${sourceText(target)} has no current versions of changed keys between this statement and the INSERT behind it.`,
        fixes: [
          {
            title: 'Put both into one transaction',
            safe: false,
            edits: [insertAt(step.statement.start, begin), { ...insertBehind(context, later, commit), step: later }],
          },
        ],
      });
    });
  },
};

function closes(step: Step, context: RuleContext) {
  if (step.statement.kind !== 'update') return null;
  return closingsOf(step, context.tables)[0]?.scope.target ?? null;
}
