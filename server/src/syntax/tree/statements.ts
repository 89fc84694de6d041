import type {
  AlterTable,
  CreateIndex,
  CreateSchema,
  CreateSequence,
  CreateTable,
  CreateType,
  CreateView,
  Drop,
  Rename,
  TableElement,
  Truncate,
} from './definitions.ts';
import type { ColumnReference, Expression, Variable } from './expressions.ts';
import type { DataType, Identifier, Name, NodeBase, OpaqueClause, Option } from './node.ts';
import type {
  Query,
  QueryHint,
  SelectItem,
  TableReference,
  TableSource,
  TableVariable,
  Top,
  WithClause,
} from './queries.ts';
import type { CaseStatement, DeclareHandler, Loop, TableLoad } from './scripting.ts';

export type Statement =
  | SelectStatement
  | Insert
  | Update
  | Delete
  | Merge
  | CreateTable
  | AlterTable
  | CreateIndex
  | CreateView
  | CreateType
  | CreateSequence
  | CreateSchema
  | CreateProcedure
  | CreateFunction
  | CreateTrigger
  | Drop
  | Truncate
  | Rename
  | DeclareVariables
  | DeclareTable
  | DeclareCursor
  | SetVariable
  | SetOption
  | If
  | While
  | Loop
  | CaseStatement
  | DeclareHandler
  | TableLoad
  | Block
  | TryCatch
  | Transaction
  | Throw
  | RaiseError
  | Execute
  | Print
  | Return
  | Label
  | Goto
  | LoopControl
  | Use
  | DescribeHistory
  | EmptyStatement
  | OpaqueStatement;

export interface SelectStatement extends NodeBase {
  readonly kind: 'select-statement';
  readonly query: Query;
  readonly hints: readonly QueryHint[];
}

/** What a write goes to; a view or common table is a `table`, too. `other` covers OPENQUERY and its like. */
export type WriteTarget = TableReference | TableVariable | TableSource;

export interface Insert extends NodeBase {
  readonly kind: 'insert';
  readonly with: WithClause | null;
  readonly top: Top | null;
  readonly target: WriteTarget;
  /** [] where no list is written. */
  readonly columns: readonly Identifier[];
  readonly output: readonly Output[];
  readonly source: InsertSource;
  /** Spark's OVERWRITE, REPLACE WHERE and DuckDB's OR REPLACE / OR IGNORE. */
  readonly mode: 'into' | 'overwrite' | 'replace-where' | 'or-replace' | 'or-ignore';
  readonly replaceWhere: Expression | null;
  readonly byName: boolean;
  /** DuckDB's ON CONFLICT. */
  readonly conflict: Conflict | null;
  /** PARTITION (…), RETURNING … */
  readonly clauses: readonly OpaqueClause[];
  readonly hints: readonly QueryHint[];
}

/** `ON CONFLICT [(columns)] [WHERE …] DO NOTHING | DO UPDATE SET … [WHERE …]`. */
export interface Conflict extends NodeBase {
  readonly kind: 'conflict';
  readonly columns: readonly Identifier[];
  /** [] for DO NOTHING. */
  readonly assignments: readonly Assignment[];
  readonly conditions: readonly Expression[];
}

export type InsertSource = Query | Execute | DefaultValues;

export interface DefaultValues extends NodeBase {
  readonly kind: 'default-values';
}

export interface Update extends NodeBase {
  readonly kind: 'update';
  readonly with: WithClause | null;
  readonly top: Top | null;
  readonly target: WriteTarget;
  readonly assignments: readonly Assignment[];
  readonly output: readonly Output[];
  readonly from: readonly TableSource[];
  readonly where: Expression | null;
  readonly clauses: readonly OpaqueClause[];
  readonly hints: readonly QueryHint[];
}

export interface Delete extends NodeBase {
  readonly kind: 'delete';
  readonly with: WithClause | null;
  readonly top: Top | null;
  readonly target: WriteTarget;
  readonly output: readonly Output[];
  /** T-SQL's second FROM; DuckDB's USING. */
  readonly from: readonly TableSource[];
  readonly where: Expression | null;
  readonly clauses: readonly OpaqueClause[];
  readonly hints: readonly QueryHint[];
}

/** One item of SET: `column = value`, `column += value`, `@v = value`, `@v = column = value`, `column.WRITE (…)`. */
export interface Assignment extends NodeBase {
  readonly kind: 'assignment';
  /** Null for `@v = value`. */
  readonly column: ColumnReference | null;
  readonly variable: Variable | null;
  /** `=`, `+=` …; 'call' for a mutator such as `.WRITE (…)`, whose call is the value. */
  readonly operator: string;
  readonly value: Expression;
}

