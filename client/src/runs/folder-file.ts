import type { TableName } from '../../../protocol/catalog.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { dotted } from './load-target.ts';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The text of a first `mergewright.json`: the loads as they were inferred, ready to be changed. */
export function firstFolderFile(loads: readonly LoadSpecification[]): string {
  const entries = loads.map(({ pattern, source, target }) => ({
    pattern,
    source: dotted(source),
    target: dotted(target),
  }));
  return `${JSON.stringify({ loads: entries }, null, 2)}\n`;
}

/**
 * The text of `mergewright.json` with changed sources of target columns in one load, which is added where it does not
 * stand yet. Everything else stays as it is. Throws with a sentence when the text is not JSON of the expected shape.
 */
export function withMapping(
  text: string,
  specification: LoadSpecification,
  changes: Readonly<Record<string, string | null>>,
): string {
  const file = text.trim() === '' ? {} : asObject(parse(text), 'mergewright.json');
  const loads = file['loads'] === undefined ? [] : asList(file['loads']);
  const index = loads.findIndex((entry) => isLoad(entry, specification));
  const present = index < 0 ? undefined : loads[index];
  const load: Record<string, Json> =
    present === undefined
      ? {
          pattern: specification.pattern,
          source: dotted(specification.source),
          target: dotted(specification.target),
        }
      : asObject(present, 'a load');
  const options = load['options'] === undefined ? {} : asObject(load['options'], '"options"');
  const mapping = options['mapping'] === undefined ? {} : asObject(options['mapping'], '"mapping"');
  const changed: Record<string, Json> = { ...mapping };
  for (const [target, source] of Object.entries(changes)) {
    if (source === null) delete changed[target];
    else changed[target] = source;
  }
  const next = { ...load, options: { ...options, mapping: changed } };
  const list = index < 0 ? [...loads, next] : loads.map((entry, place) => (place === index ? next : entry));
  return `${JSON.stringify({ ...file, loads: list }, null, 2)}\n`;
}

function isLoad(entry: Json, specification: LoadSpecification): boolean {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) return false;
  const names = (name: TableName, text: Json | undefined) => {
    if (typeof text !== 'string') return false;
    const plain = text.replace(/[[\]"`]/g, '').toLowerCase();
    return dotted(name).toLowerCase() === plain || dotted(name).toLowerCase().endsWith(`.${plain}`);
  };
  return (
    entry['pattern'] === specification.pattern &&
    names(specification.source, entry['source']) &&
    names(specification.target, entry['target'])
  );
}

function parse(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    throw new Error('mergewright.json is not valid JSON. Correct it first; the Problems view shows the place.');
  }
}

function asObject(value: Json, what: string): { [name: string]: Json } {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${what} must be an object.`);
  return value;
}

function asList(value: Json): Json[] {
  if (!Array.isArray(value)) throw new Error('"loads" in mergewright.json must be a list.');
  return value;
}
