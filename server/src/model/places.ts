import { dynamicScripts } from '../syntax/dynamic.ts';
import { absoluteRange, type Span, unitsOf } from '../syntax/inspect.ts';
import type { NodeBase, Script, Unit } from '../syntax/tree.ts';
import { type Binding, bindUnit } from './binding.ts';

/** A statement of a document, or of a string that the document executes, with what its names mean. */
export interface PlacedUnit {
  readonly unit: Unit;
  readonly binding: Binding;
  /** The script whose text the unit's nodes stand in. */
  readonly script: Script;
  /** Where a node stands in the document. */
  readonly span: (node: NodeBase) => Span;
  readonly inString: boolean;
}

/** All statements of a script; those of executed strings come last. */
export function placedUnits(script: Script): readonly PlacedUnit[] {
  return [...unitsOf(script).map((unit) => placed(script, unit)), ...inStrings(script)];
}

export function placed(script: Script, unit: Unit): PlacedUnit {
  return { unit, binding: bindUnit(unit), script, span: (node) => absoluteRange(unit, node), inString: false };
}

const known = new WeakMap<Script, readonly PlacedUnit[]>();

/** The statements of strings that a script executes, read once per text. */
export function inStrings(host: Script): readonly PlacedUnit[] {
  const kept = known.get(host);
  if (kept !== undefined) return kept;
  const found = runsStrings.test(host.text) ? readStrings(host) : [];
  known.set(host, found);
  return found;
}

/** Most scripts run none, and are not looked through for them. */
const runsStrings = /\bexec(?:ute)?\s*(?:\(|immediate\b)|\bsp_executesql\b/i;

function readStrings(host: Script): readonly PlacedUnit[] {
  return dynamicScripts(host).flatMap(({ script, hostOffset }) =>
    unitsOf(script).map((unit): PlacedUnit => {
      const span = (node: NodeBase): Span => {
        const { start, end } = absoluteRange(unit, node);
        return { start: hostOffset(start), end: end > start ? hostOffset(end - 1) + 1 : hostOffset(end) };
      };
      return { unit, binding: bindUnit(unit), script, span, inString: true };
    }),
  );
}
