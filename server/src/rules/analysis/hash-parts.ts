import { isTsql } from '../../../../protocol/platform.ts';
import { type TypeFacts, typeFacts } from '../../model/types.ts';
import { bare } from '../../syntax/inspect.ts';
import type { Cast, Expression, Node } from '../../syntax/tree.ts';
import type { RuleContext } from '../engine/rule.ts';
import { sentinelOf } from './comparisons.ts';
import { type HashCall, hashesOf } from './hashes.ts';
import { callName } from './names.ts';
import type { Entry, Scope, Step } from './steps.ts';

/** Type of an expression, taken apart; null when it is not known. */
export function factsOf(expression: Expression, scope: Scope | null, context: RuleContext): TypeFacts | null {
  const type = context.tables.type(expression, scope);
  return type === null ? null : typeFacts(type, isTsql(context.platform.name));
}

/** The digest that an entry's node is part of the input of, if any. */
export function hashAround(entry: Entry, step: Step): HashCall | null {
  for (const hash of hashesOf(step)) {
    if (entry.node.start >= hash.input.start && entry.node.end <= hash.input.end) return hash;
  }
  return null;
}

/** The expression without what the author wrote around the column to render it. */
export function peeled(expression: Expression): Expression {
  let inner = bare(expression);
  for (;;) {
    if (inner.kind === 'cast') inner = bare(inner.operand);
    else if (inner.kind === 'collate') inner = bare(inner.operand);
    else if (inner.kind === 'call' && renderers.has(callName(inner)) && inner.arguments[0] !== undefined) {
      inner = bare(inner.arguments[0]);
    } else return inner;
  }
}

const renderers = new Set([
  'UPPER',
  'LOWER',
  'TRIM',
  'LTRIM',
  'RTRIM',
  'ISNULL',
  'COALESCE',
  'IFNULL',
  'NVL',
  'NULLIF',
  'REPLACE',
  'STR',
  'FORMAT',
]);

/** Casts inside a part, from the outside in. */
export function castsIn(expression: Expression): readonly Cast[] {
  const found: Cast[] = [];
  const pending: Node[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'cast') {
      found.push(next);
      pending.push(next.operand);
    } else if (next.kind === 'parenthesis') pending.push(next.inner);
    else if (next.kind === 'collate') pending.push(next.operand);
    else if (next.kind === 'call' && renderers.has(callName(next))) pending.push(...next.arguments.slice(0, 1));
  }
  return found;
}

/** What the part shows for NULL: a literal, nothing (NULL stays NULL), or unknown. */
export function placeholderOf(expression: Expression): string | null {
  const inner = bare(expression);
  if (inner.kind === 'cast' || inner.kind === 'collate') return placeholderOf(inner.operand);
  const sentinel = sentinelOf(inner);
  if (sentinel !== null) return sentinel.value;
  if (inner.kind === 'call' && ['UPPER', 'LOWER', 'TRIM', 'LTRIM', 'RTRIM'].includes(callName(inner))) {
    const [first] = inner.arguments;
    return first === undefined ? null : placeholderOf(first);
  }
  return null;
}

/** A text literal as the platform writes it beside a part of some type. */
export function textLiteral(text: string, national: boolean): string {
  return `${national ? 'N' : ''}'${text.replaceAll("'", "''")}'`;
}
