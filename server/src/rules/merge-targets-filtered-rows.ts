import { bare } from '../syntax/inspect.ts';
import type { Expression } from '../syntax/tree.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { columnName, lists } from './analysis/names.ts';
import { columnsIn } from './analysis/sides.ts';
import { conjuncts, scopeOfQuery } from './analysis/steps.ts';
import { currentTest } from './analysis/versions.ts';
import { type Rule, serverPlatforms } from './engine/rule.ts';

export const mergeTargetsFilteredRows: Rule = {
  name: 'merge-targets-filtered-rows',
  hazards: ['M08'],
  platforms: serverPlatforms,
  severity: 'warning',
  fix: 'none',
  summary: 'The target of a MERGE is a filtered common table expression.',
  why: 'A key whose row stands outside the filter counts as not matched and is inserted a second time.',
  help: 'Merge into the table itself and put the filter into the WHEN branches, or insert only keys that the whole table does not hold.',
  invalid: [
    {
      sql: `WITH open_accounts AS (SELECT AccountNo, Label FROM dw.Account WHERE ClosedOn > @today)
MERGE open_accounts AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo, Label) VALUES (s.AccountNo, s.Label);`,
    },
  ],
  valid: [
    {
      sql: `WITH north AS (SELECT AccountNo, Label, Region FROM dw.Account WHERE Region = 'N')
MERGE north AS t USING stg.AccountNorth AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo, Label, Region) VALUES (s.AccountNo, s.Label, 'N');`,
    },
  ],
  statement(step, context) {
    for (const { merge, target } of mergesOf(step, context.tables)) {
      if (target.common === null) continue;
      const inside = scopeOfQuery(target.common.query, target.outer);
      const inserts = branchesOf(merge, 'not-matched');
      if (inside === null || inserts.length === 0) continue;
      const tests = conjuncts(inside.select.where);
      const missing = tests.find(
        (test) =>
          !inserts.every(
            ({ action }) =>
              action?.kind === 'merge-insert' &&
              columnsIn(test).some((column) => lists(action.columns, columnName(column))),
          ),
      );
      if (missing === undefined) continue;
      // A flag that keeps the live rows is often meant: the hidden ones are history.
      const current = currentTest(missing, inside.scope, context.tables) !== null || isFlag(missing);
      context.report(step, target.node, {
        message: `"${context.text(step, missing)}" hides rows of the target from this MERGE, and a hidden key is inserted again.`,
        severity: current ? 'info' : 'warning',
      });
    }
  },
};

function isFlag(test: Expression): boolean {
  if (test.kind !== 'binary' || test.operator !== '=') return false;
  const value = bare(test.right);
  return value.kind === 'literal' && /^(0|1|y|n|true|false)$/i.test(value.value);
}
