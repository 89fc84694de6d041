import type { Expression, Identifier, Select } from '../../syntax/tree.ts';
import type { RuleContext } from '../engine/rule.ts';
import { type Detection, detectionsOf } from './absences.ts';
import { type Scope, type Step, scopeOfQuery } from './steps.ts';

/** INSERT INTO t … SELECT … FROM t WHERE the key is absent from the stage: rows that say "deleted". */
export interface Tombstone {
  readonly detection: Detection;
  readonly columns: readonly Identifier[];
  readonly select: Select;
  readonly scope: Scope;
}

/** The tombstone that a step writes, if it does. */
export function tombstoneOf(step: Step, context: RuleContext): Tombstone | null {
  return step.statement.kind === 'insert' ? readTombstone(step, context) : null;
}

function readTombstone(step: Step, context: RuleContext): Tombstone | null {
  const [insert] = step.find('insert');
  const detection = detectionsOf(step, context).find((item) => item.writes === 'insert');
  if (detection === undefined || insert === undefined || insert.node.source.kind !== 'query') return null;
  const inside = scopeOfQuery(insert.node.source, null);
  const entry = inside === null ? undefined : step.entry(inside.select);
  if (inside === null || entry?.scope == null) return null;
  if (!entry.scope.sources.includes(detection.judged)) return null;
  return { detection, columns: insert.node.columns, select: inside.select, scope: entry.scope };
}

/** The value that an INSERT … SELECT gives a column. */
export function valueFor(tombstone: Tombstone, index: number): Expression | null {
  return tombstone.select.items[index]?.expression ?? null;
}
