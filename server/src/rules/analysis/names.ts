import type { ColumnRole } from '../../../../protocol/roles.ts';
import { namedRoleOrder } from '../../model/conventions.ts';
import { defaultConventions } from '../../model/default-conventions.ts';
import { fitsPattern, words } from '../../model/names.ts';
import { bare, lastPart } from '../../syntax/inspect.ts';
import type { Call, ColumnReference, Expression, Identifier } from '../../syntax/tree.ts';
import { memo } from './memo.ts';

export function same(left: string, right: string): boolean {
  return left.length === right.length && left.toLowerCase() === right.toLowerCase();
}

export function includes(names: readonly string[], name: string): boolean {
  if (names.length < manyNames) return names.some((other) => same(other, name));
  const cell = loweredCell(names);
  if (cell.count !== names.length) {
    cell.lowered = new Set(names.map((other) => other.toLowerCase()));
    cell.count = names.length;
  }
  return cell.lowered.has(name.toLowerCase());
}

/** Lists of so many names are not searched one by one: a wide table's list is asked for each column of another one. */
const manyNames = 16;
/** The list may have grown since it was asked last. */
const loweredCell = memo((_: readonly string[]) => ({ count: 0, lowered: new Set<string>() }));

/** Name of the column that a reference ends in. */
export function columnName(reference: ColumnReference): string {
  return lastPart(reference).name;
}

/** The alias or table name before the column's name, null where the name stands alone. */
export function qualifier(reference: ColumnReference): string | null {
  return reference.parts.length > 1 ? (reference.parts[reference.parts.length - 2]?.name ?? null) : null;
}

/** A plain column under parentheses and COLLATE, else null. */
export function plainColumn(expression: Expression): ColumnReference | null {
  let inner = bare(expression);
  while (inner.kind === 'collate') inner = bare(inner.operand);
  return inner.kind === 'column' ? inner : null;
}

/** Last part of a call's name in upper case: `dbo.Fn` → `FN`, `hashbytes` → `HASHBYTES`. */
export function callName(call: Call): string {
  return lastPart(call.name).name.toUpperCase();
}

/** The call under parentheses, when it is one of the named functions. */
export function callOf(expression: Expression, ...names: readonly string[]): Call | null {
  const inner = bare(expression);
  return inner.kind === 'call' && names.includes(callName(inner)) ? inner : null;
}

const roles = new Map<string, ColumnRole | null>();

/** What a column's name alone says under the usual naming conventions; null when it says nothing. */
export function roleByName(name: string): ColumnRole | null {
  const kept = roles.get(name);
  if (kept !== undefined) return kept;
  const named = namedRoleOrder.find((role) => fitsPattern(name, defaultConventions.columns[role])) ?? null;
  // `row_hash_sum` is a digest, too, whatever a house calls it exactly.
  const found = named ?? (words(name).some((word) => word === 'hash' || word === 'md5') ? 'checksum' : null);
  if (roles.size > 20_000) roles.clear();
  roles.set(name, found);
  return found;
}

/** True for an identifier list that holds a name. */
export function lists(identifiers: readonly Identifier[], name: string): boolean {
  return identifiers.some((identifier) => same(identifier.name, name));
}
