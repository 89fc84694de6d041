import type { Call, Expression, MemberAccess, Variable, Window } from './expressions.ts';
import type { DataType, Identifier, Name, NodeBase, OpaqueClause } from './node.ts';
import type { Delete, Insert, Merge, Update } from './statements.ts';

/** A whole query expression with what may follow it. OPTION stands in the statement. */
export interface Query extends NodeBase {
  readonly kind: 'query';
  readonly with: WithClause | null;
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  readonly offset: Expression | null;
  /** FETCH NEXT n ROWS, LIMIT n. */
  readonly limit: Expression | null;
  /** FOR XML, FOR JSON, FOR BROWSE. */
  readonly forClause: OpaqueClause | null;
}

export type QueryBody = Select | SetOperation | QueryGroup | Values | FromFirst;

export interface WithClause extends NodeBase {
  readonly kind: 'with';
  readonly recursive: boolean;
  readonly tables: readonly CommonTable[];
}

/** One common table expression. */
export interface CommonTable extends NodeBase {
  readonly kind: 'common-table';
  readonly name: Identifier;
  readonly columns: readonly Identifier[];
  readonly query: Query;
}

/** `left UNION ALL right`. */
export interface SetOperation extends NodeBase {
  readonly kind: 'set-operation';
  readonly operator: 'UNION' | 'EXCEPT' | 'INTERSECT' | 'MINUS';
  readonly all: boolean;
  readonly left: QueryBody;
  readonly right: QueryBody;
}

/** A query in parentheses inside a set operation. */
export interface QueryGroup extends NodeBase {
  readonly kind: 'query-group';
  readonly query: Query;
}

/** `VALUES (…), (…)`. */
export interface Values extends NodeBase {
  readonly kind: 'values';
  readonly rows: readonly ValuesRow[];
}

export interface ValuesRow extends NodeBase {
  readonly kind: 'values-row';
  readonly items: readonly Expression[];
}

/** DuckDB's and Spark's `TABLE t` and `FROM t` without SELECT. */
export interface FromFirst extends NodeBase {
  readonly kind: 'from-first';
  readonly from: readonly TableSource[];
}

export interface Select extends NodeBase {
  readonly kind: 'select';
  readonly top: Top | null;
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly into: Name | null;
  /** Comma-separated sources; [] without FROM. */
  readonly from: readonly TableSource[];
  readonly where: Expression | null;
  readonly groupBy: GroupBy | null;
  readonly having: Expression | null;
  readonly windows: readonly NamedWindow[];
  readonly qualify: Expression | null;
  /** DISTRIBUTE BY, SORT BY, LATERAL VIEW, USING SAMPLE … */
  readonly clauses: readonly OpaqueClause[];
}

export interface NamedWindow extends NodeBase {
  readonly kind: 'named-window';
  readonly name: Identifier;
  readonly window: Window;
}

export interface Top extends NodeBase {
  readonly kind: 'top';
  readonly count: Expression;
  readonly percent: boolean;
  readonly withTies: boolean;
}

export interface SelectItem extends NodeBase {
  readonly kind: 'select-item';
  readonly expression: Expression;
  readonly alias: Identifier | null;
  /** `expression AS alias`, `expression alias`, `alias = expression`. */
  readonly aliasStyle: 'as' | 'bare' | 'equals' | null;
  /** `@v = expression`, `@v += expression`. */
  readonly assigns: Variable | null;
}

export interface GroupBy extends NodeBase {
  readonly kind: 'group-by';
  /** GROUP BY ALL (DuckDB, Spark, old T-SQL). */
  readonly all: boolean;
  /** ROLLUP (…), CUBE (…) are calls; `()` and `(a, b)` are tuples; GROUPING SETS is a call of that name. */
  readonly items: readonly Expression[];
  readonly clauses: readonly OpaqueClause[];
}

export interface OrderItem extends NodeBase {
  readonly kind: 'order-item';
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last' | null;
}

export type TableSource =
  | TableReference
  | TableVariable
  | DerivedTable
  | TableFunction
  | DmlTable
  | Join
  | Pivot
  | Unpivot
  | SourceGroup;

