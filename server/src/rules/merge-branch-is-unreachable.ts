import { isTsql } from '../../../protocol/platform.ts';
import { mergesOf } from './analysis/merges.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const mergeBranchIsUnreachable: Rule = {
  name: 'merge-branch-is-unreachable',
  hazards: ['M12'],
  platforms: allPlatforms,
  severity: 'error',
  fix: 'none',
  summary: 'A WHEN branch without a condition stands before another branch of its kind.',
  why: 'The first branch takes every row, so the server refuses the statement: only the last branch of a kind may lack a condition.',
  help: 'Give the earlier branch a condition, or move it behind the others.',
  invalid: [
    {
      sql: `MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED THEN UPDATE SET Label = s.Label
WHEN MATCHED AND s.Gone = 1 THEN DELETE;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND s.Gone = 1 THEN DELETE
WHEN MATCHED THEN UPDATE SET Label = s.Label;`,
    },
  ],
  statement(step, context) {
    // DuckDB runs such a MERGE and simply never takes the later branch.
    const severity = isTsql(context.platform.name) || context.platform.name !== 'duckdb' ? 'error' : 'warning';
    for (const { merge } of mergesOf(step, context.tables)) {
      merge.branches.forEach((branch, index) => {
        const before = merge.branches
          .slice(0, index)
          .find((other) => other.match === branch.match && other.condition === null);
        if (before === undefined) return;
        context.report(step, branch, {
          message: 'No row reaches this branch: an earlier one of its kind has no condition.',
          severity,
        });
      });
    }
  },
};
