import { bare } from '../syntax/inspect.ts';
import type { Expression, MergeBranch } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { mergesOf } from './analysis/merges.ts';
import { conjuncts, type Step } from './analysis/steps.ts';
import { type FindingFix, type Rule, type RuleContext, tsqlPlatforms } from './engine/rule.ts';

export const mergeUpdatesTwice: Rule = {
  name: 'merge-updates-twice',
  hazards: ['M11'],
  platforms: tsqlPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'A MERGE has two branches of one kind with the same action.',
  why: 'T-SQL allows one UPDATE and one DELETE for matched rows and one INSERT, so the server refuses the statement with error 10714. Delta accepts it, which is where such code comes from.',
  help: 'Write one branch and choose the values with CASE.',
  invalid: [
    {
      sql: `MERGE snap.Plan1 AS d USING #plan AS s ON s.ScdId = d.ScdId
WHEN MATCHED AND d.ValidTo IS NULL AND s.ChangeType = 'update' THEN UPDATE SET ValidTo = s.ValidTo
WHEN MATCHED AND d.ValidTo IS NULL AND s.ChangeType = 'delete' THEN UPDATE SET ValidTo = s.ValidTo;`,
    },
  ],
  valid: [
    {
      sql: `MERGE snap.Plan1 AS d USING #plan AS s ON s.ScdId = d.ScdId
WHEN MATCHED AND d.ValidTo IS NULL AND s.ChangeType IN ('update', 'delete') THEN UPDATE SET ValidTo = s.ValidTo;`,
    },
  ],
  statement(step, context) {
    for (const { merge } of mergesOf(step, context.tables)) {
      const seen = new Map<string, MergeBranch>();
      for (const branch of merge.branches) {
        if (branch.action === null) continue;
        const kind = `${branch.match} ${branch.action.kind}`;
        const first = seen.get(kind);
        if (first === undefined) {
          seen.set(kind, branch);
          continue;
        }
        context.report(step, branch, {
          message: `A second ${wording(branch)} branch is not allowed here: T-SQL takes each action once.`,
          fixes: joinFix(step, context, first, branch),
        });
      }
    }
  },
};

function wording({ match, action }: MergeBranch): string {
  const event =
    match === 'matched' ? 'WHEN MATCHED' : match === 'not-matched' ? 'WHEN NOT MATCHED' : 'WHEN NOT MATCHED BY SOURCE';
  const word = action?.kind === 'merge-update' ? 'UPDATE' : action?.kind === 'merge-delete' ? 'DELETE' : 'INSERT';
  return `${event} … ${word}`;
}

/** Two branches that do the same become one whose condition takes both. */
function joinFix(step: Step, context: RuleContext, first: MergeBranch, second: MergeBranch): readonly FindingFix[] {
  const { condition, action } = first;
  if (condition === null || second.condition === null || action === null || second.action === null) return [];
  if (context.text(step, action) !== context.text(step, second.action)) return [];
  const joined = joinConditions(step, context, condition, second.condition);
  // The space between the branches goes with the second one.
  const before = context.slice(step, first.end, second.start);
  const removal = { start: second.start - (/\s*$/.exec(before)?.[0].length ?? 0), end: second.end, text: '' };
  return [{ title: 'Join the two branches', safe: true, edits: [replace(condition, joined), removal] }];
}

function joinConditions(step: Step, context: RuleContext, first: Expression, second: Expression): string {
  const text = (expression: Expression) => context.text(step, expression);
  const left = conjuncts(first);
  const right = conjuncts(second);
  const common = left.filter((test) => right.some((other) => text(other) === text(test)));
  const onlyLeft = left.filter((test) => !common.includes(test));
  const onlyRight = right.filter((test) => !common.some((shared) => text(shared) === text(test)));
  const [one] = onlyLeft;
  const [other] = onlyRight;
  const values = one !== undefined && other !== undefined ? equalLiterals(one, other, text) : null;
  if (onlyLeft.length === 1 && onlyRight.length === 1 && values !== null) {
    return [...common.map(text), values].join(' AND ');
  }
  return `((${text(first)}) OR (${text(second)}))`;
}

/** `x = 'a'` and `x = 'b'` become `x IN ('a', 'b')`. */
function equalLiterals(one: Expression, other: Expression, text: (node: Expression) => string): string | null {
  if (one.kind !== 'binary' || other.kind !== 'binary' || one.operator !== '=' || other.operator !== '=') return null;
  if (text(one.left) !== text(other.left)) return null;
  if (bare(one.right).kind !== 'literal' || bare(other.right).kind !== 'literal') return null;
  return `${text(one.left)} IN (${text(one.right)}, ${text(other.right)})`;
}
