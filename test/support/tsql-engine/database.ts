/** Tables, views and procedures. Objects never change; a write puts another one in their place. */
import type { CreateProcedure, Query } from '../../../server/src/syntax/tree.ts';
import { type Collation, fabricCollation, usualCollation } from './collations.ts';
import { SqlError } from './errors.ts';
import type { Column } from './scope.ts';
import { rowKey, type Value } from './values.ts';

export interface TableColumn extends Column {
  readonly nullable: boolean;
}

export interface UniqueKey {
  readonly isPrimary: boolean;
  /** Places of the columns. */
  readonly columns: readonly number[];
}

export interface Table {
  readonly kind: 'table';
  readonly id: bigint;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly TableColumn[];
  readonly keys: readonly UniqueKey[];
  readonly rows: readonly (readonly Value[])[];
}

export interface View {
  readonly kind: 'view';
  readonly id: bigint;
  readonly schema: string;
  readonly name: string;
  readonly query: Query;
  /** The statement that the query's offsets count in. */
  readonly text: string;
}

export interface Procedure {
  readonly kind: 'procedure';
  readonly id: bigint;
  readonly schema: string;
  readonly name: string;
  readonly definition: CreateProcedure;
  readonly text: string;
}

export type DatabaseObject = Table | View | Procedure;
export type Objects = ReadonlyMap<string, DatabaseObject>;

export type Product = 'sqlserver' | 'azuresql' | 'synapse' | 'fabric';

export interface ServerFacts {
  readonly product: Product;
  /** 2012 to 2025; products without one have the newest functions. */
  readonly version: number;
  /** Tables give their rows from the last to the first: a load must not depend on the order. */
  readonly backwards: boolean;
  /** SYSUTCDATETIME. */
  readonly now: () => Date;
}

/** What all sessions of a server share. */
export class Database {
  readonly facts: ServerFacts;
  objects: Objects = new Map();
  #lastId = 1000n;

  constructor(facts: ServerFacts) {
    this.facts = facts;
  }

  get collation(): Collation {
    return this.facts.product === 'fabric' ? fabricCollation : usualCollation;
  }

  nextId(): bigint {
    this.#lastId += 1n;
    return this.#lastId;
  }

  find(schema: string, name: string): DatabaseObject | undefined {
    return this.objects.get(keyOf(schema, name));
  }

  put(object: DatabaseObject): void {
    this.objects = new Map(this.objects).set(keyOf(object.schema, object.name), object);
  }

  remove({ schema, name }: DatabaseObject): void {
    const rest = new Map(this.objects);
    rest.delete(keyOf(schema, name));
    this.objects = rest;
  }
}

function keyOf(schema: string, name: string): string {
  return JSON.stringify([schema.toLowerCase(), name.toLowerCase()]);
}

/** The table with other rows, once they keep its constraints; errors 515 and 2627. */
export function withRows(table: Table, rows: Table['rows']): Table {
  table.columns.forEach(({ name, nullable }, index) => {
    if (!nullable && rows.some((row) => row[index] === null)) {
      throw new SqlError(
        515,
        `Cannot insert the value NULL into column '${name}', table '${table.schema}.${table.name}'; column does not allow nulls.`,
        16,
        2,
      );
    }
  });
  for (const { columns, isPrimary } of table.keys) {
    const of = rowKey(columns.flatMap((place) => table.columns[place]?.type ?? []));
    const seen = new Set(rows.map((row) => of(columns.map((place) => row[place] ?? null))));
    if (seen.size !== rows.length) {
      const what = isPrimary ? 'PRIMARY KEY' : 'UNIQUE KEY';
      throw new SqlError(
        2627,
        `Violation of ${what} constraint. Cannot insert duplicate key in object '${table.schema}.${table.name}'.`,
        14,
      );
    }
  }
  return { ...table, rows };
}
