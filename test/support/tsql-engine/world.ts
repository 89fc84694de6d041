/** What a text of a session sees: variables, tables, views, the catalog. */
import type { Name, NodeBase, Query, TableReference } from '../../../server/src/syntax/tree.ts';
import { catalogView } from './catalog-views.ts';
import { ticksOfDate } from './clock.ts';
import type { Collation } from './collations.ts';
import type { DatabaseObject, Table } from './database.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { bindQuery } from './queries.ts';
import type { Bound, Column, Environment, Relation, Scope, Variable, World } from './scope.ts';
import type { SessionState } from './session.ts';
import { bigint, int, type SqlType } from './types.ts';
import type { Value } from './values.ts';

export class SessionWorld implements World {
  readonly session: SessionState;
  /** The top-level statement that offsets count in. */
  readonly text: string;

  constructor(session: SessionState, text: string) {
    this.session = session;
    this.text = text;
  }

  get collation(): Collation {
    return this.session.database.collation;
  }

  get version(): number {
    return this.session.database.facts.version;
  }

  get now(): bigint {
    return ticksOfDate(this.session.database.facts.now());
  }

  get transactionState(): bigint {
    return this.session.transactionState;
  }

  get transactionCount(): bigint {
    return BigInt(this.session.transactionCount);
  }

  variable(name: string): Variable {
    const found = this.session.frame.variables.get(name.toLowerCase());
    if (found === undefined) throw new SqlError(137, `Must declare the scalar variable "${name}".`, 15, 2);
    return found;
  }

  systemVariable(name: string): Bound {
    const { session } = this;
    switch (name.toUpperCase()) {
      case '@@ROWCOUNT':
        return { type: bigint, canon: name, run: () => session.rowCount };
      case '@@TRANCOUNT':
        return { type: int, canon: name, run: () => BigInt(session.transactionCount) };
      default:
        throw new BeyondEngine(name);
    }
  }

  textOf({ start, end }: NodeBase): string {
    return this.text.slice(start, end);
  }

  query(query: Query, outer: Scope | null): Relation {
    return bindQuery(query, outer, this);
  }

  relation({ name }: TableReference): Relation {
    const { schema, name: wanted } = objectName(name);
    const view = catalogView(schema, wanted, this.session.database);
    if (view !== undefined) return view;
    const object = this.object(name);
    if (object === undefined || object.kind === 'procedure') throw missing(name);
    if (object.kind === 'view') return this.#viewed(object.query, object.text);
    const { columns, rows } = object;
    return { columns, rows: () => this.#scanned(rows) };
  }

  /** Whether a name can be read from. */
  isThere(name: Name): boolean {
    const { schema, name: wanted } = objectName(name);
    return catalogView(schema, wanted, this.session.database) !== undefined || this.object(name) !== undefined;
  }

  /** The object of a name, temporary tables too. */
  object(name: Name): DatabaseObject | undefined {
    const { schema, name: wanted } = objectName(name);
    return wanted.startsWith('#') ? this.session.temporary(wanted) : this.session.database.find(schema, wanted);
  }

  /** The table that a statement writes; error 208. */
  table(name: Name): Table {
    const object = this.object(name);
    if (object === undefined) throw missing(name);
    if (object.kind !== 'table') throw new BeyondEngine(`a write to the ${object.kind} ${object.name}`);
    return object;
  }

  objectId(written: string, type: string | null): bigint | null {
    const parts = written.split('.').map((part) => part.replace(/^\[(.*)\]$/s, '$1').replaceAll(']]', ']'));
    const [name = '', schema = 'dbo', database] = [...parts].reverse();
    if (name.startsWith('#')) {
      return database?.toLowerCase() === 'tempdb' ? (this.session.temporary(name)?.id ?? null) : null;
    }
    const found = this.session.database.find(database === undefined ? schema : `${database}.${schema}`, name);
    const kind = found === undefined ? '' : { table: 'U', view: 'V', procedure: 'P' }[found.kind];
    return found === undefined || (type !== null && type.trim().toUpperCase() !== kind) ? null : found.id;
  }

  #viewed(query: Query, text: string): Relation {
    const world = new SessionWorld(this.session, text);
    const { columns, rows } = world.query(query, null);
    return {
      columns: columns.map(({ name, type }): Column => ({ name, type: asColumn(type) })),
      rows: () => rows(null),
    };
  }

  #scanned(rows: Table['rows']): readonly (readonly Value[])[] {
    return this.session.database.facts.backwards ? [...rows].reverse() : rows;
  }
}

/** Where no rows are meant: conditions of IF, values of SET. */
export const nowhere: Environment = { rows: [], outer: null };

/** In another database the schema bears that one's name in front: `Core.dbo`. */
export function objectName({ parts }: Name): { readonly schema: string; readonly name: string } {
  if (parts.length > 3) throw new BeyondEngine('a name of four parts');
  const schema = parts.at(-2)?.name ?? 'dbo';
  const database = parts.at(-3)?.name;
  return { schema: database === undefined ? schema : `${database}.${schema}`, name: parts.at(-1)?.name ?? '' };
}

export function missing(name: Name): SqlError {
  return new SqlError(208, `Invalid object name '${name.parts.map((part) => part?.name ?? '').join('.')}'.`);
}

/** A type as a column has it: its collation is the column's own. */
export function asColumn(type: SqlType): SqlType {
  const { collation } = type;
  return collation === null ? type : { ...type, collation: { ...collation, label: 'column' } };
}
