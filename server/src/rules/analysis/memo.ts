import type { Step } from './steps.ts';
import type { Tables } from './tables.ts';

/**
 * Keeps what is worked out for a step as long as the step and the tables stay the same, so that an edit elsewhere in
 * a file costs nothing here.
 */
export function memoByStep<T>(compute: (step: Step, tables: Tables) => T): (step: Step, tables: Tables) => T {
  const kept = new WeakMap<Step, { readonly tables: Tables; readonly value: T }>();
  return (step, tables) => {
    const known = kept.get(step);
    if (known !== undefined && known.tables === tables) return known.value;
    const value = compute(step, tables);
    kept.set(step, { tables, value });
    return value;
  };
}

/** The same for what depends on one object alone. */
export function memo<K extends object, T>(compute: (key: K) => T): (key: K) => T {
  const kept = new WeakMap<K, { readonly value: T }>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known.value;
    const value = compute(key);
    kept.set(key, { value });
    return value;
  };
}
