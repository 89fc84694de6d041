import type { Expression } from './expressions.ts';
import type { DataType, Identifier, Name, NodeBase, OpaqueClause, Option } from './node.ts';
import type { Query } from './queries.ts';

export type TableElement = ColumnDefinition | Constraint | IndexDefinition | LikeClause | OpaqueClause;

export interface ColumnDefinition extends NodeBase {
  readonly kind: 'column-definition';
  readonly name: Identifier;
  /** Null for computed columns and for columns of a CTAS list without types. */
  readonly type: DataType | null;
  /** Expression of a computed or generated column. */
  readonly computed: Expression | null;
  readonly persisted: boolean;
  /** As stated: true for NULL, false for NOT NULL, null where nothing is stated. */
  readonly nullable: boolean | null;
  readonly identity: IdentityClause | null;
  readonly collation: Identifier | null;
  readonly default: Expression | null;
  /** GENERATED ALWAYS AS ROW START / ROW END, transaction and sequence columns of ledger tables, users. */
  readonly generated: GeneratedKind | null;
  readonly hidden: boolean;
  readonly sparse: boolean;
  readonly rowGuid: boolean;
  /** PRIMARY KEY, UNIQUE, CHECK, REFERENCES and DEFAULT written at the column, with their names. */
  readonly constraints: readonly Constraint[];
  readonly index: IndexDefinition | null;
  readonly comment: string | null;
  /** MASKED WITH, ENCRYPTED WITH, FILESTREAM, COLUMN_SET, MASK … */
  readonly clauses: readonly OpaqueClause[];
}

export type GeneratedKind =
  | 'row-start'
  | 'row-end'
  | 'transaction-start'
  | 'transaction-end'
  | 'sequence-start'
  | 'sequence-end'
  | 'user-id-start'
  | 'user-id-end'
  | 'user-name-start'
  | 'user-name-end';

export interface IdentityClause extends NodeBase {
  readonly kind: 'identity';
  /** As written; null where it is left out. */
  readonly seed: string | null;
  readonly increment: string | null;
  readonly notForReplication: boolean;
  /** GENERATED ALWAYS (true) or BY DEFAULT (false) AS IDENTITY; T-SQL's IDENTITY counts as always. */
  readonly always: boolean;
}

export type ConstraintType =
  | 'primary-key'
  | 'unique'
  | 'foreign-key'
  | 'check'
  | 'default'
  | 'not-null'
  | 'period'
  | 'connection'
  | 'expectation';

/** A constraint of a table or of a column (there `columns` is empty for keys: the column itself is meant). */
export interface Constraint extends NodeBase {
  readonly kind: 'constraint';
  readonly type: ConstraintType;
  readonly name: Identifier | null;
  /** Key columns in key order; both period columns; referencing columns of a foreign key. */
  readonly columns: readonly KeyColumn[];
  readonly clustered: boolean | null;
  /** False for NOT ENFORCED; Spark's and Databricks' keys are informational and false, too. */
  readonly enforced: boolean;
  /** Of CHECK, DEFAULT and EXPECT. */
  readonly expression: Expression | null;
  readonly references: ReferencesClause | null;
  /** DEFAULT … FOR column, in ALTER TABLE. */
  readonly forColumn: Identifier | null;
  readonly options: readonly Option[];
}

export interface KeyColumn extends NodeBase {
  readonly kind: 'key-column';
  readonly name: Identifier;
  readonly descending: boolean;
}

export interface ReferencesClause extends NodeBase {
  readonly kind: 'references';
  readonly table: Name;
  readonly columns: readonly Identifier[];
  /** `CASCADE`, `SET NULL`, `NO ACTION`, `SET DEFAULT`. */
  readonly onDelete: string | null;
  readonly onUpdate: string | null;
}

/** An index inside CREATE TABLE, or the description part of CREATE INDEX. */
export interface IndexDefinition extends NodeBase {
  readonly kind: 'index-definition';
  readonly name: Identifier;
  readonly unique: boolean;
  readonly clustered: boolean | null;
  readonly columnstore: boolean;
  readonly columns: readonly KeyColumn[];
  readonly include: readonly Identifier[];
  readonly where: Expression | null;
  readonly options: readonly Option[];
}

/** `LIKE other` in a column list or after the name. */
export interface LikeClause extends NodeBase {
  readonly kind: 'like-clause';
  readonly table: Name;
}

export interface CreateTable extends NodeBase {
  readonly kind: 'create-table';
  readonly name: Name;
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly external: boolean;
  readonly temporary: boolean;
  /** STREAMING, LIVE, MATERIALIZED, REFRESH … of Databricks pipelines, upper case. */
  readonly modifiers: readonly string[];
  readonly elements: readonly TableElement[];
  /** CTAS. */
  readonly query: Query | null;
  /** AS CLONE OF, SHALLOW CLONE, DEEP CLONE, COPY OF, LIKE. */
  readonly cloneOf: Name | null;
  readonly graph: 'node' | 'edge' | null;
  readonly fileTable: boolean;
  /** WITH (…), ON filegroup, USING, PARTITIONED BY, CLUSTER BY, LOCATION, TBLPROPERTIES, COMMENT. */
  readonly options: readonly Option[];
}

