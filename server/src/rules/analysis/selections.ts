import type { Kind } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import type { Body, Step } from './steps.ts';
import { makeFilter, Succession } from './succession.ts';
import type { Tables } from './tables.ts';

const succession = new Succession<Step>();

/** A question that a step answers alone: gives the indices of the steps of a body that fit. */
export function indicesWhere(fits: (step: Step) => boolean): (body: Body) => readonly number[] {
  const ask = makeFilter<Step, null>(succession);
  return (body) => ask(body.steps, null, fits);
}

/** The same for what depends on the tables, too. */
export function indicesByTables(
  fits: (step: Step, tables: Tables) => boolean,
): (body: Body, tables: Tables) => readonly number[] {
  const ask = makeFilter<Step, Tables>(succession);
  return (body, tables) => ask(body.steps, tables, (step) => fits(step, tables));
}

/** The steps that stand at some indices of a body. */
export function stepsAt(body: Body, indices: readonly number[]): readonly Step[] {
  return indices.flatMap((index) => body.steps[index] ?? []);
}

const byNode = new Map<string, (body: Body) => readonly number[]>();
const byStatement = new Map<string, (body: Body) => readonly number[]>();

/** Indices of the steps of a body that hold a node of one of some kinds, in their order. */
export function indicesWith(body: Body, ...kinds: readonly Kind[]): readonly number[] {
  const name = kinds.join();
  const ask = byNode.get(name) ?? indicesWhere((step) => kinds.some((kind) => step.find(kind).length > 0));
  byNode.set(name, ask);
  return ask(body);
}

/** Those steps. */
export function stepsWith(body: Body, ...kinds: readonly Kind[]): readonly Step[] {
  return stepsAt(body, indicesWith(body, ...kinds));
}

/** Indices of the steps whose own statement is of one of some kinds. */
export function indicesOf(body: Body, ...kinds: readonly Kind[]): readonly number[] {
  const name = kinds.join();
  const ask = byStatement.get(name) ?? indicesWhere(({ statement }) => kinds.includes(statement.kind));
  byStatement.set(name, ask);
  return ask(body);
}

/** Those steps. */
export function stepsOf(body: Body, ...kinds: readonly Kind[]): readonly Step[] {
  return stepsAt(body, indicesOf(body, ...kinds));
}

const positionsIn = memo((body: Body) => new Map(body.steps.map((step, index) => [step, index])));

/** Index of a step in its body, -1 for a step of another one. */
export function indexIn(body: Body, step: Step): number {
  return positionsIn(body).get(step) ?? -1;
}