/** OUTPUT … [INTO target (columns)]; DuckDB's RETURNING. */
export interface Output extends NodeBase {
  readonly kind: 'output';
  readonly items: readonly SelectItem[];
  readonly into: TableReference | TableVariable | null;
  readonly intoColumns: readonly Identifier[];
}

export interface Merge extends NodeBase {
  readonly kind: 'merge';
  readonly with: WithClause | null;
  readonly top: Top | null;
  /** Its hints and alias stand in it. */
  readonly target: WriteTarget;
  /** A table, a derived table, a join …; null when the text ends before USING. */
  readonly source: TableSource | null;
  readonly on: Expression | null;
  readonly branches: readonly MergeBranch[];
  readonly output: readonly Output[];
  readonly hints: readonly QueryHint[];
  /** WITH SCHEMA EVOLUTION. */
  readonly schemaEvolution: boolean;
  /** T-SQL asks for the closing semicolon. */
  readonly terminated: boolean;
}

export interface MergeBranch extends NodeBase {
  readonly kind: 'merge-branch';
  readonly match: 'matched' | 'not-matched' | 'not-matched-by-source';
  /** BY TARGET is written out. */
  readonly byTarget: boolean;
  readonly condition: Expression | null;
  /** Null where the text ends before the action. */
  readonly action: MergeAction | null;
}

export type MergeAction = MergeUpdate | MergeInsert | MergeDelete | MergeNothing;

export interface MergeUpdate extends NodeBase {
  readonly kind: 'merge-update';
  /** [] for UPDATE SET *. */
  readonly assignments: readonly Assignment[];
  readonly star: boolean;
  /** Columns of `UPDATE SET * EXCEPT (…)`. */
  readonly except: readonly Identifier[];
}

export interface MergeInsert extends NodeBase {
  readonly kind: 'merge-insert';
  readonly columns: readonly Identifier[];
  /** [] for INSERT * and DEFAULT VALUES. */
  readonly values: readonly Expression[];
  readonly star: boolean;
  readonly except: readonly Identifier[];
  readonly defaultValues: boolean;
}

export interface MergeDelete extends NodeBase {
  readonly kind: 'merge-delete';
}

/** DuckDB's DO NOTHING and ERROR. */
export interface MergeNothing extends NodeBase {
  readonly kind: 'merge-nothing';
}

export interface Parameter extends NodeBase {
  readonly kind: 'parameter';
  /** With `@`; without in Spark and DuckDB. */
  readonly name: string;
  readonly type: DataType | null;
  readonly default: Expression | null;
  readonly output: boolean;
  readonly readOnly: boolean;
  readonly nullable: boolean | null;
}

export interface CreateProcedure extends NodeBase {
  readonly kind: 'create-procedure';
  /** ALTER, or CREATE OR ALTER. */
  readonly alter: boolean;
  readonly name: Name;
  readonly parameters: readonly Parameter[];
  readonly options: readonly Option[];
  /** Statements after AS; a body of one BEGIN … END is one `block`. */
  readonly body: readonly Statement[];
}

export interface CreateFunction extends NodeBase {
  readonly kind: 'create-function';
  readonly alter: boolean;
  readonly name: Name;
  readonly parameters: readonly Parameter[];
  /** Scalar result. */
  readonly returns: DataType | null;
  /** `RETURNS @t TABLE (…)`. */
  readonly returnsVariable: string | null;
  readonly returnsElements: readonly TableElement[];
  readonly options: readonly Option[];
  /** Of an inline function, macro or SQL function. */
  readonly query: Query | null;
  readonly expression: Expression | null;
  readonly body: readonly Statement[];
}

export interface CreateTrigger extends NodeBase {
  readonly kind: 'create-trigger';
  readonly alter: boolean;
  readonly name: Name;
  /** Null for database and server triggers. */
  readonly table: Name | null;
  readonly timing: 'after' | 'instead-of';
  /** `INSERT`, `UPDATE`, `DELETE`, `DROP_TABLE` … */
  readonly events: readonly string[];
  readonly options: readonly Option[];
  readonly body: readonly Statement[];
}

export interface DeclareVariables extends NodeBase {
  readonly kind: 'declare';
  readonly variables: readonly DeclaredVariable[];
}

export interface DeclaredVariable extends NodeBase {
  readonly kind: 'declared-variable';
  readonly name: string;
  /** Null for CURSOR variables and Spark variables without a type. */
  readonly type: DataType | null;
  readonly value: Expression | null;
}

