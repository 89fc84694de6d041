import { isSpark } from '../../../protocol/platform.ts';
import { lastPart } from '../syntax/inspect.ts';
import { emptyGuard, indentOf, insertAt } from './analysis/fixes.ts';
import { isGuardedBy } from './analysis/guards.ts';
import { branchesOf, isLiteralSource, type MergeFacts, mergesOf } from './analysis/merges.ts';
import { stepsWith } from './analysis/selections.ts';
import { meet, originsOf, tablesIn } from './analysis/sides.ts';
import type { Body, Source, Step } from './analysis/steps.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const mergeBySourceLacksStageGuard: Rule = {
  name: 'merge-by-source-lacks-stage-guard',
  hazards: ['M06'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'WHEN NOT MATCHED BY SOURCE runs although the stage may be empty.',
  why: 'When the extract fails and the stage is empty, every row of the target is deleted or closed.',
  help: 'Stop before the MERGE when the stage holds no rows, and limit the share of rows that one run may take away.',
  judges: 'body',
  invalid: [
    {
      sql: `MERGE ref.Status WITH (HOLDLOCK) AS t USING stg.Status AS s ON t.StatusCode = s.StatusCode
WHEN NOT MATCHED BY SOURCE THEN DELETE;`,
    },
  ],
  valid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Status)
BEGIN
    THROW 50010, N'empty_stage: stg.Status holds no rows', 1;
END;
MERGE ref.Status WITH (HOLDLOCK) AS t USING stg.Status AS s ON t.StatusCode = s.StatusCode
WHEN NOT MATCHED BY SOURCE THEN DELETE;`,
    },
    {
      sql: `MERGE ref.Status WITH (HOLDLOCK) AS t USING (VALUES (1), (2)) AS s (StatusCode) ON t.StatusCode = s.StatusCode
WHEN NOT MATCHED BY SOURCE THEN DELETE;`,
    },
  ],
  body(body, context) {
    for (const step of stepsWith(body, 'merge')) {
      for (const facts of mergesOf(step, context.tables)) {
        const [branch] = branchesOf(facts.merge, 'not-matched-by-source');
        if (branch === undefined || branch.action?.kind === 'merge-nothing') continue;
        const names = new Set(facts.sources.flatMap((source) => [...originsOf(source, context.tables)]));
        if (
          names.size === 0 ||
          facts.sources.every((source) => isLiteralSource(source) || isFilledWithLiterals(body, source)) ||
          isGuardedBy(body, step, names)
        )
          continue;
        context.report(step, branch, {
          message: `An empty source makes this branch ${branch.action?.kind === 'merge-delete' ? 'delete' : 'take'} every target row that it may reach.`,
          // A Spark SQL script has no IF; the guard then usually stands in the job around it.
          severity: isSpark(context.platform.name) ? 'info' : 'warning',
          fixes: guardFix(step, context, facts),
        });
      }
    }
  },
};

/** A table variable or temporary table that the script itself fills with VALUES is never empty by accident. */
function isFilledWithLiterals(body: Body, { node }: Source): boolean {
  const local = node.kind === 'table-variable' || (node.kind === 'table' && lastPart(node.name).name.startsWith('#'));
  if (!local) return false;
  const fills = stepsWith(body, 'insert')
    .flatMap((step) => step.find('insert'))
    .filter(({ node: insert }) => meet(tablesIn(insert.target), tablesIn(node)));
  return fills.some(({ node: { source } }) => source.kind === 'query' && source.body.kind === 'values');
}

function guardFix(step: Step, context: RuleContext, facts: MergeFacts): readonly FindingFix[] {
  const [source] = facts.sources;
  const query = source?.node.kind === 'derived-table' ? source.node.query.body : null;
  const table = source?.node.kind === 'table' ? source.node : query?.kind === 'select' ? query.from[0] : undefined;
  if (table?.kind !== 'table' || source?.common != null) return [];
  const start = step.statement.start;
  const guard = emptyGuard(context.platform, context.text(step, table.name), indentOf(context, step, start));
  return [{ title: 'Stop the load when the stage is empty', safe: false, edits: [insertAt(start, guard)] }];
}
