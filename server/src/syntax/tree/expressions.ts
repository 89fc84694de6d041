import type { DataType, Identifier, Name, NodeBase, OpaqueClause } from './node.ts';
import type { OrderItem, Query } from './queries.ts';

export type Expression =
  | Literal
  | Variable
  | ColumnReference
  | Star
  | Call
  | MemberAccess
  | StaticMember
  | Cast
  | Case
  | Binary
  | Unary
  | IsNull
  | IsTruth
  | IsDistinct
  | InList
  | InQuery
  | Between
  | Like
  | Exists
  | Quantified
  | Subquery
  | Parenthesis
  | Collate
  | AtTimeZone
  | NextValue
  | DefaultValue
  | Tuple
  | ListLiteral
  | StructLiteral
  | Lambda
  | IndexAccess
  | NamedArgument
  | Interval
  | CurrentOf
  | ErrorExpression;

export type LiteralType = 'string' | 'national' | 'number' | 'money' | 'binary' | 'null' | 'boolean' | 'typed';

export interface Literal extends NodeBase {
  readonly kind: 'literal';
  readonly type: LiteralType;
  /** The characters of a string without quotes and with doubled quotes undone; other literals as written. */
  readonly value: string;
  /** For 'typed' literals such as `DATE '2026-01-01'`: the type's name in upper case. */
  readonly typeName: string | null;
}

/** `@x`, `@@ROWCOUNT`, `:p`, `?`, `$1`, `${x}`. */
export interface Variable extends NodeBase {
  readonly kind: 'variable';
  /** With its mark, as written. */
  readonly name: string;
}

/** A column by one to four parts; also `$action`, `$identity`, `inserted.x`. */
export interface ColumnReference extends NodeBase {
  readonly kind: 'column';
  readonly parts: readonly (Identifier | null)[];
}

/** `*` or `t.*`, with DuckDB's and Databricks' EXCEPT/EXCLUDE list. */
export interface Star extends NodeBase {
  readonly kind: 'star';
  readonly qualifier: readonly (Identifier | null)[];
  readonly except: readonly Identifier[];
  readonly replace: readonly StarReplacement[];
}

export interface StarReplacement extends NodeBase {
  readonly kind: 'star-replacement';
  readonly expression: Expression;
  readonly alias: Identifier;
}

export interface Call extends NodeBase {
  readonly kind: 'call';
  readonly name: Name;
  readonly arguments: readonly Expression[];
  readonly distinct: boolean;
  /** ORDER BY inside the parentheses (DuckDB, Spark). */
  readonly orderBy: readonly OrderItem[];
  readonly withinGroup: readonly OrderItem[];
  readonly filter: Expression | null;
  /** `IGNORE NULLS` or `RESPECT NULLS`. */
  readonly nulls: 'ignore' | 'respect' | null;
  readonly over: Window | null;
  /** Parts that only their bounds are known of: the inside of CONTAINS (…), JSON_OBJECT's NULL ON NULL … */
  readonly clauses: readonly OpaqueClause[];
}

export interface Window extends NodeBase {
  readonly kind: 'window';
  /** `OVER w` and `OVER (w …)`. */
  readonly name: Identifier | null;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  readonly frame: WindowFrame | null;
}

export interface WindowFrame extends NodeBase {
  readonly kind: 'window-frame';
  readonly unit: 'rows' | 'range' | 'groups';
  readonly from: FrameBound;
  readonly to: FrameBound | null;
}

export interface FrameBound extends NodeBase {
  readonly kind: 'frame-bound';
  readonly type: 'unbounded-preceding' | 'preceding' | 'current-row' | 'following' | 'unbounded-following';
  readonly offset: Expression | null;
}

/** `(expression).member`, `@doc.nodes('…')`, a struct's field of something that is no plain column. */
export interface MemberAccess extends NodeBase {
  readonly kind: 'member';
  readonly object: Expression;
  readonly member: Identifier;
  /** Null for a property without parentheses. */
  readonly arguments: readonly Expression[] | null;
}

/** `geography::Point(1, 2, 4326)`, `hierarchyid::GetRoot()`. */
export interface StaticMember extends NodeBase {
  readonly kind: 'static-member';
  readonly type: Name;
  readonly member: Identifier;
  readonly arguments: readonly Expression[] | null;
}

export interface Cast extends NodeBase {
  readonly kind: 'cast';
  readonly function: 'CAST' | 'TRY_CAST' | 'CONVERT' | 'TRY_CONVERT' | 'PARSE' | 'TRY_PARSE' | '::';
  readonly operand: Expression;
  readonly type: DataType;
  /** Third argument of CONVERT, culture of PARSE … USING. */
  readonly style: Expression | null;
}

export interface Case extends NodeBase {
  readonly kind: 'case';
  readonly operand: Expression | null;
  readonly branches: readonly CaseBranch[];
  readonly otherwise: Expression | null;
}

export interface CaseBranch extends NodeBase {
  readonly kind: 'case-branch';
  readonly when: Expression;
  readonly then: Expression;
}