export interface AlterTable extends NodeBase {
  readonly kind: 'alter-table';
  readonly name: Name;
  readonly ifExists: boolean;
  readonly actions: readonly AlterTableAction[];
}

export type AlterTableAction =
  | AddElements
  | ReplaceColumns
  | AlterColumn
  | DropElements
  | RenameColumn
  | AlterTableOther;

export interface AddElements extends NodeBase {
  readonly kind: 'add-elements';
  /** WITH CHECK (true), WITH NOCHECK (false), neither (null). */
  readonly check: boolean | null;
  readonly elements: readonly TableElement[];
}

/** Spark's REPLACE COLUMNS (…): the table has these columns and no others afterwards. */
export interface ReplaceColumns extends NodeBase {
  readonly kind: 'replace-columns';
  readonly elements: readonly TableElement[];
}

export interface AlterColumn extends NodeBase {
  readonly kind: 'alter-column';
  readonly column: Identifier;
  /** T-SQL's new definition; null for ADD/DROP of a property, and in the other dialects. */
  readonly definition: ColumnDefinition | null;
  /** What Spark SQL and DuckDB change of the column; null for comments and the like, and in T-SQL. */
  readonly change: ColumnChange | null;
  readonly clauses: readonly OpaqueClause[];
}

/** One change; what it leaves alone is null. */
export interface ColumnChange extends NodeBase {
  readonly kind: 'column-change';
  /** Of `CHANGE old new type`. */
  readonly newName: Identifier | null;
  readonly type: DataType | null;
  readonly nullable: boolean | null;
  readonly default: Expression | null;
  readonly dropsDefault: boolean;
}

export interface DropElements extends NodeBase {
  readonly kind: 'drop-elements';
  readonly items: readonly DroppedElement[];
}

export interface DroppedElement extends NodeBase {
  readonly kind: 'dropped-element';
  readonly type: 'column' | 'constraint' | 'index' | 'period' | 'primary-key' | 'other';
  readonly name: Identifier | null;
}

export interface RenameColumn extends NodeBase {
  readonly kind: 'rename-column';
  readonly from: Identifier;
  readonly to: Identifier;
}

/** SET (…), REBUILD, SWITCH, CHECK/NOCHECK CONSTRAINT, ENABLE TRIGGER, SET TBLPROPERTIES, RENAME TO … */
export interface AlterTableOther extends NodeBase {
  readonly kind: 'alter-table-other';
  /** Leading words in upper case: `SWITCH`, `SET`, `REBUILD`, `CHECK CONSTRAINT`, `RENAME TO`. */
  readonly name: string;
  /** The other table of SWITCH and RENAME TO. */
  readonly table: Name | null;
  readonly options: readonly Option[];
}

export interface CreateIndex extends NodeBase {
  readonly kind: 'create-index';
  readonly table: Name;
  readonly definition: IndexDefinition;
}

export interface CreateView extends NodeBase {
  readonly kind: 'create-view';
  readonly alter: boolean;
  readonly orReplace: boolean;
  readonly materialized: boolean;
  readonly temporary: boolean;
  readonly name: Name;
  readonly columns: readonly Identifier[];
  /** Spark's columns with types and comments and constraints, of which `columns` has the names; [] in T-SQL. */
  readonly elements: readonly TableElement[];
  readonly options: readonly Option[];
  readonly query: Query;
}

export interface CreateType extends NodeBase {
  readonly kind: 'create-type';
  readonly name: Name;
  /** Columns and constraints of a table type, [] for others. */
  readonly elements: readonly TableElement[];
  /** Base type of an alias type. */
  readonly base: DataType | null;
  readonly nullable: boolean | null;
  readonly table: boolean;
  readonly options: readonly Option[];
}

export interface CreateSequence extends NodeBase {
  readonly kind: 'create-sequence';
  readonly alter: boolean;
  readonly name: Name;
  readonly type: DataType | null;
  readonly options: readonly Option[];
}

export interface CreateSchema extends NodeBase {
  readonly kind: 'create-schema';
  readonly name: Name;
  readonly ifNotExists: boolean;
}

export interface Drop extends NodeBase {
  readonly kind: 'drop';
  /** Upper case: `TABLE`, `VIEW`, `PROCEDURE`, `EXTERNAL TABLE`, `INDEX` … */
  readonly objectType: string;
  readonly ifExists: boolean;
  readonly names: readonly Name[];
}

export interface Truncate extends NodeBase {
  readonly kind: 'truncate';
  readonly table: Name;
}

/** Synapse's RENAME OBJECT a TO b and RENAME OBJECT a COLUMN b TO c, T-SQL's ALTER SCHEMA b TRANSFER a. */
export interface Rename extends NodeBase {
  readonly kind: 'rename';
  /** Upper case: `OBJECT`, `DATABASE`, `TYPE`, `XML SCHEMA COLLECTION`. */
  readonly objectType: string;
  readonly from: Name;
  /** The column that gets a new name; null where `from` gets it. */
  readonly column: Identifier | null;
  /** The new name, or the schema that takes the object over. */
  readonly to: Identifier;
  readonly gives: 'name' | 'schema';
}
