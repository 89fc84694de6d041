import { addToBranch, anyDifferent } from './analysis/fixes.ts';
import { branchesOf, keyColumns, type MergeFacts, mergesOf } from './analysis/merges.ts';
import { columnName, includes, plainColumn } from './analysis/names.ts';
import { meet, originsOf, sourceOfColumn } from './analysis/sides.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const mergeUpdatesUnchangedRows: Rule = {
  name: 'merge-updates-unchanged-rows',
  hazards: ['M29'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: 'WHEN MATCHED updates without a change test.',
  why: 'Every matched row is rewritten: the counts say "updated" for rows that did not change, the log grows, and change feeds and history tables fill with copies.',
  help: 'Add a null-safe comparison of the columns that are set.',
  invalid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED THEN UPDATE SET Label = s.Label;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND EXISTS (SELECT s.Label EXCEPT SELECT t.Label) THEN UPDATE SET Label = s.Label;`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      for (const branch of branchesOf(facts.merge, 'matched')) {
        const { action } = branch;
        if (branch.condition !== null || action?.kind !== 'merge-update') continue;
        if (facts.others.some(({ sides }) => sides.source && sides.target)) continue;
        if (choosesChanges(facts, context)) continue;
        const pairs: (readonly [string, string])[] = [];
        for (const { column, value } of action.assignments) {
          const source = plainColumn(value);
          if (column === null || source === null || includes(keyColumns(facts), columnName(column))) continue;
          if (sourceOfColumn(source, facts.scope, context.tables) === facts.target) continue;
          const qualified =
            column.parts.length > 1
              ? context.text(step, column)
              : `${facts.target.alias}.${context.text(step, column)}`;
          pairs.push([context.text(step, source), qualified]);
        }
        if (pairs.length === 0 && !action.star) continue;
        context.report(step, branch, {
          message: 'This branch rewrites every matched row, changed or not.',
          fixes:
            pairs.length === 0
              ? []
              : [
                  {
                    title: 'Add a change test',
                    safe: false,
                    edits: addToBranch(context, step, branch, anyDifferent(context.platform, pairs)),
                  },
                ],
        });
      }
    }
  },
};

/** A source that reads the target may hold changed rows only. */
function choosesChanges(facts: MergeFacts, context: RuleContext): boolean {
  const own = originsOf(facts.target, context.tables);
  return facts.sources.some((source) => meet(originsOf(source, context.tables), own));
}
