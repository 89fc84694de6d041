import { branchesOf, mergesOf } from './analysis/merges.ts';
import { type Rule, sparkPlatforms } from './engine/rule.ts';

export const bySourceBranchRewritesTable: Rule = {
  name: 'by-source-branch-rewrites-table',
  hazards: ['D05'],
  platforms: sparkPlatforms,
  severity: 'warning',
  fix: 'none',
  summary: 'WHEN NOT MATCHED BY SOURCE has no condition.',
  why: 'Delta reads and rewrites the whole table, and jobs that touch other rows conflict with it.',
  help: 'Add a condition that names the rows it may take: the partition, the active ones.',
  invalid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.seat AS t USING stage.seat AS s ON t.seat_no = s.seat_no
WHEN NOT MATCHED BY SOURCE THEN DELETE;`,
    },
  ],
  valid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.seat AS t USING stage.seat AS s ON t.seat_no = s.seat_no
WHEN NOT MATCHED BY SOURCE AND t.state = 'active' THEN UPDATE SET t.state = 'gone';`,
    },
  ],
  statement(step, context) {
    for (const { merge } of mergesOf(step, context.tables)) {
      for (const branch of branchesOf(merge, 'not-matched-by-source')) {
        if (branch.condition !== null) continue;
        context.report(step, branch, {
          message: 'Without a condition this branch makes Delta rewrite the whole table.',
        });
      }
    }
  },
};
