/** What names mean at a place of a text, and the rows that stand for them at run time. */
import type { Expression, Identifier, NodeBase, Query, TableReference } from '../../../server/src/syntax/tree.ts';
import type { Collation } from './collations.ts';
import { SqlError } from './errors.ts';
import type { SqlType } from './types.ts';
import type { Value } from './values.ts';

export interface Column {
  readonly name: string;
  readonly type: SqlType;
}

/** Rows while a query runs: one row per source of the scope, and those of the queries around it. */
export interface Environment {
  readonly rows: readonly (readonly Value[])[];
  readonly outer: Environment | null;
  /** Of a group: its members, and the values that it was grouped by. */
  readonly members?: readonly Environment[];
  readonly keys?: readonly Value[];
  /** Results of the window functions for this row. */
  windows?: Value[];
}

/** An expression with its type; two with the same `canon` in one scope mean the same. */
export interface Bound {
  readonly type: SqlType;
  readonly canon: string;
  readonly run: (env: Environment) => Value;
}

/** True, false or unknown. */
export type Condition = (env: Environment) => boolean | null;

export interface Relation {
  readonly columns: readonly Column[];
  readonly rows: (outer: Environment | null) => readonly (readonly Value[])[];
}

/** What a text can see of the session that runs it. */
export interface World {
  /** Of the database: what columns, literals and variables have that say nothing. */
  readonly collation: Collation;
  /** Product version; the newest for platforms without one. */
  readonly version: number;
  readonly now: bigint;
  variable(name: string): Variable;
  systemVariable(name: string): Bound;
  /** Throws error 208. */
  relation(reference: TableReference): Relation;
  /** The number of an object, null when there is none. */
  objectId(name: string, type: string | null): bigint | null;
  readonly transactionState: bigint;
  readonly transactionCount: bigint;
  /** Source text of a node of the statement that is bound. */
  textOf(node: NodeBase): string;
  /** Binds a query inside an expression or a source. */
  query(query: Query, outer: Scope | null): Relation;
}

export interface Variable {
  readonly name: string;
  readonly type: SqlType;
  value: Value;
}

export interface Source {
  /** Lower case; what its columns can be prefixed by. */
  readonly alias: string;
  /** Of a table without an alias: `dbo` in front of it is allowed. */
  readonly schema: string | null;
  readonly columns: readonly Column[];
}

export interface WindowCall {
  readonly compute: (rows: readonly Environment[]) => readonly Value[];
}

export class Scope {
  readonly world: World;
  readonly outer: Scope | null;
  readonly sources: Source[] = [];
  readonly id: number;
  /** Canon of what the rows are grouped by → its place in `keys`; null while single rows are meant. */
  groupedBy: ReadonlyMap<string, number> | null = null;
  /** Window functions of SELECT and ORDER BY; null where they are not allowed. */
  windows: WindowCall[] | null = null;
  /** Sources from here to there can be seen: those that an ON joins. */
  visible: readonly [number, number] | null = null;

  constructor(world: World, outer: Scope | null) {
    this.world = world;
    this.outer = outer;
    this.id = outer === null ? 0 : outer.id + 1;
  }

  /** Adds a source and returns its place. Two of one name are error 1013. */
  add(source: Source): number {
    if (this.sources.some(({ alias, schema }) => alias === source.alias && schema === source.schema)) {
      throw new SqlError(
        1013,
        `The objects "${source.alias}" and "${source.alias}" in the FROM clause have the same exposed names.`,
        15,
      );
    }
    this.sources.push(source);
    return this.sources.length - 1;
  }

  /** Runs `bind` as if rows were not grouped: for the arguments of aggregates, and for what is grouped by. */
  ungrouped<T>(bind: () => T): T {
    const [grouped, windows] = [this.groupedBy, this.windows];
    this.groupedBy = null;
    this.windows = null;
    try {
      return bind();
    } finally {
      this.groupedBy = grouped;
      this.windows = windows;
    }
  }
}

/** A column by its name; errors 207, 209 and 4104 as the server raises them, 8120 for one that is not grouped by. */
export function bindColumn(parts: readonly (Identifier | null)[], scope: Scope): Bound {
  const column = parts.at(-1)?.name ?? '';
  const written = parts.map((part) => part?.name ?? '').join('.');
  let depth = 0;
  for (let at: Scope | null = scope; at !== null; at = at.outer) {
    const found = columnIn(at, parts, column);
    if (found !== null) return reference(at, found[0], found[1], depth, written);
    depth += 1;
  }
  if (parts.length > 1) throw new SqlError(4104, `The multi-part identifier "${written}" could not be bound.`);
  throw new SqlError(207, `Invalid column name '${column}'.`);
}

function columnIn(
  scope: Scope,
  parts: readonly (Identifier | null)[],
  column: string,
): readonly [number, number] | null {
  const [first, last] = scope.visible ?? [0, scope.sources.length];
  const prefix = parts.at(-2)?.name.toLowerCase();
  const schema = parts.at(-3)?.name.toLowerCase();
  const wanted = column.toLowerCase();
  const found: (readonly [number, number])[] = [];
  for (let place = first; place < last; place += 1) {
    const source = scope.sources[place];
    if (source === undefined || (prefix !== undefined && source.alias !== prefix)) continue;
    if (schema !== undefined && source.schema !== schema) continue;
    const hits = source.columns.flatMap(({ name }, index) => (name.toLowerCase() === wanted ? [index] : []));
    if (prefix !== undefined && hits.length === 0) throw new SqlError(207, `Invalid column name '${column}'.`);
    for (const hit of hits) found.push([place, hit]);
  }
  if (found.length > 1) throw new SqlError(209, `Ambiguous column name '${column}'.`);
  return found[0] ?? null;
}

function reference(scope: Scope, place: number, index: number, depth: number, written: string): Bound {
  const column = scope.sources[place]?.columns[index];
  if (column === undefined) throw new RangeError('a source without this column');
  const canon = `column ${scope.id}.${place}.${index}`;
  const key = scope.groupedBy === null ? null : (scope.groupedBy.get(canon) ?? -1);
  if (key === -1) {
    throw new SqlError(
      8120,
      `Column '${written}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.`,
    );
  }
  const run = (env: Environment): Value => {
    let at: Environment | null = env;
    for (let step = 0; step < depth; step += 1) at = at?.outer ?? null;
    const value = key === null ? at?.rows[place]?.[index] : at?.keys?.[key];
    if (value === undefined) throw new RangeError(`no value for column ${written}`);
    return value;
  };
  return { type: column.type, canon, run };
}

/** Whether an expression of this kind is a predicate, which T-SQL does not take for a value. */
export function isPredicate({ kind }: Expression): boolean {
  return ['is-null', 'is-distinct', 'in-list', 'in-query', 'between', 'like', 'exists', 'quantified'].includes(kind);
}
