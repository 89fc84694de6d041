import { bare } from '../syntax/inspect.ts';
import type { Expression, MergeBranch, Select } from '../syntax/tree.ts';
import { addToBranch } from './analysis/fixes.ts';
import { isClock } from './analysis/flow.ts';
import { branchesOf, type MergeFacts, mergesOf } from './analysis/merges.ts';
import { columnName, includes, roleByName } from './analysis/names.ts';
import { columnsIn } from './analysis/sides.ts';
import { conjuncts, type Scope, type Step, scopeOfQuery } from './analysis/steps.ts';
import { currentTest } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const mergeBySourceReadsPart: Rule = {
  name: 'merge-by-source-reads-part',
  hazards: ['M07'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'WHEN NOT MATCHED BY SOURCE judges the whole target by a part of the source.',
  why: 'Rows outside the part (other days, other sources, older changes) are absent from it and are closed or deleted as if they were gone.',
  help: 'Limit the branch to the same part of the target, or judge deletions only by a complete extract.',
  invalid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Ledger) THROW 50010, N'stage empty', 1;
MERGE dw.Ledger WITH (HOLDLOCK) AS t
USING (SELECT LedgerNo, Amount FROM stg.Ledger WHERE LoadDate >= @since) AS s ON t.LedgerNo = s.LedgerNo
WHEN NOT MATCHED BY SOURCE THEN DELETE;`,
    },
    {
      platform: 'delta',
      sql: `MERGE INTO gold.seat AS t USING stage.seat_day AS s ON t.seat_no = s.seat_no AND t.biz_date = DATE'2026-01-02'
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET t.state = 'gone';`,
    },
  ],
  valid: [
    {
      sql: `IF NOT EXISTS (SELECT 1 FROM stg.Ledger) THROW 50010, N'stage empty', 1;
MERGE dw.Ledger WITH (HOLDLOCK) AS t
USING (SELECT LedgerNo, Amount FROM stg.Ledger WHERE SourceSystem = @system) AS s ON t.LedgerNo = s.LedgerNo
WHEN NOT MATCHED BY SOURCE AND t.SourceSystem = @system THEN DELETE;`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      for (const branch of branchesOf(facts.merge, 'not-matched-by-source')) {
        const tested = testedColumns(branch, facts, context);
        const scope = onScope(facts).find(({ columns }) => !columns.some((name) => includes(tested, name)));
        if (scope !== undefined) {
          report(step, context, branch, context.text(step, scope.test), true);
          continue;
        }
        const part = partOfSource(facts, context);
        if (part === null || tested.length > 0) continue;
        report(step, context, branch, context.text(step, part), false);
      }
    }
  },
};

/** Target columns that the branch's condition reads, current-row tests aside. */
function testedColumns(branch: MergeBranch, facts: MergeFacts, context: RuleContext): readonly string[] {
  return conjuncts(branch.condition)
    .filter((test) => currentTest(test, facts.scope, context.tables) === null)
    .flatMap((test) => columnsIn(test).map(columnName));
}

/** Tests in ON that name one slice of the target: a date, a partition, a source system. */
function onScope(facts: MergeFacts) {
  return facts.others
    .filter(({ sides, current, test }) => {
      if (!sides.target || sides.source || sides.unknown || current !== null) return false;
      return test.kind === 'binary' && ['=', '>=', '>', '<', '<='].includes(test.operator);
    })
    .map(({ test }) => ({ test, columns: columnsIn(test).map(columnName) }));
}

/** The condition that makes the source a part of the extract: a watermark, a day, a parameter, TOP. */
function partOfSource(facts: MergeFacts, context: RuleContext): Expression | null {
  const [source] = facts.sources;
  if (source === undefined || facts.sources.length !== 1) return null;
  const query = source.common?.query ?? (source.node.kind === 'derived-table' ? source.node.query : null);
  const inside = query === null ? null : scopeOfQuery(query, source.outer);
  if (inside === null) return null;
  const { select, scope } = inside;
  if (select.top !== null && !select.top.percent && !isOne(select)) return select.top.count;
  return conjuncts(select.where).find((test) => isPart(test, scope, context)) ?? null;
}

function isOne(select: Select): boolean {
  const count = select.top === null ? null : bare(select.top.count);
  return count?.kind === 'literal' && count.value === '1';
}

function isPart(test: Expression, scope: Scope, context: RuleContext): boolean {
  const inner = bare(test);
  if (inner.kind === 'between') return varies(inner.low) || varies(inner.high);
  if (inner.kind !== 'binary' || !['=', '>', '>=', '<', '<='].includes(inner.operator)) return false;
  if (currentTest(inner, scope, context.tables) !== null) return false;
  const value = columnsIn(inner.left).length > 0 ? inner.right : inner.left;
  if (varies(value)) return true;
  // A literal narrows too, where the column is one that loads are cut by.
  const role = columnsIn(inner).map((column) => roleByName(columnName(column)));
  return role.some((name) => name === 'load-date' || name === 'record-source');
}

function varies(value: Expression): boolean {
  const inner = bare(value);
  if (inner.kind === 'variable' || inner.kind === 'subquery' || isClock(inner)) return true;
  if (inner.kind === 'cast') return varies(inner.operand);
  return inner.kind === 'call' && inner.arguments.some(varies);
}

function report(step: Step, context: RuleContext, branch: MergeBranch, test: string, movable: boolean): void {
  context.report(step, branch, {
    message: `The source is judged only where "${test}" holds, but this branch takes rows of the whole target.`,
    fixes: movable ? [{ title: `Add AND ${test}`, safe: false, edits: addToBranch(context, step, branch, test) }] : [],
  });
}