/** Arithmetic, comparison and logic; `operator` in upper case as written: `+`, `<>`, `AND`, `<=>`, `||`. */
export interface Binary extends NodeBase {
  readonly kind: 'binary';
  readonly operator: string;
  readonly left: Expression;
  readonly right: Expression;
}

/** `-`, `+`, `~`, `NOT`, `!`. */
export interface Unary extends NodeBase {
  readonly kind: 'unary';
  readonly operator: string;
  readonly operand: Expression;
}

export interface IsNull extends NodeBase {
  readonly kind: 'is-null';
  readonly operand: Expression;
  readonly not: boolean;
}

/** `IS [NOT] TRUE | FALSE | UNKNOWN` (Spark, DuckDB). */
export interface IsTruth extends NodeBase {
  readonly kind: 'is-truth';
  readonly operand: Expression;
  readonly value: 'true' | 'false' | 'unknown';
  readonly not: boolean;
}

export interface IsDistinct extends NodeBase {
  readonly kind: 'is-distinct';
  readonly left: Expression;
  readonly right: Expression;
  /** True for IS NOT DISTINCT FROM: the null-safe equality. */
  readonly not: boolean;
}

export interface InList extends NodeBase {
  readonly kind: 'in-list';
  readonly operand: Expression;
  readonly not: boolean;
  readonly items: readonly Expression[];
}

export interface InQuery extends NodeBase {
  readonly kind: 'in-query';
  readonly operand: Expression;
  readonly not: boolean;
  readonly query: Query;
}

export interface Between extends NodeBase {
  readonly kind: 'between';
  readonly operand: Expression;
  readonly not: boolean;
  readonly low: Expression;
  readonly high: Expression;
}

export interface Like extends NodeBase {
  readonly kind: 'like';
  /** LIKE, ILIKE, RLIKE, GLOB, SIMILAR TO, REGEXP. */
  readonly operator: string;
  readonly operand: Expression;
  readonly not: boolean;
  readonly pattern: Expression;
  readonly escape: Expression | null;
}

export interface Exists extends NodeBase {
  readonly kind: 'exists';
  readonly query: Query;
}

/** `x > ALL (SELECT …)`. */
export interface Quantified extends NodeBase {
  readonly kind: 'quantified';
  readonly operator: string;
  readonly quantifier: 'ALL' | 'ANY' | 'SOME';
  readonly left: Expression;
  readonly query: Query;
}

/** A query in parentheses as a value. */
export interface Subquery extends NodeBase {
  readonly kind: 'subquery';
  readonly query: Query;
}

/** An expression in parentheses; `bare` of `query.ts` looks through it. */
export interface Parenthesis extends NodeBase {
  readonly kind: 'parenthesis';
  readonly inner: Expression;
}

export interface Collate extends NodeBase {
  readonly kind: 'collate';
  readonly operand: Expression;
  readonly collation: Identifier;
}

export interface AtTimeZone extends NodeBase {
  readonly kind: 'at-time-zone';
  readonly operand: Expression;
  readonly zone: Expression;
}

export interface NextValue extends NodeBase {
  readonly kind: 'next-value';
  readonly sequence: Name;
  readonly over: Window | null;
}

/** The word DEFAULT in place of a value. */
export interface DefaultValue extends NodeBase {
  readonly kind: 'default';
}

/** `(a, b)` as one value. */
export interface Tuple extends NodeBase {
  readonly kind: 'tuple';
  readonly items: readonly Expression[];
}

/** DuckDB's `[1, 2]`. */
export interface ListLiteral extends NodeBase {
  readonly kind: 'list';
  readonly items: readonly Expression[];
}

/** DuckDB's `{'a': 1}`. */
export interface StructLiteral extends NodeBase {
  readonly kind: 'struct';
  readonly keys: readonly (Identifier | Literal)[];
  readonly values: readonly Expression[];
}

/** `x -> x + 1`, `(a, b) -> …`, `lambda x: …`. */
export interface Lambda extends NodeBase {
  readonly kind: 'lambda';
  readonly parameters: readonly Identifier[];
  readonly body: Expression;
}

/** `a[1]`, `a[1:2]`. */
export interface IndexAccess extends NodeBase {
  readonly kind: 'index-access';
  readonly operand: Expression;
  readonly index: Expression | null;
  readonly to: Expression | null;
}

/** `name => value`, `name := value` in an argument list, `'key' : value` of JSON_OBJECT. */
export interface NamedArgument extends NodeBase {
  readonly kind: 'named-argument';
  readonly name: Expression;
  readonly value: Expression;
}

/** `INTERVAL 3 DAYS`, `INTERVAL '1' MONTH`. */
export interface Interval extends NodeBase {
  readonly kind: 'interval';
  readonly value: Expression;
  /** Upper case: `DAYS`, `YEAR TO MONTH`; '' where none is written. */
  readonly unit: string;
}

/** `WHERE CURRENT OF cursor`. */
export interface CurrentOf extends NodeBase {
  readonly kind: 'current-of';
  readonly cursor: Expression;
}

/** Stands where no expression could be read; a problem was reported there. */
export interface ErrorExpression extends NodeBase {
  readonly kind: 'error';
}
