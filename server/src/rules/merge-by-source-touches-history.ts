import type { MergeBranch } from '../syntax/tree.ts';
import { addToBranch, oppositeFlag } from './analysis/fixes.ts';
import { branchesOf, type MergeFacts, mergesOf } from './analysis/merges.ts';
import { conjuncts, type Step } from './analysis/steps.ts';
import { closingOf, currentTest } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const mergeBySourceTouchesHistory: Rule = {
  name: 'merge-by-source-touches-history',
  hazards: ['M05'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'WHEN NOT MATCHED BY SOURCE is not limited to current versions.',
  why: 'Every closed version is "not matched by source" too, so each run stamps its end date again or deletes the history.',
  help: 'Write WHEN NOT MATCHED BY SOURCE AND the current-row test.',
  invalid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Item) THROW 50010, N'stage empty', 1;
MERGE dw.DimItem WITH (HOLDLOCK) AS t USING stg.Item AS s ON t.ItemNo = s.ItemNo AND t.IsCurrent = 1
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET IsCurrent = 0, ValidTo = @now;`,
    },
  ],
  valid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Item) THROW 50010, N'stage empty', 1;
MERGE dw.DimItem WITH (HOLDLOCK) AS t USING stg.Item AS s ON t.ItemNo = s.ItemNo AND t.IsCurrent = 1
WHEN NOT MATCHED BY SOURCE AND t.IsCurrent = 1 THEN UPDATE SET IsCurrent = 0, ValidTo = @now;`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      const onCurrent = facts.others.find(({ current }) => current !== null && current.source === facts.target);
      for (const branch of branchesOf(facts.merge, 'not-matched-by-source')) {
        if (testsCurrent(branch, facts, context)) continue;
        const test =
          onCurrent === undefined ? closedBy(step, branch, facts, context) : context.text(step, onCurrent.test);
        if (test === null) continue;
        const deletes = branch.action?.kind === 'merge-delete';
        context.report(step, branch, {
          message: deletes
            ? 'This branch deletes closed versions too: they never match a source row.'
            : 'This branch also takes the versions that are closed already: they never match a source row.',
          fixes:
            test === ''
              ? []
              : [{ title: `Add AND ${test}`, safe: true, edits: addToBranch(context, step, branch, test) }],
        });
      }
    }
  },
};

function testsCurrent(branch: MergeBranch, facts: MergeFacts, context: RuleContext): boolean {
  return conjuncts(branch.condition).some((test) => currentTest(test, facts.scope, context.tables) !== null);
}

/**
 * Where ON has no current-row test: a branch that sets an end date stamps it again on each run. Gives the test that
 * is missing, '' when it can't be told, null when the branch does no harm.
 */
function closedBy(step: Step, branch: MergeBranch, facts: MergeFacts, context: RuleContext): string | null {
  const { action } = branch;
  if (action?.kind !== 'merge-update' || branch.condition !== null) return null;
  const closing = closingOf(action.assignments, facts.scope, context.tables);
  if (closing === null || closing.end === null) return null;
  if (closing.flag?.column == null) return '';
  const open = oppositeFlag(closing.flag.value, context.text(step, closing.flag.value));
  const name = closing.flag.column.parts.at(-1);
  if (open === null || name == null) return '';
  return `${facts.target.alias}.${context.text(step, name)} = ${open}`;
}
