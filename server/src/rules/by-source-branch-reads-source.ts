import { branchesOf, mergesOf } from './analysis/merges.ts';
import { columnName } from './analysis/names.ts';
import { columnsIn, sourceOfColumn } from './analysis/sides.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const bySourceBranchReadsSource: Rule = {
  name: 'by-source-branch-reads-source',
  hazards: ['M16'],
  platforms: allPlatforms,
  severity: 'error',
  fix: 'none',
  summary: 'WHEN NOT MATCHED BY SOURCE reads a column of the source.',
  why: 'There is no source row in this branch, so the server refuses the statement (error 207).',
  help: 'Use target columns, variables or constants only.',
  invalid: [
    {
      sql: `MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED BY SOURCE AND t.Region = s.Region THEN UPDATE SET t.Gone = 1;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED BY SOURCE AND t.Region = @region THEN UPDATE SET t.Gone = 1;`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      for (const branch of branchesOf(facts.merge, 'not-matched-by-source')) {
        const values =
          branch.action?.kind === 'merge-update' ? branch.action.assignments.map(({ value }) => value) : [];
        for (const expression of branch.condition === null ? values : [branch.condition, ...values]) {
          const column = columnsIn(expression, false).find((candidate) => {
            const source = sourceOfColumn(candidate, facts.scope, context.tables);
            return source !== null && facts.sources.includes(source);
          });
          if (column === undefined) continue;
          context.report(step, column, {
            message: `${context.text(step, column)} does not exist here: ${columnName(column)} comes from the source, which has no row in this branch.`,
          });
        }
      }
    }
  },
};
