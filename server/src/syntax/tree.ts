import type { PlatformName } from '../../../protocol/platform.ts';
import type {
  AddElements,
  AlterColumn,
  AlterTableOther,
  ColumnChange,
  ColumnDefinition,
  Constraint,
  DropElements,
  DroppedElement,
  IdentityClause,
  IndexDefinition,
  KeyColumn,
  LikeClause,
  ReferencesClause,
  RenameColumn,
  ReplaceColumns,
} from './tree/definitions.ts';
import type { CaseBranch, Expression, FrameBound, StarReplacement, Window, WindowFrame } from './tree/expressions.ts';
import type { DataType, Identifier, Name, OpaqueClause, Option, TypeField } from './tree/node.ts';
import type {
  CommonTable,
  GroupBy,
  NamedWindow,
  OrderItem,
  Query,
  QueryBody,
  QueryHint,
  SchemaColumn,
  SelectItem,
  TableHint,
  TableSource,
  Top,
  ValuesRow,
  WithClause,
} from './tree/queries.ts';
import type { StatementBranch } from './tree/scripting.ts';
import type {
  Assignment,
  Conflict,
  DeclaredVariable,
  DefaultValues,
  ExecuteArgument,
  MergeAction,
  MergeBranch,
  Output,
  Parameter,
  Statement,
} from './tree/statements.ts';

export type * from './tree/definitions.ts';
export type * from './tree/expressions.ts';
export type * from './tree/node.ts';
export type * from './tree/queries.ts';
export type * from './tree/scripting.ts';
export type * from './tree/statements.ts';

/** Every node of a statement's tree. */
export type Node =
  | Statement
  | Expression
  | Query
  | QueryBody
  | TableSource
  | Identifier
  | Name
  | DataType
  | TypeField
  | OpaqueClause
  | Conflict
  | Option
  | StarReplacement
  | Window
  | WindowFrame
  | FrameBound
  | CaseBranch
  | StatementBranch
  | WithClause
  | CommonTable
  | ValuesRow
  | NamedWindow
  | Top
  | SelectItem
  | GroupBy
  | OrderItem
  | SchemaColumn
  | TableHint
  | QueryHint
  | ColumnDefinition
  | IdentityClause
  | Constraint
  | KeyColumn
  | ReferencesClause
  | IndexDefinition
  | LikeClause
  | AddElements
  | ReplaceColumns
  | AlterColumn
  | ColumnChange
  | DropElements
  | DroppedElement
  | RenameColumn
  | AlterTableOther
  | DefaultValues
  | Assignment
  | Output
  | MergeBranch
  | MergeAction
  | Parameter
  | DeclaredVariable
  | ExecuteArgument;

export type Kind = Node['kind'];

/** One mistake, at the mistake. Offsets as in `NodeBase`; `message` is one sentence that names what was expected. */
export interface SyntaxProblem {
  readonly start: number;
  readonly end: number;
  readonly message: string;
}

/** A top-level statement with its place in the file: the piece that an edit keeps or parses again. */
export interface Unit {
  /** Offset in the file of its first token; offsets of its nodes count from here. */
  readonly offset: number;
  /** From its first token to its last, the closing semicolon included. */
  readonly length: number;
  readonly statement: Statement;
  readonly problems: readonly SyntaxProblem[];
  /** How far behind its end the parser looked before it decided where the statement ends. */
  readonly lookahead: number;
}

/** A line for the SQLCMD processor (`:r`, `:setvar`, `!!dir`), which the server never sees. */
export interface SqlcmdLine {
  /** Offsets in the file. */
  readonly start: number;
  readonly end: number;
  /** Lower case without the colon: `r`, `setvar`, `on error`; `!!` for a shell command. */
  readonly command: string;
  readonly argument: string;
}

/** The statements between two GO lines (a whole file on platforms without GO). Offsets are offsets in the file. */
export interface ScriptBatch {
  readonly start: number;
  /** Exclusive; the line with GO is outside. */
  readonly end: number;
  /** The GO line that ends the batch, null at the end of the file. */
  readonly separator: { readonly start: number; readonly end: number; readonly repeat: number } | null;
  readonly units: readonly Unit[];
  readonly sqlcmd: readonly SqlcmdLine[];
}

/** A parsed file. `text` is the input, unchanged; batches, units and trivia between them cover it without a gap. */
export interface Script {
  readonly text: string;
  readonly platform: PlatformName;
  readonly batches: readonly ScriptBatch[];
}
