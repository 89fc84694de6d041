import type { Expression } from '../syntax/tree.ts';
import { addToCondition } from './analysis/fixes.ts';
import { columnName, plainColumn } from './analysis/names.ts';
import { columnsIn, meet, originsOf, sourceOfColumn } from './analysis/sides.ts';
import { conjuncts, type Scope, type Step } from './analysis/steps.ts';
import { closingOf } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const lateRowClosesNewerVersion: Rule = {
  name: 'late-row-closes-newer-version',
  hazards: ['T08'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: 'A version is closed at a date of the source without a test of the order.',
  why: 'A row that arrives late closes a newer version: its end lies before its start.',
  help: 'Close only versions that start before the new date, or place late rows on the timeline.',
  judges: 'body',
  invalid: [
    {
      ddl: `CREATE TABLE dw.DimTier (MemberNo int NOT NULL, Tier int NULL, ValidFrom datetime2(6) NOT NULL, ValidTo datetime2(6) NULL, IsCurrent bit NOT NULL);`,
      sql: `UPDATE t SET ValidTo = s.EffectiveDate, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.DimTier (MemberNo int NOT NULL, Tier int NULL, ValidFrom datetime2(6) NOT NULL, ValidTo datetime2(6) NULL, IsCurrent bit NOT NULL);`,
      sql: `UPDATE t SET ValidTo = s.EffectiveDate, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND s.EffectiveDate > t.ValidFrom AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('update')) {
      const end = closingOf(node.assignments, scope, context.tables)?.end;
      if (end == null || scope === null || node.where === null) continue;
      check(step, context, scope, end.value, conjuncts(node.where), node.where);
    }
  },
};

function check(
  step: Step,
  context: RuleContext,
  scope: Scope,
  value: Expression,
  conditions: readonly Expression[],
  where: Expression,
): void {
  const from = plainColumn(value);
  const source = from === null ? null : sourceOfColumn(from, scope, context.tables);
  if (from === null || source === null || source === scope.target) return;
  const own = scope.target === null ? new Set<string>() : originsOf(scope.target, context.tables);
  if (meet(originsOf(source, context.tables), own)) return;
  const ordered = conditions.some(
    (condition) =>
      condition.kind === 'binary' &&
      ['<', '<=', '>', '>='].includes(condition.operator) &&
      columnsIn(condition).some((column) => columnName(column).toLowerCase() === columnName(from).toLowerCase()),
  );
  if (ordered) return;
  const start = context.tables.tableOf(scope.target)?.columns.find((column) => column.role === 'effective-start');
  const test =
    start === undefined || scope.target === null
      ? null
      : `${context.text(step, from)} > ${scope.target.alias}.${start.name}`;
  context.report(step, value, {
    message: `${context.text(step, from)} may lie before the start of the version that it closes.`,
    fixes: test === null ? [] : [{ title: `Add AND ${test}`, safe: false, edits: addToCondition(where, test) }],
  });
}
