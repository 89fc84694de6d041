import { childrenOf } from '../../syntax/inspect.ts';
import type { Node, Statement } from '../../syntax/tree.ts';
import type { RuleContext } from '../engine/rule.ts';
import { indexIn } from './selections.ts';
import type { Body, Step } from './steps.ts';

/** The statement before a step in the same list of statements, with the step that it belongs to; null for a first one. */
export function siblingBefore(body: Body, step: Step): { readonly statement: Statement; readonly step: Step } | null {
  if (step.statement === step.root) {
    const index = indexIn(body, step);
    const other = body.steps[index - 1];
    if (other === undefined || body.batches[index - 1] !== body.batches[index]) return null;
    return { statement: other.root, step: other };
  }
  const pending: Node[] = [step.root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const list of statementLists(node)) {
      const index = list.indexOf(step.statement);
      const before = list[index - 1];
      if (index > 0 && before !== undefined) return { statement: before, step };
      if (index === 0) return null;
    }
    pending.push(...childrenOf(node));
  }
  return null;
}

function statementLists(node: Node): readonly (readonly Statement[])[] {
  switch (node.kind) {
    case 'block':
      return [node.statements];
    case 'try-catch':
      return [node.try, node.catch];
    case 'create-procedure':
    case 'create-trigger':
    case 'create-function':
      return [node.body];
    default:
      return [];
  }
}

/** True when a semicolon stands between two statements of one list, comments left aside. */
export function isTerminated(
  before: { readonly statement: Statement; readonly step: Step },
  context: RuleContext,
): boolean {
  if (before.statement.kind === 'empty' || before.statement.kind === 'label') return true;
  const end = context.slice(before.step, before.statement.end - 1, before.statement.end);
  if (end === ';') return true;
  // The next step's root may be another one, so the text behind the former is read from its own root.
  const gap = context.slice(before.step, before.statement.end, before.statement.end + 2000);
  const code = gap.replace(/^(?:\s|--[^\n]*|\/\*[\s\S]*?\*\/)*/, '');
  return code.startsWith(';');
}
