/**
 * Guards for what a digest could not tell: letters beyond ASCII where the platform has no UTF-8, and a seventh digit of a
 * second, which the hash rule does not render. They look at the stage alone and come before every other step.
 */
import type { CatalogTable } from '../../../protocol/catalog.ts';
import { isTsql, type Platform } from '../../../protocol/platform.ts';
import { item, select, shown, source, table } from '../load/build.ts';
import { columnType } from '../load/context.ts';
import { type Expression, typeOf, type ValueType } from '../load/language.ts';
import type { LoadPlan, Step } from '../load/plan.ts';
import { lacksUtf8 } from './platform-problems.ts';

/**
 * The plan with guards before it for values that T-SQL can't hash as the other platforms do: beyond ASCII, or
 * beyond microseconds.
 */
export function withHashGuards(plan: LoadPlan, platform: Platform, stage: CatalogTable): LoadPlan {
  if (!isTsql(platform.name)) return plan;
  const mayBeTooPrecise = stage.columns.some((of) => isTooPrecise(columnType(stage, of)));
  if (!lacksUtf8(platform) && !mayBeTooPrecise) return plan;
  const rendered = renderedColumns(plan);
  const texts = rendered.filter(({ rendering }) => rendering === 'text' || rendering === 'padded-text');
  const times = rendered.filter(({ rendering, column }) => rendering === 'timestamp' && isTooPrecise(typeOf(column)));
  const steps = [
    ...(lacksUtf8(platform) ? guardOver(plan, texts, asciiGuard) : []),
    ...guardOver(plan, times, digitGuard),
  ];
  return steps.length === 0 ? plan : { ...plan, steps: [...steps, ...plan.steps] };
}

function isTooPrecise(type: ValueType | null): boolean {
  return (type?.facts.scale ?? 0) > 6;
}

interface RenderedColumn {
  readonly column: Extract<Expression, { kind: 'column' }>;
  readonly rendering: string;
}

interface Guarded {
  readonly says: string;
  readonly code: 'not_ascii' | 'value_too_precise';
  readonly kind: 'beyond-ascii' | 'beyond-microseconds';
}

const asciiGuard: Guarded = {
  says: 'Without UTF-8 only ASCII texts have the digest that other platforms give; any other letter stops the load.',
  code: 'not_ascii',
  kind: 'beyond-ascii',
};

const digitGuard: Guarded = {
  says: 'The hash rule renders six digits of a second; a seventh stops the load.',
  code: 'value_too_precise',
  kind: 'beyond-microseconds',
};

function guardOver(plan: LoadPlan, columns: readonly RenderedColumn[], guard: Guarded): readonly Step[] {
  return columns.map(({ column }): Step => {
    const condition: Expression = { kind: guard.kind, operand: column };
    return {
      kind: 'guard-rows',
      says: guard.says,
      code: guard.code,
      query: select([item('offender', shown(column))], source(table(plan.source), 's'), { where: [condition] }),
    };
  });
}

/** Stage columns (alias `s` over the stage itself) that a digest of the plan takes in, each once. */
function renderedColumns(plan: LoadPlan): readonly RenderedColumn[] {
  const found = new Map<string, RenderedColumn>();
  // Values and types stand in many places of a plan; each is looked at once over the stage, and once elsewhere.
  const seen = { overStage: new Set<object>(), elsewhere: new Set<object>() };
  const visit = (node: Readonly<Record<string, unknown>>, readsStage: boolean): void => {
    // Most of a plan are columns, and nothing stands in them.
    if (isColumn(node)) return;
    const visited = readsStage ? seen.overStage : seen.elsewhere;
    if (visited.has(node)) return;
    visited.add(node);
    if (Array.isArray(node)) {
      for (const part of node) if (isRecord(part)) visit(part, readsStage);
      return;
    }
    const reads = node['kind'] === 'query' ? isOverStage(node, plan) : readsStage;
    if (node['kind'] === 'rendered' && reads) {
      const column = innermostColumn(node['operand']);
      const rendering = isRecord(node['rendering']) ? String(node['rendering']['kind']) : '';
      if (column !== null && column.of === 's') found.set(`${column.name} ${rendering}`, { column, rendering });
    }
    for (const part of Object.values(node)) if (isRecord(part)) visit(part, reads);
  };
  visit({ steps: plan.steps, replaces: plan.replaces }, false);
  return [...found.values()];
}

function isOverStage(query: Readonly<Record<string, unknown>>, plan: LoadPlan): boolean {
  const from = query['from'];
  const relation = isRecord(from) ? from['relation'] : undefined;
  if (!isRecord(relation) || relation['kind'] !== 'table') return false;
  return JSON.stringify(relation['name']) === JSON.stringify(plan.source);
}

function innermostColumn(node: unknown): RenderedColumn['column'] | null {
  if (!isRecord(node)) return null;
  return isColumn(node) ? node : innermostColumn(node['operand']);
}

function isColumn(
  node: Readonly<Record<string, unknown>>,
): node is RenderedColumn['column'] & Readonly<Record<string, unknown>> {
  return node['kind'] === 'column';
}

function isRecord(node: unknown): node is Readonly<Record<string, unknown>> {
  return typeof node === 'object' && node !== null;
}