/** `DECLARE @t TABLE (…)`. */
export interface DeclareTable extends NodeBase {
  readonly kind: 'declare-table';
  readonly name: string;
  /** Position of the variable's name. */
  readonly variable: Variable;
  readonly elements: readonly TableElement[];
}

export interface DeclareCursor extends NodeBase {
  readonly kind: 'declare-cursor';
  readonly name: Identifier;
  readonly query: Query | null;
}

export interface SetVariable extends NodeBase {
  readonly kind: 'set-variable';
  readonly variable: Variable;
  readonly operator: string;
  readonly value: Expression;
}

/** SET NOCOUNT ON, SET IDENTITY_INSERT t ON, SET TRANSACTION ISOLATION LEVEL …, DuckDB's and Spark's SET x = y. */
export interface SetOption extends NodeBase {
  readonly kind: 'set-option';
  /** Upper case: `NOCOUNT`, `IDENTITY_INSERT`, `TRANSACTION ISOLATION LEVEL`. */
  readonly names: readonly string[];
  /** `ON`, `OFF`, or the value's source text. */
  readonly value: string;
  /** Of IDENTITY_INSERT. */
  readonly table: Name | null;
}

export interface If extends NodeBase {
  readonly kind: 'if';
  readonly condition: Expression;
  readonly then: Statement;
  readonly otherwise: Statement | null;
}

export interface While extends NodeBase {
  readonly kind: 'while';
  readonly condition: Expression;
  readonly body: Statement;
}

/** BEGIN … END, also BEGIN ATOMIC and Spark's compound statements. */
export interface Block extends NodeBase {
  readonly kind: 'block';
  readonly statements: readonly Statement[];
  readonly options: readonly Option[];
}

export interface TryCatch extends NodeBase {
  readonly kind: 'try-catch';
  readonly try: readonly Statement[];
  readonly catch: readonly Statement[];
}

export interface Transaction extends NodeBase {
  readonly kind: 'transaction';
  readonly action: 'begin' | 'commit' | 'rollback' | 'save';
  /** Name or variable as written. */
  readonly name: string | null;
}

export interface Throw extends NodeBase {
  readonly kind: 'throw';
  /** Number, message, state; [] for a bare THROW. */
  readonly arguments: readonly Expression[];
}

export interface RaiseError extends NodeBase {
  readonly kind: 'raiserror';
  readonly arguments: readonly Expression[];
  /** NOWAIT, LOG, SETERROR. */
  readonly options: readonly string[];
}

export interface Execute extends NodeBase {
  readonly kind: 'execute';
  /** Null for EXEC (string). */
  readonly procedure: Name | Variable | null;
  /** `EXEC @rc = …`. */
  readonly result: Variable | null;
  readonly arguments: readonly ExecuteArgument[];
  /** The expression of EXEC ('…' + @x), EXECUTE IMMEDIATE. */
  readonly sql: Expression | null;
  readonly clauses: readonly OpaqueClause[];
}

export interface ExecuteArgument extends NodeBase {
  readonly kind: 'execute-argument';
  /** `@name = …`. */
  readonly name: Variable | null;
  readonly value: Expression;
  readonly output: boolean;
}

export interface Print extends NodeBase {
  readonly kind: 'print';
  readonly value: Expression;
}

export interface Return extends NodeBase {
  readonly kind: 'return';
  readonly value: Expression | null;
}

export interface Label extends NodeBase {
  readonly kind: 'label';
  readonly name: Identifier;
}

export interface Goto extends NodeBase {
  readonly kind: 'goto';
  readonly name: Identifier;
}

export interface LoopControl extends NodeBase {
  readonly kind: 'loop-control';
  readonly action: 'break' | 'continue';
}

/** USE db, USE CATALOG c, USE SCHEMA s. */
export interface Use extends NodeBase {
  readonly kind: 'use';
  readonly name: Name;
}

export interface DescribeHistory extends NodeBase {
  readonly kind: 'describe-history';
  readonly table: Name;
}

/** A semicolon on its own. */
export interface EmptyStatement extends NodeBase {
  readonly kind: 'empty';
}

/** A statement of which only the bounds are known. Nothing inside it is ever a problem. */
export interface OpaqueStatement extends NodeBase {
  readonly kind: 'opaque';
  /** Leading words in upper case, at most three: `GRANT`, `CREATE PARTITION FUNCTION`, `BACKUP DATABASE`. */
  readonly name: string;
}
