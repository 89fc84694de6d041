import type { Platform } from '../../../../protocol/platform.ts';
import { isSpark } from '../../../../protocol/platform.ts';
import { bare } from '../../syntax/inspect.ts';
import type { Expression, MergeBranch, NodeBase } from '../../syntax/tree.ts';
import type { Edit, RuleContext } from '../engine/rule.ts';
import { conjuncts, type Step } from './steps.ts';

export function insertAt(offset: number, text: string): Edit {
  return { start: offset, end: offset, text };
}

export function replace(node: NodeBase, text: string): Edit {
  return { start: node.start, end: node.end, text };
}

/** Takes one item out of a comma-separated list, with the comma that it makes needless. */
export function removeItem(items: readonly NodeBase[], index: number): Edit | null {
  const item = items[index];
  if (item === undefined || items.length < 2) return null;
  const before = items[index - 1];
  const after = items[index + 1];
  if (before !== undefined) return { start: before.end, end: item.end, text: '' };
  return after === undefined ? null : { start: item.start, end: after.start, text: '' };
}

/** Takes one condition out of an AND chain; null when it is the only one. */
export function removeCondition(chain: Expression, condition: Expression): Edit | null {
  const all = conjuncts(chain);
  const index = all.indexOf(condition);
  const before = all[index - 1];
  const after = all[index + 1];
  if (before !== undefined) return { start: before.end, end: condition.end, text: '' };
  return after === undefined ? null : { start: condition.start, end: after.start, text: '' };
}

/** Adds `AND condition` to a WHEN branch of a MERGE. */
export function addToBranch(context: RuleContext, step: Step, branch: MergeBranch, condition: string): readonly Edit[] {
  if (branch.condition !== null) return addToCondition(branch.condition, condition);
  const { action } = branch;
  if (action === null) return [];
  const head = context.slice(step, branch.start, action.start);
  const then = /\bTHEN\s*$/i.exec(head);
  return then === null ? [] : [insertAt(branch.start + then.index, `AND ${condition} `)];
}

/** Adds `AND condition` behind a condition, in parentheses where an OR would swallow it. */
export function addToCondition(existing: Expression, condition: string): readonly Edit[] {
  const inner = existing;
  const needsParentheses = inner.kind === 'binary' && inner.operator === 'OR';
  return needsParentheses
    ? [insertAt(existing.start, '('), insertAt(existing.end, `) AND ${condition}`)]
    : [insertAt(existing.end, ` AND ${condition}`)];
}

/** Null-safe equality as the platform writes it. */
export function nullSafeEqual(platform: Platform, left: string, right: string): string {
  if (isSpark(platform.name)) return `${left} <=> ${right}`;
  if (platform.name === 'duckdb' || platform.name === 'azuresql' || isNewServer(platform)) {
    return `${left} IS NOT DISTINCT FROM ${right}`;
  }
  if (platform.name === 'sqlserver') return `EXISTS (SELECT ${left} INTERSECT SELECT ${right})`;
  return `(${left} = ${right} OR (${left} IS NULL AND ${right} IS NULL))`;
}

/** Null-safe inequality as the platform writes it. */
export function nullSafeDifferent(platform: Platform, left: string, right: string): string {
  if (isSpark(platform.name)) return `NOT (${left} <=> ${right})`;
  if (platform.name === 'duckdb' || platform.name === 'azuresql' || isNewServer(platform)) {
    return `${left} IS DISTINCT FROM ${right}`;
  }
  if (platform.name === 'sqlserver') return `EXISTS (SELECT ${left} EXCEPT SELECT ${right})`;
  return `(${left} <> ${right} OR (${left} IS NULL AND ${right} IS NOT NULL) OR (${left} IS NOT NULL AND ${right} IS NULL))`;
}

/** One test for several pairs of columns, as the platform writes it. */
export function anyDifferent(platform: Platform, pairs: readonly (readonly [string, string])[]): string {
  const [first] = pairs;
  if (first === undefined) return '';
  if (pairs.length === 1) return nullSafeDifferent(platform, first[0], first[1]);
  if (platform.name === 'sqlserver' && !isNewServer(platform)) {
    const left = pairs.map((pair) => pair[0]).join(', ');
    const right = pairs.map((pair) => pair[1]).join(', ');
    return `EXISTS (SELECT ${left} EXCEPT SELECT ${right})`;
  }
  return `(${pairs.map(([left, right]) => nullSafeDifferent(platform, left, right)).join(' OR ')})`;
}

function isNewServer(platform: Platform): boolean {
  return platform.name === 'sqlserver' && (platform.version ?? 2019) >= 2022;
}

/** Indentation of the line on which a statement starts. */
export function indentOf(context: RuleContext, step: Step, offset: number): string {
  const before = context.slice(step, offset - 400, offset);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return /^[ \t]*$/.test(line) ? line : '';
}

/** A statement that stops the load when a table has no rows, as the platform writes it. */
export function emptyGuard(platform: Platform, table: string, indent: string): string {
  const message = table.replaceAll("'", "''");
  if (platform.name === 'duckdb') {
    return `SELECT CASE WHEN count(*) = 0 THEN error('empty_stage: ${message} holds no rows') END FROM ${table};\n${indent}`;
  }
  if (isSpark(platform.name)) {
    return `SELECT assert_true(count(*) > 0, 'empty_stage: ${message} holds no rows') FROM ${table};\n${indent}`;
  }
  return `IF NOT EXISTS (SELECT 1 FROM ${table})\n${indent}BEGIN\n${indent}    THROW 50010, N'empty_stage: ${message} holds no rows', 1;\n${indent}END;\n${indent}`;
}

/** The literal that a flag has in the other state: 0 for 1, 'Y' for 'N'; null when there is none to see. */
export function oppositeFlag(value: Expression, text: string): string | null {
  const inner = bare(value);
  if (inner.kind === 'cast') return oppositeFlag(inner.operand, text);
  if (inner.kind !== 'literal') return null;
  const opposites: Readonly<Record<string, string>> = { '0': '1', n: 'Y', no: 'Yes', f: 'T', false: 'true' };
  const found = opposites[inner.value.trim().toLowerCase()];
  if (found === undefined) return null;
  return inner.type === 'string' ? `'${found}'` : inner.type === 'national' ? `N'${found}'` : found;
}

/** Puts text behind a statement and its semicolon; the semicolon is added where there is none. */
export function insertBehind(context: RuleContext, step: Step, text: string): Edit {
  const { end } = step.statement;
  const next = context.slice(step, end, end + 1);
  const closed = next === ';' || context.slice(step, end - 1, end) === ';';
  return insertAt(next === ';' ? end + 1 : end, `${closed ? '' : ';'}${text}`);
}
