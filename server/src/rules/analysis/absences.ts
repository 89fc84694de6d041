import { defaultConventions } from '../../model/default-conventions.ts';
import { fitsPattern } from '../../model/names.ts';
import { tableNameOf } from '../../syntax/inspect.ts';
import type { Node, Query } from '../../syntax/tree.ts';
import type { RuleContext } from '../engine/rule.ts';
import { isNegated } from './comparisons.ts';
import { memoByStep } from './memo.ts';
import { plainColumn } from './names.ts';
import { indicesByTables, stepsAt } from './selections.ts';
import { sameTable, sourceOfColumn, tableNamesOf } from './sides.ts';
import { type Body, conjuncts, type Entry, type Scope, type Source, type Step, scopeOfQuery } from './steps.ts';
import type { Tables } from './tables.ts';

/** A test that a row of one table has no counterpart in another. */
interface Absence {
  readonly form: 'not-in' | 'not-exists' | 'left-join' | 'except';
  readonly at: Node;
  /** The table whose rows are judged. */
  readonly judged: Source;
  /** The table in which they are looked for. */
  readonly stage: Source;
  /** What the judged rows are read in. */
  readonly scope: Scope;
  readonly query: Query | null;
}

/** All absence tests of a step. */
const absencesOf = memoByStep((step: Step, tables: Tables): readonly Absence[] => {
  const found: Absence[] = [];
  for (const { node, scope } of step.find('in-query')) {
    if (!node.not || scope === null) continue;
    const column = plainColumn(node.operand);
    const judged = column === null ? scope.sources[0] : sourceOfColumn(column, scope, tables);
    const stage = scopeOfQuery(node.query, scope)?.scope.sources[0];
    if (judged != null && stage !== undefined) {
      found.push({ form: 'not-in', at: node, judged, stage, scope, query: node.query });
    }
  }
  for (const entry of step.find('exists')) {
    if (!isNegated(entry)) continue;
    const inside = scopeOfQuery(entry.node.query, entry.scope);
    const stage = inside?.scope.sources[0];
    const outer = entry.scope;
    if (inside === null || stage === undefined || outer === null) continue;
    const judged = judgedBy(inside.select.where, inside.scope, stage, outer, tables);
    if (judged !== null) {
      found.push({ form: 'not-exists', at: entry.node, judged, stage, scope: outer, query: entry.node.query });
    }
  }
  for (const entry of step.find('is-null')) {
    const { node, scope } = entry;
    const column = node.not ? null : plainColumn(node.operand);
    const stage = column === null ? null : sourceOfColumn(column, scope, tables);
    if (stage === null || !stage.optional || scope === null || !isWhole(entry)) continue;
    const judged = scope.sources.find((source) => source !== stage && !source.optional);
    if (judged !== undefined) found.push({ form: 'left-join', at: node, judged, stage, scope, query: null });
  }
  return found;
});

/** `l.Key IS NULL OR l.HashDiff <> s.HashDiff` finds new and changed rows, not absent ones. */
function isWhole(entry: Entry<'is-null'>): boolean {
  for (let at = entry.parent; at !== null; at = at.parent) {
    if (at.node.kind === 'binary' && at.node.operator === 'OR') return false;
    if (!['binary', 'parenthesis'].includes(at.node.kind)) return true;
  }
  return true;
}

function judgedBy(
  where: Parameters<typeof conjuncts>[0],
  inner: Scope,
  stage: Source,
  outer: Scope,
  tables: Tables,
): Source | null {
  for (const condition of conjuncts(where)) {
    if (condition.kind !== 'binary' && condition.kind !== 'is-distinct') continue;
    for (const side of [condition.left, condition.right]) {
      const column = plainColumn(side);
      const source = column === null ? null : sourceOfColumn(column, inner, tables);
      if (source !== null && source !== stage && outer.sources.includes(source)) return source;
    }
  }
  return outer.sources[0] ?? null;
}

/** An absence test that finds deleted source rows: the written table's rows are looked for in a stage. */
export interface Detection extends Absence {
  readonly writes: 'insert' | 'update' | 'delete';
  readonly target: Source;
}

/** Writes of a step to target rows that the source lacks. */
export function detectionsOf(step: Step, context: RuleContext): readonly Detection[] {
  return detections(step, context.tables);
}

const detections = memoByStep((step: Step, tables: Tables): readonly Detection[] => {
  const found: Detection[] = [];
  for (const kind of ['insert', 'update', 'delete'] as const) {
    const target = step.find(kind)[0]?.scope?.target;
    if (target == null) continue;
    for (const absence of absencesOf(step, tables)) {
      const judged = absence.judged === target || sameTable(absence.judged, target);
      if (!judged || sameTable(absence.stage, target)) continue;
      if (kind === 'delete' && !isStage(absence.stage, tables)) continue;
      if (isAlsoPresent(step, absence)) continue;
      found.push({ ...absence, writes: kind, target });
    }
  }
  return found;
});

/** A second test asks for a counterpart in the same stage: the rows are changed, not absent. */
function isAlsoPresent(step: Step, absence: Absence): boolean {
  const reads = (query: Query, scope: Scope | null) => {
    const source = scopeOfQuery(query, scope)?.scope.sources[0];
    return source !== undefined && sameTable(source, absence.stage);
  };
  const joined = absence.scope.sources.some((source) => source !== absence.stage && sameTable(source, absence.stage));
  return (
    joined ||
    step.find('in-query').some(({ node, scope }) => !node.not && reads(node.query, scope)) ||
    step.find('exists').some((entry) => !isNegated(entry) && reads(entry.node.query, entry.scope))
  );
}

/** By its role, its name, its schema, or because it is a temporary copy. */
function isStage(source: Source, tables: Tables): boolean {
  const role = tables.tableOf(source)?.role;
  if (role === 'staging') return true;
  if (source.node.kind === 'table-variable') return true;
  if (source.node.kind !== 'table')
    return [...tableNamesOf(source)].some((name) =>
      fits(name.slice(name.lastIndexOf('.') + 1), name.split('.')[0] ?? null),
    );
  const name = tableNameOf(source.node.name);
  return name.table.startsWith('#') || fits(name.table, name.schema ?? name.database);
}

function fits(table: string, schema: string | null): boolean {
  return (
    fitsPattern(table, defaultConventions.tables.staging ?? []) ||
    (schema !== null && fitsPattern(schema, defaultConventions.schemas.staging ?? []))
  );
}

const detectingIndices = indicesByTables(detects);

/** True when a step looks for deleted source rows. */
export function detects(step: Step, tables: Tables): boolean {
  return detections(step, tables).length > 0;
}

/** The steps of a body that look for deleted source rows. */
export function detectingSteps(body: Body, tables: Tables): readonly Step[] {
  return stepsAt(body, detectingIndices(body, tables));
}
