import { UsageError } from './command.ts';

/** Reads `hash_rules.preset=legacy-concat`: a dotted name, and a value in JSON, a plain text also without quotes. */
export function readSetting(text: string): readonly [readonly string[], unknown] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UsageError(`--set ${text}: write KEY=VALUE, as in --set closing=minus-3-ms.`);
  return [text.slice(0, equals).split('.'), jsonOrText(text.slice(equals + 1))];
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Puts dotted settings together; the last one of a name wins. */
export function nest(settings: readonly (readonly [readonly string[], unknown])[]): Readonly<Record<string, unknown>> {
  const root: Record<string, unknown> = Object.create(null);
  for (const [path, value] of settings) {
    let place = root;
    for (const part of path.slice(0, -1)) {
      const inner = place[part];
      const next: Record<string, unknown> = isRecord(inner) ? inner : Object.create(null);
      place[part] = next;
      place = next;
    }
    place[path.at(-1) ?? ''] = value;
  }
  return root;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