export interface TableReference extends NodeBase {
  readonly kind: 'table';
  readonly name: Name;
  readonly alias: Identifier | null;
  readonly columns: readonly Identifier[];
  readonly hints: readonly TableHint[];
  /** FOR SYSTEM_TIME …, VERSION AS OF …, TIMESTAMP AS OF …, `@v1`. */
  readonly timeTravel: OpaqueClause | null;
  /** TABLESAMPLE … */
  readonly sample: OpaqueClause | null;
}

/** `@t` as a source or target. */
export interface TableVariable extends NodeBase {
  readonly kind: 'table-variable';
  readonly name: string;
  readonly alias: Identifier | null;
  readonly hints: readonly TableHint[];
}

/** A query or VALUES in parentheses; `(VALUES …) AS v (a, b)` has a `values` body. */
export interface DerivedTable extends NodeBase {
  readonly kind: 'derived-table';
  readonly lateral: boolean;
  readonly query: Query;
  readonly alias: Identifier | null;
  readonly columns: readonly Identifier[];
}

/** A call as a source: a table-valued function, OPENJSON, OPENROWSET, `@x.nodes('…')`, read_csv. */
export interface TableFunction extends NodeBase {
  readonly kind: 'table-function';
  readonly lateral: boolean;
  readonly call: Call | MemberAccess;
  /** `WITH (name type 'path' AS JSON, …)` of OPENJSON and its like. */
  readonly schema: readonly SchemaColumn[];
  readonly alias: Identifier | null;
  readonly columns: readonly Identifier[];
  readonly hints: readonly TableHint[];
}

export interface SchemaColumn extends NodeBase {
  readonly kind: 'schema-column';
  readonly name: Identifier;
  readonly type: DataType;
}

/** `(MERGE … OUTPUT …) AS x`: rows of a nested write. */
export interface DmlTable extends NodeBase {
  readonly kind: 'dml-table';
  readonly statement: Merge | Insert | Update | Delete;
  readonly alias: Identifier | null;
  readonly columns: readonly Identifier[];
}

export type JoinType =
  | 'inner'
  | 'left'
  | 'right'
  | 'full'
  | 'cross'
  | 'cross-apply'
  | 'outer-apply'
  | 'semi'
  | 'anti'
  | 'asof'
  | 'positional';

export interface Join extends NodeBase {
  readonly kind: 'join';
  readonly type: JoinType;
  readonly natural: boolean;
  /** LOOP, HASH, MERGE, REMOTE, REDUCE … in upper case. */
  readonly hint: string | null;
  readonly left: TableSource;
  readonly right: TableSource;
  readonly on: Expression | null;
  readonly using: readonly Identifier[];
}

export interface Pivot extends NodeBase {
  readonly kind: 'pivot';
  readonly source: TableSource;
  readonly aggregates: readonly SelectItem[];
  readonly column: Expression;
  readonly values: readonly SelectItem[];
  readonly alias: Identifier | null;
}

export interface Unpivot extends NodeBase {
  readonly kind: 'unpivot';
  readonly source: TableSource;
  readonly value: Identifier;
  readonly column: Identifier;
  readonly columns: readonly Expression[];
  readonly alias: Identifier | null;
}

/** A join in parentheses. */
export interface SourceGroup extends NodeBase {
  readonly kind: 'source-group';
  readonly source: TableSource;
  readonly alias: Identifier | null;
}

export interface TableHint extends NodeBase {
  readonly kind: 'table-hint';
  /** Upper case: `NOLOCK`, `HOLDLOCK`, `INDEX`, `FORCESEEK`. */
  readonly name: string;
  /** Source text in the parentheses or after `=`, null where there is none. */
  readonly value: string | null;
}

/** One hint of OPTION (…). */
export interface QueryHint extends NodeBase {
  readonly kind: 'query-hint';
  /** Upper case words: `MAXDOP 1`, `MERGE JOIN`, `LABEL = 'x'` (values as written). */
  readonly text: string;
}
