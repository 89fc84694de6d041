import { isSpark, isTsql } from '../../../protocol/platform.ts';
import { insertAt, insertBehind } from './analysis/fixes.ts';
import { isTransactionOpen, setsOption } from './analysis/flow.ts';
import { memo } from './analysis/memo.ts';
import { indexIn, indicesWhere } from './analysis/selections.ts';
import { meet, type TableNames, tablesIn } from './analysis/sides.ts';
import type { Body, Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { closingSteps, closingsOf } from './analysis/versions.ts';
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
  judges: 'body',
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
    if (setsOption(body, 'IMPLICIT_TRANSACTIONS', 'ON') || isSpark(context.platform.name)) return;
    const inserting = insertingIndices(body);
    for (const step of closingSteps(body, context.tables)) {
      const target = closes(step, context);
      if (target === null) continue;
      const index = indexIn(body, step);
      if (isTransactionOpen(body, index)) continue;
      const own = tablesIn(target.node);
      const next = inserting.find((at) => at > index && targetsAt(body, at).some((tables) => meet(tables, own)));
      const later = next === undefined ? undefined : body.steps[next];
      if (later === undefined || (step.root !== later.root && body.owner !== null)) continue;
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
    }
  },
};

const insertingIndices = indicesWhere((step) => step.find('insert').length > 0);

/** The tables that each INSERT of a step writes. */
const insertTargets = memo((step: Step): readonly TableNames[] =>
  step.find('insert').flatMap(({ scope }) => (scope?.target == null ? [] : [tablesIn(scope.target.node)])),
);

function targetsAt(body: Body, index: number): readonly TableNames[] {
  const step = body.steps[index];
  return step === undefined ? [] : insertTargets(step);
}

function closes(step: Step, context: RuleContext) {
  if (step.statement.kind !== 'update') return null;
  return closingsOf(step, context.tables)[0]?.scope.target ?? null;
}
