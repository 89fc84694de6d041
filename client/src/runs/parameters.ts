import type { LoadParameter } from '../../../protocol/requests.ts';
import type { Choice, Prompts } from '../ports.ts';

/**
 * Shows the parameters of a load with their values, lets each be changed, and returns the values that differ from the
 * script's own null. Undefined when the person went away.
 */
export async function askParameters(
  prompts: Prompts,
  title: string,
  parameters: readonly LoadParameter[],
): Promise<Readonly<Record<string, string>> | undefined> {
  let current = parameters;
  for (;;) {
    const choices: Choice<LoadParameter | null>[] = [
      { label: '$(play) Use these values', value: null },
      ...current.map((parameter) => ({
        label: shownParameter(parameter),
        description: parameter.type,
        detail: parameter.description,
        value: parameter,
      })),
    ];
    const chosen = await prompts.pick(choices, {
      title: `Parameters of ${title}`,
      placeholder: 'Choose a parameter to change it',
    });
    if (chosen === undefined || typeof chosen === 'symbol') return undefined;
    if (chosen === null) return valuesOf(current);
    const value = await prompts.input({
      title: chosen.name,
      prompt: chosen.description === '' ? `Value of ${chosen.name} (${chosen.type})` : chosen.description,
      value: chosen.value ?? '',
    });
    if (typeof value !== 'string') continue;
    current = current.map((parameter) => (parameter.name === chosen.name ? { ...parameter, value } : parameter));
  }
}

function valuesOf(parameters: readonly LoadParameter[]): Readonly<Record<string, string>> {
  return Object.fromEntries(parameters.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])));
}

/** `LoadProcess = nightly`; what has no value is NULL, or the clock. */
export function shownParameter({ name, value, isClock }: Pick<LoadParameter, 'name' | 'value' | 'isClock'>): string {
  return `${name} = ${value ?? (isClock === true ? '(the clock)' : 'NULL')}`;
}
