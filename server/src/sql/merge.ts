/**
 * The MERGE shape: the writes of a plan that read one relation become one MERGE. Rows that are updated or removed bear
 * what finds their stored row; rows that are inserted bear NULL there, so they match nothing.
 */
import { choose, column, literal } from '../load/build.ts';
import { type Expression, type Item, typeOf, types, type ValueType } from '../load/language.ts';
import type { Assignment, RowMatch, Write } from '../load/plan.ts';

export interface Merge {
  readonly kind: 'merge';
  readonly says: string;
  readonly from: string;
  /** Rows that have a stored row, and rows that have none; the same items in the same order. Aliased `c` inside. */
  readonly matched: { readonly where: readonly Expression[]; readonly items: readonly Item[] };
  readonly added: { readonly where: readonly Expression[]; readonly items: readonly Item[] };
  /** An item that is 1 where there is a stored row: needed where a match of two NULLs would take added rows for stored ones. */
  readonly marker: string | null;
  readonly match: RowMatch;
  /** When a matched row is removed; null for never. */
  readonly deletes: Expression | null;
  readonly updates: readonly Assignment[];
  readonly inserts: readonly Assignment[];
}

/** A column of the target as it is stored, by its name and type. */
export type StoredColumn = (name: string, type: ValueType) => Expression;

/** Joins writes of one relation into merges, in their order; writes that would stand alone stay as they are. */
export function mergedWrites(writes: readonly Write[], stored: StoredColumn): readonly (Write | Merge)[] {
  const groups = new Map<string, Write[]>();
  for (const write of writes) {
    const group = write.kind === 'insert' && write.into !== undefined ? ` ${JSON.stringify(write.into)}` : write.from;
    groups.set(group, [...(groups.get(group) ?? []), write]);
  }
  return [...groups.values()].flatMap((group): readonly (Write | Merge)[] => {
    const merge = mergeOf(group, stored);
    return merge === null ? group : [merge];
  });
}

function mergeOf(group: readonly Write[], stored: StoredColumn): Merge | null {
  const changing = group.filter((write) => write.kind !== 'insert');
  const inserts = group.filter((write) => write.kind === 'insert');
  const [first] = changing;
  const [insert, ...otherInserts] = inserts;
  if (first === undefined || insert === undefined || otherInserts.length > 0) return null;
  if (changing.some((write) => JSON.stringify(write.match) !== JSON.stringify(first.match))) return null;
  const { match } = first;
  const matchNames = match.address === null ? namesOf(match.on) : [match.address];
  const used = new Set([
    ...matchNames,
    ...namesOf(group.flatMap((write) => [...write.where, ...valuesOf(write).map(({ value }) => value)])),
  ]);
  const typed = new Map(columnsOf(group).map((of) => [of.name, of]));
  const marker = match.address === null && match.on.some(({ kind }) => kind === 'same') ? 'has_stored_row' : null;
  const itemsFor = (hasRow: boolean): readonly Item[] => [
    ...(marker === null ? [] : [{ name: marker, value: literal(hasRow ? 1 : 0) }]),
    ...[...used].map((name) => {
      const of = typed.get(name) ?? { kind: 'column' as const, of: 'c', name, type: types.count };
      const value: Expression = !hasRow && matchNames.includes(name) ? literal(null, of.type) : of;
      return { name, value };
    }),
  ];
  const updates = changing.filter((write) => write.kind === 'update');
  const deletes = changing.filter((write) => write.kind === 'delete');
  return {
    kind: 'merge',
    says: group.map((write) => write.says).join(' '),
    from: first.from,
    matched: { where: [anyOf(changing)], items: itemsFor(true) },
    added: { where: insert.where, items: itemsFor(false) },
    marker,
    match,
    deletes: deletes.length === 0 ? null : anyOf(deletes),
    updates: joinedAssignments(updates, stored),
    inserts: insert.values,
  };
}

/** One assignment per column; where updates differ in their columns, each keeps to its own rows. */
function joinedAssignments(updates: readonly Write[], stored: StoredColumn): readonly Assignment[] {
  const [only, ...more] = updates;
  if (only !== undefined && only.kind === 'update' && more.length === 0) return only.set;
  const columns = [...new Set(updates.flatMap((write) => valuesOf(write).map((set) => set.column)))];
  return columns.map((name) => {
    const changes = updates.flatMap((write) => {
      const set = valuesOf(write).find((candidate) => candidate.column === name);
      return set === undefined ? [] : [[allOf(write.where), set.value] as const];
    });
    return { column: name, value: choose(changes, stored(name, assignedType(changes.map(([, value]) => value)))) };
  });
}

/** A column has the type of what is assigned to it. It matters where texts of two collations meet: other types have none. */
function assignedType(values: readonly Expression[]): ValueType {
  return values.map(typeOf).find((type) => type !== null) ?? types.count;
}

function valuesOf(write: Write): readonly Assignment[] {
  return write.kind === 'update' ? write.set : write.kind === 'insert' ? write.values : [];
}

function allOf(of: readonly Expression[]): Expression {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'all', of };
}

function anyOf(writes: readonly Write[]): Expression {
  const conditions = writes.map((write) => allOf(write.where));
  const [only] = conditions;
  return conditions.length === 1 && only !== undefined ? only : { kind: 'any', of: conditions };
}

type ColumnExpression = Extract<Expression, { kind: 'column' }>;

function columnsOf(group: readonly Write[]): readonly ColumnExpression[] {
  return group.flatMap((write) =>
    changeColumns([
      ...write.where,
      ...valuesOf(write).map(({ value }) => value),
      ...(write.kind === 'insert' ? [] : write.match.on),
    ]),
  );
}

function namesOf(expressions: readonly Expression[]): readonly string[] {
  return [...new Set(changeColumns(expressions).map((of) => of.name))];
}

/** The change relation's columns (alias `c`) that expressions read, in order of first use. */
export function changeColumns(expressions: readonly Expression[]): readonly ColumnExpression[] {
  const found: ColumnExpression[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const part of node) visit(part);
    } else if (isExpressionLike(node)) {
      if (isColumn(node)) {
        if (node.of === 'c') found.push(node);
      } else {
        for (const part of Object.values(node)) visit(part);
      }
    }
  };
  visit(expressions);
  return found;
}

function isExpressionLike(node: unknown): node is Readonly<Record<string, unknown>> {
  return typeof node === 'object' && node !== null;
}

function isColumn(
  node: Readonly<Record<string, unknown>>,
): node is ColumnExpression & Readonly<Record<string, unknown>> {
  return node['kind'] === 'column';
}

/** A column of the target, in a MERGE or an update of it. */
export function storedColumn(name: string, type: ValueType): Expression {
  return column('t', name, type);
}
