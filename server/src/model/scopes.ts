import type { TableName } from '../../../protocol/catalog.ts';
import type { Identifier, Name, NodeBase, SelectItem } from '../syntax/tree.ts';
import { sameIdentifier } from './names.ts';
import type { QueryGives, QueryOutput } from './query-outputs.ts';

/** What a mention of a table does to it. */
export type Access = 'define' | 'alter' | 'drop' | 'read' | 'insert' | 'update' | 'delete' | 'merge';

/** A mention of a table in a script. Offsets count from the statement (`Unit`) as those of nodes do. */
export interface TableMention {
  readonly kind: 'table';
  readonly name: TableName;
  readonly access: Access;
  readonly node: Name;
}

/** A mention of a column, with the tables it may belong to; [] when they can't be told. */
export interface ColumnMention {
  readonly kind: 'column';
  readonly column: string;
  readonly tables: readonly TableName[];
  /** A column that is given a value, or defined. */
  readonly written: boolean;
  /** The column of a query of the same statement that it names; null for columns of tables. */
  readonly output: QueryOutput | null;
  readonly node: Identifier;
}

/** A name that a statement gives to a table or query, where it is given and where it is used. */
export interface AliasMention {
  readonly node: Identifier;
  readonly declared: Identifier;
  readonly source: ScopeSource;
}

/** A column that a query gives without naming it anew, to a statement around it or to the columns of a view or table. */
export interface BareOutput {
  readonly node: Identifier;
  readonly item: SelectItem;
  /** Null for a query inside of a statement. */
  readonly owner: TableName | null;
}

export type Mention = TableMention | ColumnMention;

/** One source that names of a query may refer to. */
export interface ScopeSource {
  readonly alias: string;
  /** Null for common tables, derived tables and functions. */
  readonly table: TableName | null;
  /** What a common or derived table gives, as far as it is known. */
  readonly query: QueryGives | null;
  /** Where the name is given; null for tables under their own names. */
  readonly declared: Identifier | null;
}

/** A node with the sources that are visible in it, innermost first. */
export interface Scoped {
  readonly node: NodeBase;
  readonly sources: readonly ScopeSource[];
  /** The table whose columns a list, SET or INSERT at this place names. */
  readonly target: TableName | null;
}

/** The sources that names may refer to, innermost first. */
export type Sources = readonly ScopeSource[];
/** Common tables by their names in lower case. */
export type Commons = ReadonlyMap<string, ScopeSource>;

/** The source that a qualifier means: by its alias, else by the table's own name. */
export function sourceNamed(sources: Sources, name: string): ScopeSource | undefined {
  return (
    sources.find(({ alias }) => sameIdentifier(alias, name)) ??
    sources.find(({ table }) => table !== null && sameIdentifier(table.table, name))
  );
}

export function sameTable(left: TableName | null, right: TableName | null): boolean {
  return left !== null && right !== null && sameIdentifier(left.table, right.table) && left.schema === right.schema;
}
