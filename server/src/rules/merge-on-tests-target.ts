import { addToBranch, removeCondition } from './analysis/fixes.ts';
import { branchesOf, type MergeFacts, mergesOf, type OnTest } from './analysis/merges.ts';
import { columnName, includes, lists } from './analysis/names.ts';
import { columnsIn } from './analysis/sides.ts';
import type { Step } from './analysis/steps.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const mergeOnTestsTarget: Rule = {
  name: 'merge-on-tests-target',
  hazards: ['M04'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'The ON condition of a MERGE tests a target column that the source does not take part in.',
  why: 'A target row that fails the test counts as not matched: its key is inserted again on every run, or WHEN NOT MATCHED BY SOURCE takes every row that fails it.',
  help: 'Keep ON to key = key and put the test into WHEN MATCHED AND …, or compare the column with the source too.',
  invalid: [
    {
      sql: `MERGE dw.Shop WITH (HOLDLOCK) AS t USING stg.Shop AS s ON t.ShopNo = s.ShopNo AND t.Region <> 'X'
WHEN MATCHED AND EXISTS (SELECT s.Label EXCEPT SELECT t.Label) THEN UPDATE SET Label = s.Label
WHEN NOT MATCHED THEN INSERT (ShopNo, Label, Region) VALUES (s.ShopNo, s.Label, s.Region);`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Shop WITH (HOLDLOCK) AS t USING stg.Shop AS s ON t.ShopNo = s.ShopNo
WHEN MATCHED AND t.Region <> 'X' AND EXISTS (SELECT s.Label EXCEPT SELECT t.Label) THEN UPDATE SET Label = s.Label
WHEN NOT MATCHED THEN INSERT (ShopNo, Label, Region) VALUES (s.ShopNo, s.Label, s.Region);`,
    },
    {
      platform: 'delta',
      sql: `MERGE INTO gold.seat t USING stage.seat s
ON t.seat_no = s.seat_no AND t.biz_date = s.biz_date AND t.biz_date = DATE'2026-01-02'
WHEN NOT MATCHED THEN INSERT (seat_no, biz_date) VALUES (s.seat_no, s.biz_date);`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      const { merge } = facts;
      const takesRest =
        branchesOf(merge, 'not-matched').length > 0 || branchesOf(merge, 'not-matched-by-source').length > 0;
      if (!takesRest || facts.pairs.length === 0) continue;
      for (const test of facts.others) {
        if (!isTargetOnly(test) || isScoped(step, context, facts, test)) continue;
        report(step, context, facts, test);
      }
    }
  },
};

function isTargetOnly(test: OnTest): boolean {
  return test.sides.target && !test.sides.source && !test.sides.unknown && test.current === null;
}

/** The column is compared with the source as well, or every inserted row gets the tested value. */
function isScoped(step: Step, context: RuleContext, facts: MergeFacts, { test }: OnTest): boolean {
  const columns = columnsIn(test).map(columnName);
  if (
    columns.some((name) =>
      includes(
        facts.pairs.map((pair) => columnName(pair.target)),
        name,
      ),
    )
  )
    return true;
  const inserts = branchesOf(facts.merge, 'not-matched');
  if (inserts.length === 0 || test.kind !== 'binary' || test.operator !== '=') return false;
  const value = context.text(step, columnsIn(test.left).length > 0 ? test.right : test.left).toLowerCase();
  return inserts.every(({ action }) => {
    if (action?.kind !== 'merge-insert') return false;
    const index = action.columns.findIndex((column) => includes(columns, column.name));
    const inserted = action.values[index];
    return inserted !== undefined && context.text(step, inserted).toLowerCase() === value;
  });
}

function report(step: Step, context: RuleContext, facts: MergeFacts, { test }: OnTest): void {
  const { merge } = facts;
  const text = context.text(step, test);
  const removal = merge.on === null ? null : removeCondition(merge.on, test);
  const matched = [...branchesOf(merge, 'matched'), ...branchesOf(merge, 'not-matched-by-source')];
  // A key that was deleted softly and comes back is often meant to be inserted as a new row.
  const soft = columnsIn(test).some((column) => /del|inactive|active|status|void|cancel/i.test(columnName(column)));
  const insertsKey = branchesOf(merge, 'not-matched').some(
    ({ action }) =>
      action?.kind === 'merge-insert' && facts.pairs.some((pair) => lists(action.columns, columnName(pair.target))),
  );
  context.report(step, test, {
    message: insertsKey
      ? `"${text}" stands in ON: keys whose target row fails it are inserted again.`
      : `"${text}" stands in ON: target rows that fail it count as not matched.`,
    severity: soft ? 'info' : 'warning',
    fixes:
      removal === null
        ? []
        : [
            {
              title: 'Move the test into the WHEN branches',
              safe: false,
              edits: [removal, ...matched.flatMap((branch) => addToBranch(context, step, branch, text))],
            },
          ],
  });
}
