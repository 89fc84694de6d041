import { bare } from '../syntax/inspect.ts';
import type { Assignment, Expression } from '../syntax/tree.ts';
import { columnComparisons } from './analysis/comparisons.ts';
import { branchesOf, keyColumns, type MergeFacts, mergesOf } from './analysis/merges.ts';
import { columnName, includes, lists, plainColumn, same } from './analysis/names.ts';
import { isDigestRole, isTechnicalRole } from './analysis/roles.ts';
import { columnsIn, isConstant, setComparison, sourceOfColumn } from './analysis/sides.ts';
import { conjuncts, type Scope, type Step } from './analysis/steps.ts';
import { closingOf } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const columnListsDisagree: Rule = {
  name: 'column-lists-disagree',
  hazards: ['C05'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'none',
  summary: 'The columns that are compared, set and inserted are not the same.',
  why: 'A column that is set but not compared keeps its old value when it alone changes; one that is compared but not set makes the row change on every run; one that is not inserted stays NULL.',
  help: 'Use one list for the comparison, SET and INSERT.',
  invalid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND EXISTS (SELECT s.Label, s.Size EXCEPT SELECT t.Label, t.Size) THEN UPDATE SET Label = s.Label;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND EXISTS (SELECT s.Label, s.Size EXCEPT SELECT t.Label, t.Size) THEN UPDATE SET Label = s.Label, Size = s.Size
WHEN NOT MATCHED THEN INSERT (UnitNo, Label, Size) VALUES (s.UnitNo, s.Label, s.Size);`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      for (const branch of branchesOf(facts.merge, 'matched')) {
        if (branch.action?.kind !== 'merge-update' || branch.action.star) continue;
        const { assignments } = branch.action;
        if (closingOf(assignments, facts.scope, context.tables) !== null) continue;
        compareLists(step, context, facts.scope, branch.condition, assignments, keyColumns(facts));
        compareInsert(step, context, facts, assignments);
      }
    }
    for (const { node, scope } of step.find('update')) {
      if (scope === null || node.from.length === 0 || closingOf(node.assignments, scope, context.tables) !== null)
        continue;
      compareLists(step, context, scope, node.where, node.assignments, []);
    }
  },
};

/** What a change test compares; null when it goes by a digest or can't be read. */
function testedColumns(
  step: Step,
  context: RuleContext,
  scope: Scope,
  condition: Expression | null,
): readonly string[] | null {
  if (condition === null) return null;
  const tested: string[] = [];
  for (const test of columnComparisons(step, context.tables, ['<>', '!='])) {
    if (test.node.start < condition.start || test.node.end > condition.end) continue;
    if (!same(columnName(test.left), columnName(test.right))) continue;
    if (isDigestRole(context.tables.role(test.left, scope))) return null;
    tested.push(columnName(test.left));
  }
  for (const test of conjuncts(condition)) {
    if (test.kind === 'binary' && test.operator === 'OR') continue;
    if (test.kind !== 'exists') continue;
    const sets = setComparison(test.query);
    if (sets === null || sets.operator !== 'EXCEPT') return null;
    for (const expression of [...sets.left, ...sets.right]) {
      // A constant stands for the value that the other side's column is set to.
      if (isConstant(expression)) continue;
      const column = plainColumn(expression);
      if (column === null || isDigestRole(context.tables.role(column, scope))) return null;
      if (!includes(tested, columnName(column))) tested.push(columnName(column));
    }
  }
  // Conditions of other shapes may compare columns in ways that this does not read.
  const read = columnsIn(condition).map(columnName);
  const twice = read.filter((name, index) => read.findIndex((other) => same(other, name)) !== index);
  return twice.every((name) => includes(tested, name)) ? tested : null;
}

function compareLists(
  step: Step,
  context: RuleContext,
  scope: Scope,
  condition: Expression | null,
  assignments: readonly Assignment[],
  keys: readonly string[],
): void {
  const tested = testedColumns(step, context, scope, condition);
  if (tested === null || tested.length === 0 || condition === null) return;
  const set = assignments.flatMap(({ column }) => (column === null ? [] : [columnName(column)]));
  const missing = tested.filter((name) => !includes(set, name) && !includes(keys, name));
  if (missing.length > 0) {
    context.report(step, condition, {
      message: `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} compared but not set, so the row counts as changed on every run.`,
    });
  }
  for (const assignment of assignments) {
    const { column, value } = assignment;
    const source = plainColumn(value);
    if (column === null || source === null || includes(tested, columnName(column))) continue;
    if (!same(columnName(column), columnName(source)) || includes(keys, columnName(column))) continue;
    if (sourceOfColumn(source, scope, context.tables) === scope.target) continue;
    const role = context.tables.role(column, scope);
    if (isTechnicalRole(role) || /modif|updat|creat|load|batch|audit|etl|_by$|user/i.test(columnName(column))) continue;
    const known = context.tables.column(column, scope)?.column.column != null;
    context.report(step, assignment, {
      message: `${columnName(column)} is set but not compared: when it alone changes, the old value stays.`,
      severity: known && role === 'attribute' ? 'warning' : 'info',
    });
  }
}

function compareInsert(step: Step, context: RuleContext, facts: MergeFacts, assignments: readonly Assignment[]): void {
  for (const insert of branchesOf(facts.merge, 'not-matched')) {
    if (insert.action?.kind !== 'merge-insert' || insert.action.star || insert.action.columns.length === 0) continue;
    const { columns } = insert.action;
    for (const { column, value } of assignments) {
      const source = plainColumn(value);
      if (column === null || source === null || lists(columns, columnName(column))) continue;
      if (sourceOfColumn(source, facts.scope, context.tables) === facts.target || bare(value).kind !== 'column')
        continue;
      if (/modif|updat|chang/i.test(columnName(column))) continue;
      context.report(step, insert.action, {
        message: `${columnName(column)} is set on update but not inserted, so it stays NULL in new rows until they change.`,
      });
    }
  }
}
