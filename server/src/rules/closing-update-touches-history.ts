import type { Expression } from '../syntax/tree.ts';
import { addToBranch, addToCondition, oppositeFlag } from './analysis/fixes.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { columnName } from './analysis/names.ts';
import { columnsIn, joinConditions, meet, sourceOfColumn, tableNamesOf } from './analysis/sides.ts';
import { conjuncts, type Scope, type Source, type Step } from './analysis/steps.ts';
import { type Closing, closingOf } from './analysis/versions.ts';
import { allPlatforms, type Edit, type Rule, type RuleContext } from './engine/rule.ts';

export const closingUpdateTouchesHistory: Rule = {
  name: 'closing-update-touches-history',
  hazards: ['M10'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'An update that closes versions is not limited to the current version.',
  why: 'From the third version on, each run stamps the end date of all earlier versions again, so their intervals overlap.',
  help: 'Add the current-row test of the target to the condition.',
  invalid: [
    {
      sql: `UPDATE t SET ValidTo = @now, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE s.HashDiff <> t.HashDiff;`,
    },
  ],
  valid: [
    {
      sql: `UPDATE t SET ValidTo = @now, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE s.HashDiff <> t.HashDiff AND t.IsCurrent = 1;`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('update')) {
      const target = scope?.target;
      if (scope === null || target == null || target.common !== null) continue;
      const closing = closingOf(node.assignments, scope, context.tables);
      if (closing?.end == null) continue;
      const others = scope.sources.filter((source) => source !== target);
      const conditions = [...conjuncts(node.where), ...node.from.flatMap(joinConditions)];
      if (others.length === 0 && closing.flag === null) continue;
      if (namesVersion(conditions, scope, target, context) || readsTargetAgain(others, target)) continue;
      const test = missingTest(step, context, target, closing);
      report(
        step,
        context,
        closing,
        test === null || node.where === null ? [] : addToCondition(node.where, test),
        test,
      );
    }
    for (const facts of mergesOf(step, context.tables)) {
      if (facts.target.common !== null) continue;
      for (const branch of branchesOf(facts.merge, 'matched')) {
        if (branch.action?.kind !== 'merge-update') continue;
        const closing = closingOf(branch.action.assignments, facts.scope, context.tables);
        if (closing?.end == null || closing.flag === null) continue;
        const conditions = [...conjuncts(facts.merge.on), ...conjuncts(branch.condition)];
        if (namesVersion(conditions, facts.scope, facts.target, context)) continue;
        if (readsTargetAgain(facts.sources, facts.target)) continue;
        const test = missingTest(step, context, facts.target, closing);
        report(step, context, closing, test === null ? [] : addToBranch(context, step, branch, test), test);
      }
    }
  },
};

/** A condition reads a column of the target that tells one version from the others. */
function namesVersion(conditions: readonly Expression[], scope: Scope, target: Source, context: RuleContext): boolean {
  return conditions.some((condition) =>
    columnsIn(condition).some((column) => {
      const source = sourceOfColumn(column, scope, context.tables);
      if (source !== null && source !== target) return false;
      const role = context.tables.role(column, scope);
      if (
        role !== null &&
        ['current-flag', 'effective-end', 'effective-start', 'load-date', 'inactive-date'].includes(role)
      ) {
        return true;
      }
      const resolved = context.tables.column(column, scope);
      return (
        resolved?.column.column?.identity === true ||
        /(^|_)(sk|surrogate)|surrogatekey|sk$|rowid/i.test(columnName(column))
      );
    }),
  );
}

/** The update is joined to a selection of the target's own rows, which may have chosen the current ones. */
function readsTargetAgain(others: readonly Source[], target: Source): boolean {
  const own = tableNamesOf(target);
  return others.some((source) => meet(tableNamesOf(source), own));
}

function missingTest(step: Step, context: RuleContext, target: Source, closing: Closing): string | null {
  const { flag, end } = closing;
  const alias = target.alias;
  if (flag?.column != null) {
    const open = oppositeFlag(flag.value, context.text(step, flag.value));
    if (open !== null) return `${alias}.${columnName(flag.column)} = ${open}`;
  }
  const table = context.tables.tableOf(target);
  const column = end?.column == null ? null : columnName(end.column);
  if (column === null || table === null) return null;
  const known = table.columns.find((candidate) => candidate.name.toLowerCase() === column.toLowerCase());
  if (known === undefined) return null;
  return known.nullable
    ? `${alias}.${column} IS NULL`
    : known.default === null
      ? null
      : `${alias}.${column} = ${known.default}`;
}

function report(step: Step, context: RuleContext, closing: Closing, edits: readonly Edit[], test: string | null): void {
  const at = closing.end ?? closing.flag;
  if (at === null) return;
  context.report(step, at, {
    message: 'This closes every version of the key, not only the current one.',
    fixes: edits.length === 0 || test === null ? [] : [{ title: `Add AND ${test}`, safe: true, edits }],
  });
}
