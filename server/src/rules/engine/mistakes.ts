/** What a syntax mistake leaves of the findings in its statement: one mistake is one problem. */
import { childrenOf } from '../../syntax/inspect.ts';
import type { Expression, Node, Script, Statement } from '../../syntax/tree.ts';
import { memo } from '../analysis/memo.ts';
import { stepsOfRoot } from '../analysis/steps.ts';
import type { Finding } from './rule.ts';
import { isOfRules } from './syntax-problems.ts';

/** Gives the offset in the file of a top-level statement. */
type Offsets = (root: Statement) => number;

/** A mistake in a statement; offsets count from the start of its top-level statement. */
interface Mistake {
  readonly start: number;
  /** The statement that it breaks; null between statements. */
  readonly statement: Statement | null;
  /** Text between the start of the top-level statement and the mistake. */
  readonly before: string;
}

interface Mistakes {
  readonly byRoot: ReadonlyMap<Statement, readonly Mistake[]>;
  /** Offset in the file of the first one; beyond every text where there is none. */
  readonly first: number;
}

/** The mistakes of a script. Hardly any has one, so most scripts get an empty map. */
const mistakesIn = memo((script: Script): Mistakes => {
  const byRoot = new Map<Statement, readonly Mistake[]>();
  let first = Number.POSITIVE_INFINITY;
  for (const { units } of script.batches) {
    for (const { statement: root, problems, offset } of units) {
      if (problems.length === 0) continue;
      const mistakes = problems.flatMap((problem): readonly Mistake[] => {
        if (isOfRules(problem)) return [];
        const { start } = problem;
        const before = script.text.slice(offset, offset + start);
        first = Math.min(first, offset + start);
        return [{ start, before, statement: statementAt(root, start, before) }];
      });
      if (mistakes.length > 0) byRoot.set(root, mistakes);
    }
  }
  return { byRoot, first };
});

/** The statement that a mistake breaks: the last one that begins before it, unless a semicolon ended that one. */
function statementAt(root: Statement, offset: number, before: string): Statement | null {
  const { own, bodies } = stepsOfRoot(root);
  let last = root;
  for (const { statement } of [...own, ...bodies.flatMap(({ steps }) => steps)]) {
    if (statement.start < offset && statement.start >= last.start) last = statement;
  }
  return last.end <= offset && /;\s*$/.test(before) ? null : last;
}

/**
 * Whether a finding stands although its statement has a syntax mistake: it has none, or the finding rests on a part
 * that was finished before it. What is absent, or odd, at or behind a mistake is so because of the mistake.
 */
export function standsInItsStatement(finding: Finding, script: Script): boolean {
  const { step, rule } = finding;
  const mistakes = step === null ? undefined : mistakesIn(script).byRoot.get(step.root);
  if (step === null || mistakes === undefined) return true;
  return mistakes.every((mistake) => {
    const { start, statement } = mistake;
    const touches = statement === step.statement || (finding.start <= start && start < finding.end);
    return !touches || (rule.judges === 'part' && isFinished(partOf(step.statement, finding).end, mistake));
  });
}

/** Whether a finding stands although a statement before it has a syntax mistake, which may be what it looks for in vain. */
export function standsInItsBody({ rule, step, start }: Finding, script: Script, offsetOf: Offsets): boolean {
  if (rule.judges !== 'body' || step === null) return true;
  const { byRoot, first } = mistakesIn(script);
  if (byRoot.size === 0) return true;
  // A BEGIN that lost its TRANSACTION is missed at the end of the block that it then begins.
  return !byRoot.has(step.root) && offsetOf(step.root) + start < first;
}

/** A part is finished when something follows it before the mistake; what touches the mistake may be what it broke. */
function isFinished(end: number, { start, before }: Mistake): boolean {
  return end < start && /\S/.test(before.slice(end));
}

/** The largest expression around a finding, since what follows in the same expression may make up for it; else its own place. */
function partOf(statement: Statement, finding: Finding): { readonly end: number } {
  const holds = (node: Node) => node.start <= finding.start && finding.end <= node.end;
  for (let node: Node | undefined = statement; node !== undefined; node = childrenOf(node).find(holds)) {
    if (isExpression(node)) return node;
  }
  return finding;
}

const expressionKinds: Readonly<Record<Expression['kind'], true>> = {
  literal: true,
  variable: true,
  column: true,
  star: true,
  call: true,
  member: true,
  'static-member': true,
  cast: true,
  case: true,
  binary: true,
  unary: true,
  'is-null': true,
  'is-truth': true,
  'is-distinct': true,
  'in-list': true,
  'in-query': true,
  between: true,
  like: true,
  exists: true,
  quantified: true,
  subquery: true,
  parenthesis: true,
  collate: true,
  'at-time-zone': true,
  'next-value': true,
  default: true,
  tuple: true,
  list: true,
  struct: true,
  lambda: true,
  'index-access': true,
  'named-argument': true,
  interval: true,
  'current-of': true,
  error: true,
};

function isExpression(node: Node): boolean {
  return node.kind in expressionKinds;
}
