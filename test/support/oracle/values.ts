/** Keys, digests and comparisons, as the case format defines them. */
import { caseHashRules, neutralRendering } from '../../../cli/src/conformance/hashes.ts';
import { rowText } from '../../../cli/src/conformance/rows.ts';
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import {
  type HashRole,
  normalisedPart,
  type ResolvedHashRules,
  resolvedHashRules,
  rowDigest,
  upperCased,
} from '../../../server/src/load/digest.ts';
import type { OracleLoad } from './load.ts';

export type Value = string | null;

/** How key parts are brought into one form before they are compared: by the hash rules, or by `key_compare`. */
function keyRules({ options }: OracleLoad): Pick<ResolvedHashRules, 'trim' | 'case' | 'empty_as_null'> {
  if (options.hash_rules !== undefined) return resolvedHashRules(caseHashRules(options), 'hash_key');
  return {
    trim: options.key_compare === 'trim',
    case: options.key_compare === 'ci' ? 'upper' : 'as_is',
    empty_as_null: false,
  };
}

/** A key part in comparable form, null when it is missing. */
export function keyPart(value: Value, type: string, load: OracleLoad): Value {
  return normalisedPart(value, neutralRendering(type), keyRules(load), 'hash_key');
}

/** The identity of the thing a staged row speaks of, comparable with `storedKey`. */
export function stagedKey(row: TextRow, load: OracleLoad): string {
  const [only, ...rest] = load.options.target_key;
  const inputs = only === undefined || rest.length > 0 ? undefined : load.options.hash_key?.[only];
  if (only !== undefined && inputs !== undefined && load.tables.target[only] === 'hash') {
    return JSON.stringify([digest(inputs, row, 'hash_key', load)]);
  }
  const keys = load.options.keys ?? [];
  return JSON.stringify(keys.map((key) => keyPart(row[key] ?? null, load.tables.stage[key] ?? 'string', load)));
}

export function storedKey(row: TextRow, load: OracleLoad): string {
  const { target } = load.tables;
  return JSON.stringify(
    load.options.target_key.map((key) =>
      target[key] === 'hash' ? (row[key] ?? null) : keyPart(row[key] ?? null, target[key] ?? 'string', load),
    ),
  );
}

/** The digest over staged columns under the load's hash rules. */
export function digest(columns: readonly string[], row: TextRow, role: HashRole, load: OracleLoad): Value {
  const { stage, target } = load.tables;
  const inputs = columns
    .filter((name) => name in row)
    .map((name) => {
      const type = (role === 'hashdiff' ? (target[name] ?? stage[name]) : stage[name]) ?? 'string';
      return { name, value: row[name] ?? null, rendering: neutralRendering(type) };
    });
  return rowDigest(inputs, resolvedHashRules(caseHashRules(load.options), role), role);
}

/** A target row from a staged one: hash columns computed, the others by name, NULL where the stage has nothing. */
export function targetRow(staged: TextRow, load: OracleLoad): TextRow {
  const { hash_key: keys = {}, hashdiff: diffs = {} } = load.options;
  return Object.fromEntries(
    Object.keys(load.tables.target).map((column) => {
      const keyInputs = keys[column];
      const diffInputs = diffs[column];
      if (keyInputs !== undefined) return [column, digest(keyInputs, staged, 'hash_key', load)];
      if (diffInputs !== undefined) return [column, digest(diffInputs, staged, 'hashdiff', load)];
      return [column, staged[column] ?? null];
    }),
  );
}

/** Whether two values of a tracked column are the same under `compare_mode` and `empty_as_null`. */
export function sameValue(left: Value, right: Value, type: string, load: OracleLoad): boolean {
  return comparable(left, type, load) === comparable(right, type, load);
}

function comparable(value: Value, type: string, { options }: OracleLoad): Value {
  if (value === null || (type !== 'string' && type !== 'text')) return value;
  const trimmed = options.compare_mode === 'trim' ? value.replace(/^ +| +$/g, '') : value;
  const cased = options.compare_mode === 'ci' ? upperCased(trimmed) : trimmed;
  return options.empty_as_null && cased === '' ? null : cased;
}

/** Orders values of a neutral type: numbers by size, texts by code point, times by their text; NULL first. */
export function compareValues(left: Value, right: Value, type: string): number {
  if (left === right) return 0;
  if (left === null) return -1;
  if (right === null) return 1;
  if (type === 'int' || type === 'bigint') return BigInt(left) < BigInt(right) ? -1 : 1;
  if (type.startsWith('decimal')) return Number(left) - Number(right);
  const a = Array.from(left, (letter) => letter.codePointAt(0) ?? 0);
  const b = Array.from(right, (letter) => letter.codePointAt(0) ?? 0);
  const at = a.findIndex((point, i) => point !== b[i]);
  return at === -1 || b[at] === undefined ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? 0);
}

/** Orders rows by columns, one after the other. */
export function byColumns(
  columns: readonly string[],
  types: Readonly<Record<string, string>>,
): (left: TextRow, right: TextRow) => number {
  return (left, right) => {
    for (const column of columns) {
      const order = compareValues(left[column] ?? null, right[column] ?? null, types[column] ?? 'string');
      if (order !== 0) return order;
    }
    return 0;
  };
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Rows without repetitions of the very same row. */
export function distinctRows(rows: readonly TextRow[]): readonly TextRow[] {
  return [...groupBy(rows, rowText).values()].flatMap(([first]) => (first === undefined ? [] : [first]));
}

export function pick(row: TextRow, columns: readonly string[]): string {
  return JSON.stringify(columns.map((column) => row[column] ?? null));
}

export const lastOf = <T>(items: readonly T[]): T | undefined => items[items.length - 1];
