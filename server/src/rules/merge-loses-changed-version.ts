import { isSpark } from '../../../protocol/platform.ts';
import { lastPart } from '../syntax/inspect.ts';
import type { MergeInsert, MergeUpdate } from '../syntax/tree.ts';
import { insertBehind, oppositeFlag } from './analysis/fixes.ts';
import { branchesOf, hasNullKeyUnion, type MergeFacts, mergesOf } from './analysis/merges.ts';
import { columnName, plainColumn, same } from './analysis/names.ts';
import { indexIn, indicesWith, stepsWith } from './analysis/selections.ts';
import { meet, sidesOf, tablesIn } from './analysis/sides.ts';
import { type Body, conjuncts, type Step } from './analysis/steps.ts';
import { type Closing, closingOf, currentTest } from './analysis/versions.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const mergeLosesChangedVersion: Rule = {
  name: 'merge-loses-changed-version',
  hazards: ['M09'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'One MERGE closes the current version of a changed key and nothing opens the new one.',
  why: 'A changed key is matched, so the INSERT branch never sees it: the key loses its current version and does not come back, or comes back one run late with a hole in its history.',
  help: 'Close by UPDATE and then insert the keys without a current version in the same transaction, or give the MERGE each changed row twice, once with a NULL key.',
  invalid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.customer AS t USING stage.customer AS s ON t.customer_no = s.customer_no
WHEN MATCHED AND t.is_current = true AND NOT (t.row_hash <=> s.row_hash)
  THEN UPDATE SET is_current = false, valid_to = current_timestamp()
WHEN NOT MATCHED THEN INSERT (customer_no, row_hash, valid_from, valid_to, is_current)
  VALUES (s.customer_no, s.row_hash, current_timestamp(), NULL, true);`,
    },
  ],
  valid: [
    {
      sql: `DECLARE @now datetime2(6) = SYSUTCDATETIME();
INSERT INTO dw.DimRate (RateCode, Pct, ValidFrom, ValidTo, IsCurrent)
SELECT x.RateCode, x.Pct, @now, '99991231', 1
FROM (
    MERGE dw.DimRate AS t USING stg.Rate AS s ON t.RateCode = s.RateCode AND t.IsCurrent = 1
    WHEN MATCHED AND EXISTS (SELECT s.Pct EXCEPT SELECT t.Pct) THEN UPDATE SET IsCurrent = 0, ValidTo = @now
    WHEN NOT MATCHED BY TARGET THEN INSERT (RateCode, Pct, ValidFrom, ValidTo, IsCurrent)
        VALUES (s.RateCode, s.Pct, @now, '99991231', 1)
    OUTPUT $action, s.RateCode, s.Pct
) AS x (Act, RateCode, Pct)
WHERE x.Act = 'UPDATE';`,
    },
  ],
  body(body, context) {
    for (const step of stepsWith(body, 'merge')) {
      for (const facts of mergesOf(step, context.tables)) {
        if (facts.nested || hasNullKeyUnion(facts)) continue;
        const found = closingBranch(facts, context);
        if (found === null || isCompletedLater(body, step, facts)) continue;
        const onCurrent = facts.others.some(({ current }) => current !== null);
        context.report(step, found.branch, {
          message: onCurrent
            ? 'This branch closes the current version of a changed key; its new version appears one run late.'
            : 'This branch closes the current version of a changed key, and no statement inserts the new one.',
          fixes: insertFix(step, context, facts, found),
        });
      }
    }
  },
};

/** The WHEN MATCHED branch that closes a version because of a change, beside an INSERT branch that opens versions. */
function closingBranch(facts: MergeFacts, context: RuleContext) {
  const insert = branchesOf(facts.merge, 'not-matched').find(({ action }) => action?.kind === 'merge-insert');
  if (insert?.action?.kind !== 'merge-insert') return null;
  for (const branch of branchesOf(facts.merge, 'matched')) {
    const { action } = branch;
    if (action?.kind !== 'merge-update') continue;
    const closing = closingOf(action.assignments, facts.scope, context.tables);
    if (closing === null || overwrites(action, facts, context)) continue;
    const changeTested = conjuncts(branch.condition).some((test) => {
      const sides = sidesOf(test, facts.scope, facts.target, context.tables);
      return (sides.target && sides.source) || test.kind === 'exists';
    });
    const current = facts.others.some((other) => other.current !== null);
    if (changeTested || (current && branch.condition === null)) {
      return { branch, closing, insert: insert.action };
    }
  }
  return null;
}

/** The branch also takes attributes over from the source: the row is updated in place. */
function overwrites(action: MergeUpdate, facts: MergeFacts, context: RuleContext): boolean {
  return action.assignments.some(({ column, value }) => {
    const source = plainColumn(value);
    if (column === null || source === null || !same(columnName(column), columnName(source))) return false;
    const role = context.tables.role(column, facts.scope);
    return role === null || role === 'attribute' || role === 'hashdiff' || role === 'checksum';
  });
}

/** A later statement of the body inserts into the target, or the MERGE's output is inserted there. */
function isCompletedLater(body: Body, step: Step, facts: MergeFacts): boolean {
  const from = indexIn(body, step);
  const own = tablesIn(facts.target.node);
  return indicesWith(body, 'insert', 'merge').some((index) => {
    const later = body.steps[index];
    if (later === undefined || index <= from) return false;
    const inserts = [...later.find('insert'), ...later.find('merge')];
    return inserts.some(({ scope }) => {
      const target = scope?.target;
      return target != null && target !== facts.target && meet(tablesIn(target.node), own);
    });
  });
}

function insertFix(
  step: Step,
  context: RuleContext,
  facts: MergeFacts,
  found: { readonly closing: Closing; readonly insert: MergeInsert },
): readonly FindingFix[] {
  const { merge, target } = facts;
  const [source] = facts.sources;
  const { insert, closing } = found;
  if (source === undefined || facts.sources.length !== 1 || insert.columns.length === 0) return [];
  if (target.node.kind !== 'table' || merge.source === null || merge.with !== null) return [];
  const table = context.text(step, target.node.name);
  const onTests = facts.pairs.map((pair) => context.text(step, pair.test));
  const current = currentCondition(step, context, facts, closing);
  if (current === null) return [];
  const columns = insert.columns.map((column) => context.text(step, column)).join(', ');
  const values = insert.values.map((value) => context.text(step, value)).join(', ');
  const alias = target.node.alias === null ? lastPart(target.node.name).name : context.text(step, target.node.alias);
  const text = `\n\nINSERT INTO ${table} (${columns})
SELECT ${values}
FROM ${context.text(step, merge.source)}
WHERE NOT EXISTS (SELECT 1 FROM ${table} AS ${alias} WHERE ${[...onTests, current].join(' AND ')});`;
  const title = isSpark(context.platform.name)
    ? 'Insert the new versions in a second statement'
    : 'Insert the new versions behind the MERGE';
  return [{ title, safe: false, edits: [insertBehind(context, step, text)] }];
}

function currentCondition(step: Step, context: RuleContext, facts: MergeFacts, closing: Closing): string | null {
  const conditions = [
    ...facts.others.map(({ test }) => test),
    ...facts.merge.branches.flatMap((branch) => conjuncts(branch.condition)),
  ];
  const written = conditions.find((test) => currentTest(test, facts.scope, context.tables)?.source === facts.target);
  if (written !== undefined) return context.text(step, written);
  if (closing.flag?.column == null) return null;
  const open = oppositeFlag(closing.flag.value, context.text(step, closing.flag.value));
  return open === null ? null : `${facts.target.alias}.${columnName(closing.flag.column)} = ${open}`;
}
