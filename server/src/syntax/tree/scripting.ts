import type { Expression } from './expressions.ts';
import type { Identifier, Name, NodeBase } from './node.ts';
import type { Query, TableSource } from './queries.ts';
import type { Block, Statement } from './statements.ts';

/** LOOP, REPEAT … UNTIL and FOR … DO of SQL scripting. */
export interface Loop extends NodeBase {
  readonly kind: 'loop';
  readonly form: 'loop' | 'repeat' | 'for';
  /** The name by which the statements of FOR read a row, and the query that gives the rows. */
  readonly row: Identifier | null;
  readonly query: Query | null;
  readonly body: Block;
  /** Of REPEAT; null where the text ends before it. */
  readonly until: Expression | null;
}

/** CASE … WHEN … THEN statements … END CASE of SQL scripting. */
export interface CaseStatement extends NodeBase {
  readonly kind: 'case-statement';
  /** Null where each WHEN has a condition of its own. */
  readonly operand: Expression | null;
  readonly branches: readonly StatementBranch[];
  readonly otherwise: Block | null;
}

export interface StatementBranch extends NodeBase {
  readonly kind: 'statement-branch';
  /** A condition, or the value that the operand is compared with. */
  readonly condition: Expression;
  readonly body: Block;
}

/** COPY INTO, AUTO CDC INTO and APPLY CHANGES INTO of Databricks; what else they say is known by its bounds. */
export interface TableLoad extends NodeBase {
  readonly kind: 'table-load';
  /** Rows of the target are changed and deleted, too. */
  readonly merges: boolean;
  readonly target: Name;
  /** Null for files. */
  readonly source: TableSource | null;
}

/** DECLARE EXIT | CONTINUE HANDLER FOR … of SQL scripting. */
export interface DeclareHandler extends NodeBase {
  readonly kind: 'declare-handler';
  /** EXIT: the block around it is left afterwards. */
  readonly leaves: boolean;
  /** As written: `SQLEXCEPTION`, `NOT FOUND`, `SQLSTATE '22012'`, `DIVIDE_BY_ZERO`. */
  readonly conditions: readonly string[];
  readonly body: Statement | null;
}
