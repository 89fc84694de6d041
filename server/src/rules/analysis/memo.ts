import type { Step } from './steps.ts';
import type { Tables } from './tables.ts';

/**
 * Keeps what is worked out for a step as long as the step and the tables stay the same, so that an edit elsewhere in
 * a file costs nothing here.
 */
export function memoByStep<T>(compute: (step: Step, tables: Tables) => T): (step: Step, tables: Tables) => T {
  const cellOf = memo((_: Step): { kept: { readonly tables: Tables; readonly value: T } | null } => ({ kept: null }));
  return (step, tables) => {
    const cell = cellOf(step);
    if (cell.kept?.tables !== tables) cell.kept = { tables, value: compute(step, tables) };
    return cell.kept.value;
  };
}

/** By function what it gave for an object. */
type Given = Map<object, unknown>;

/** An object that itself keeps what was worked out for it: thousands of them come and go with each text that is opened. */
export interface Keeper {
  given: Given | null;
}

/**
 * The same for objects that have no place for it. The table of a weak map grows with all that live between two
 * collections and shrinks only when something is taken out, so all functions share one.
 */
const others = new WeakMap<object, Given>();

/** The same for what depends on one object alone. */
export function memo<K extends object, T>(compute: (key: K) => T): (key: K) => T {
  return (key) => {
    const values = givenFor(key);
    // Each function reads only what it wrote itself, which the type of a shared map can't say.
    if (values.has(compute)) return values.get(compute) as T;
    const value = compute(key);
    values.set(compute, value);
    return value;
  };
}

/** Lets go of what was worked out for an object that nobody asks for again. */
export function forget(key: object): void {
  others.delete(key);
}

function givenFor(key: object | Keeper): Given {
  const kept = 'given' in key ? key.given : others.get(key);
  if (kept !== null && kept !== undefined) return kept;
  const values: Given = new Map();
  if ('given' in key) key.given = values;
  else others.set(key, values);
  return values;
}
