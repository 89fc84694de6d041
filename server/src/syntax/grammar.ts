import type { Cursor } from './cursor.ts';
import type {
  Assignment,
  Delete,
  Execute,
  Expression,
  Insert,
  Merge,
  Query,
  QueryBody,
  Statement,
  TableElement,
  TableSource,
  Update,
  WithClause,
} from './tree.ts';

/**
 * The rules of the grammar that call each other in circles (an expression holds a query, a query holds expressions, a
 * procedure holds statements). Each stands in the file of its theme; `parse.ts` puts them together.
 */
export interface Grammar {
  /** Any expression, a condition included. */
  readonly expression: (cursor: Cursor) => Expression;
  /** An expression that yields a value. */
  readonly value: (cursor: Cursor) => Expression;
  /** An expression that is true, false or unknown. */
  readonly condition: (cursor: Cursor) => Expression;
  /** A literal, variable, column, call or something in parentheses. */
  readonly primary: (cursor: Cursor) => Expression;
  /** An expression without comparisons and logic. */
  readonly operand: (cursor: Cursor) => Expression;
  /** A query with its ORDER BY, from SELECT, WITH, VALUES or a parenthesis on. */
  readonly query: (cursor: Cursor) => Query;
  /** The rest of a query whose first operand, a query in parentheses, was already read as an expression. */
  readonly queryFrom: (cursor: Cursor, first: QueryBody) => Query;
  /** `VALUES (…), (…)` as a query of its own. */
  readonly values: (cursor: Cursor) => Query;
  readonly tableSource: (cursor: Cursor) => TableSource;
  /** A source without the joins behind it. */
  readonly singleSource: (cursor: Cursor) => TableSource;
  /** The items of SET. */
  readonly assignments: (cursor: Cursor) => readonly Assignment[];
  /** INSERT, UPDATE, DELETE or MERGE, without a WITH clause before it (that is passed). */
  readonly write: (cursor: Cursor, withClause: WithClause | null, start: number) => Insert | Update | Delete | Merge;
  /** One statement with its closing semicolon; `first` where a procedure's name alone may stand for EXECUTE. */
  readonly statement: (cursor: Cursor, first?: boolean) => Statement;
  /** Statements up to the end of the batch or a word that ends a block. */
  readonly statements: (cursor: Cursor) => readonly Statement[];
  /** `( column …, constraint … )`, the current token being the opening parenthesis. */
  readonly tableElements: (cursor: Cursor, ofCreateTable?: boolean) => readonly TableElement[];
  readonly execute: (cursor: Cursor) => Execute;
  /** The FROM clause's list of sources, after FROM. */
  readonly sources: (cursor: Cursor) => readonly TableSource[];

  /** The value of a SET option or of a statistics option: a constant, a variable or a word. */
  readonly settingValue: (cursor: Cursor) => void;
}
