import type { Expression } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { stepsOf } from './selections.ts';
import type { Body, Step } from './steps.ts';

/** What a body knows of a variable (names in lower case). */
export interface VariableFact {
  /** As declared; null for a type that is not known. */
  readonly type: string | null;
  /** Every value that is assigned, with its statement. */
  readonly values: readonly { readonly step: Step; readonly value: Expression }[];
}

/** Declarations and assignments of a body's variables, its procedure's parameters included. */
export const variablesOf = memo((body: Body): ReadonlyMap<string, VariableFact> => {
  const found = new Map<string, { type: string | null; values: { step: Step; value: Expression }[] }>();
  const fact = (name: string) => {
    const key = name.toLowerCase();
    const known = found.get(key) ?? { type: null, values: [] };
    found.set(key, known);
    return known;
  };
  if (body.owner !== null && body.owner.kind !== 'create-trigger') {
    for (const parameter of body.owner.parameters) fact(parameter.name).type = parameter.type?.text ?? null;
  }
  for (const step of stepsOf(body, 'declare', 'set-variable', 'select-statement')) {
    const { statement } = step;
    if (statement.kind === 'declare') {
      for (const variable of statement.variables) {
        const known = fact(variable.name);
        known.type = variable.type?.text ?? null;
        if (variable.value !== null) known.values.push({ step, value: variable.value });
      }
    } else if (statement.kind === 'set-variable') {
      fact(statement.variable.name).values.push({ step, value: statement.value });
    } else if (statement.kind === 'select-statement') {
      for (const { node } of step.find('select-item')) {
        if (node.assigns !== null) fact(node.assigns.name).values.push({ step, value: node.expression });
      }
    }
  }
  return found;
});
