import { bare } from '../syntax/inspect.ts';
import type { Assignment } from '../syntax/tree.ts';
import { detectingSteps } from './analysis/absences.ts';
import { insertAt } from './analysis/fixes.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { columnName, same } from './analysis/names.ts';
import { stepsWith } from './analysis/selections.ts';
import { meet, tablesIn } from './analysis/sides.ts';
import type { Body, Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { tombstoneOf } from './analysis/tombstones.ts';
import { closingOf, closingSteps } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const returningKeyStaysClosed: Rule = {
  name: 'returning-key-stays-closed',
  hazards: ['T10'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Nothing reopens a key that comes back after it was inactivated.',
  why: 'A key that is delivered again stays marked as deleted, or keeps its open tombstone beside the new version.',
  help: 'Reset the flag of rows that are delivered again, or close the tombstone and open a new version.',
  invalid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Item) THROW 50010, N'stage empty', 1;
MERGE dw.Item WITH (HOLDLOCK) AS t USING stg.Item AS s ON t.ItemNo = s.ItemNo
WHEN MATCHED AND EXISTS (SELECT s.Label EXCEPT SELECT t.Label) THEN UPDATE SET Label = s.Label
WHEN NOT MATCHED THEN INSERT (ItemNo, Label, IsActive) VALUES (s.ItemNo, s.Label, 1)
WHEN NOT MATCHED BY SOURCE AND t.IsActive = 1 THEN UPDATE SET IsActive = 0;`,
    },
  ],
  valid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Item) THROW 50010, N'stage empty', 1;
MERGE dw.Item WITH (HOLDLOCK) AS t USING stg.Item AS s ON t.ItemNo = s.ItemNo
WHEN MATCHED AND EXISTS (SELECT s.Label, 1 EXCEPT SELECT t.Label, t.IsActive) THEN UPDATE SET Label = s.Label, IsActive = 1
WHEN NOT MATCHED THEN INSERT (ItemNo, Label, IsActive) VALUES (s.ItemNo, s.Label, 1)
WHEN NOT MATCHED BY SOURCE AND t.IsActive = 1 THEN UPDATE SET IsActive = 0;`,
    },
  ],
  body(body, context) {
    for (const step of detectingSteps(body, context.tables)) {
      const tombstone = tombstoneOf(step, context);
      if (tombstone !== null && !closesElsewhere(body, step, context)) {
        const { target } = tombstone.detection;
        context.report(step, tombstone.detection.at, {
          message: `No statement here closes the tombstone when a key of ${sourceText(target)} comes back.`,
          // Another script may do that; this one cannot show it.
          severity: 'info',
        });
      }
    }
    for (const step of stepsWith(body, 'merge')) {
      for (const facts of mergesOf(step, context.tables)) {
        for (const branch of branchesOf(facts.merge, 'not-matched-by-source')) {
          if (branch.action?.kind !== 'merge-update') continue;
          const flag = softFlag(branch.action.assignments);
          if (flag === null || flag.column === null || facts.others.some(({ current }) => current !== null)) continue;
          const matched = branchesOf(facts.merge, 'matched');
          const name = columnName(flag.column);
          const inserts = branchesOf(facts.merge, 'not-matched').length > 0;
          if (!inserts || resets(body, name, branch.action.assignments)) continue;
          const update = matched.find(({ action }) => action?.kind === 'merge-update')?.action;
          const last = update?.kind === 'merge-update' ? update.assignments.at(-1) : undefined;
          context.report(step, flag, {
            message: `${name} is never set back, so a key that comes back stays inactive.`,
            fixes:
              last === undefined
                ? []
                : [
                    {
                      title: `Set ${name} back where a row is delivered`,
                      safe: false,
                      edits: [
                        insertAt(
                          last.end,
                          `, ${context.text(step, flag.column)} = ${opposite(context.text(step, flag.value))}`,
                        ),
                      ],
                    },
                  ],
          });
        }
      }
    }
  },
};

function softFlag(assignments: readonly Assignment[]): Assignment | null {
  return (
    assignments.find(({ column, value }) => {
      if (column === null || bare(value).kind !== 'literal') return false;
      return /^(is_?)?(active|deleted|current|inactive)(_?(flag|ind|yn))?$|_active$|_deleted$|^(delete|active|current)_?(flag|ind)$/i.test(
        columnName(column),
      );
    }) ?? null
  );
}

function opposite(text: string): string {
  const values: Readonly<Record<string, string>> = {
    '0': '1',
    '1': '0',
    "'Y'": "'N'",
    "'N'": "'Y'",
    true: 'false',
    false: 'true',
  };
  return values[text] ?? text;
}

/** Another assignment of the body sets the column. */
function resets(body: Body, name: string, own: readonly Assignment[]): boolean {
  return stepsWith(body, 'assignment').some((other) =>
    other
      .find('assignment')
      .some(({ node }) => node.column !== null && same(columnName(node.column), name) && !own.includes(node)),
  );
}

function closesElsewhere(body: Body, step: Step, context: RuleContext): boolean {
  const target = step.find('insert')[0]?.scope?.target;
  const own = target == null ? new Set<string>() : tablesIn(target.node);
  return closingSteps(body, context.tables).some((other) =>
    [...other.find('update'), ...other.find('merge-update')].some(
      ({ node, scope }) =>
        scope?.target != null &&
        meet(tablesIn(scope.target.node), own) &&
        closingOf(node.assignments, scope, context.tables) !== null,
    ),
  );
}
