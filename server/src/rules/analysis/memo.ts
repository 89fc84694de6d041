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

/** By object what each function gave for it. The table of a weak map never shrinks, so all of them share one. */
const given = new WeakMap<object, Map<object, unknown>>();

/** The same for what depends on one object alone. */
export function memo<K extends object, T>(compute: (key: K) => T): (key: K) => T {
  return (key) => {
    let values = given.get(key);
    if (values === undefined) {
      values = new Map();
      given.set(key, values);
    }
    // Each function reads only what it wrote itself, which the type of a shared map can't say.
    if (values.has(compute)) return values.get(compute) as T;
    const value = compute(key);
    values.set(compute, value);
    return value;
  };
}
