/**
 * The language of load plans: small immutable trees for values and rows, free of any dialect. Patterns build them with
 * the functions of `build.ts`, the printers in `sql/` write them down.
 *
 * Two rules keep the language portable. A comparison that may meet NULL is `same` or `differs`, each true exactly when
 * it should be and never negated, so a printer may leave the other cases unknown. And what a write needs stands in one
 * materialised relation, since Delta has no UPDATE … FROM, and Synapse no common table expression before DML.
 */
import type { TableName } from '../../../protocol/catalog.ts';
import { isSpark, isTsql, type PlatformName } from '../../../protocol/platform.ts';
import { type TypeFacts, typeFacts } from '../model/types.ts';
import type { DigestAlgorithm } from './digest/algorithms.ts';
import type { Rendering } from './digest/rendering.ts';

/** A family of platforms whose type names mean the same. */
export type TypeOrigin = 'tsql' | 'duckdb' | 'spark';

/** A column type as its DDL wrote it, with what it means. */
export interface ValueType {
  readonly text: string;
  readonly origin: TypeOrigin;
  readonly facts: TypeFacts;
}

/** The dialect in which the types of a platform's tables are written. */
export function originOf(platform: PlatformName): TypeOrigin {
  return isTsql(platform) ? 'tsql' : isSpark(platform) ? 'spark' : 'duckdb';
}

/** A type by its text, such as `decimal(10,0)`, and what is known of it; equal texts give the same object. */
export function valueType(text: string, origin: TypeOrigin = 'tsql'): ValueType {
  const known = knownTypes[origin];
  const type = known.get(text) ?? { text, origin, facts: typeFacts(text, origin === 'tsql') };
  if (known.size >= mostKnownTypes) known.clear();
  known.set(text, type);
  return type;
}

/** Columns of one type share it, until there are very many types. */
const knownTypes: Readonly<Record<TypeOrigin, Map<string, ValueType>>> = {
  tsql: new Map(),
  duckdb: new Map(),
  spark: new Map(),
};
const mostKnownTypes = 10_000;

/** Types of values that loads make themselves. */
export const types = {
  flag: valueType('int'),
  count: valueType('bigint'),
  text: valueType('nvarchar(4000)'),
  code: valueType('varchar(20)'),
  clock: valueType('datetime2(7)'),
  day: valueType('date'),
} as const;

/** `exact`: case, blanks and code points count; `column`: by the columns' own collation. */
export type TextRule = 'exact' | 'column';

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type AggregateName = 'count' | 'count-distinct' | 'min' | 'max' | 'sum';
export type WindowName = 'row_number' | 'lag' | 'lead' | 'count' | 'min' | 'max' | 'sum';

export interface OrderItem {
  readonly by: Expression;
  readonly descending: boolean;
}

export type Expression =
  | { readonly kind: 'column'; readonly of: string | null; readonly name: string; readonly type: ValueType }
  /** A parameter of the load, set in the script's parameter block. */
  | { readonly kind: 'parameter'; readonly name: string; readonly type: ValueType }
  /** A value that an earlier step defined or measured. */
  | { readonly kind: 'variable'; readonly name: string; readonly type: ValueType }
  | {
      readonly kind: 'literal';
      readonly value: string | number | boolean | null;
      /** What the value is converted to; null where the value's own type will do. */
      readonly type: ValueType | null;
    }
  | { readonly kind: 'cast'; readonly operand: Expression; readonly type: ValueType }
  | {
      readonly kind: 'compare';
      readonly operator: Comparison;
      readonly left: Expression;
      readonly right: Expression;
      readonly text: TextRule;
    }
  /** Equal or both NULL. Never negated. */
  | { readonly kind: 'same'; readonly left: Expression; readonly right: Expression; readonly text: TextRule }
  /** Unequal, or one of them NULL. Never negated. */
  | { readonly kind: 'differs'; readonly left: Expression; readonly right: Expression; readonly text: TextRule }
  | { readonly kind: 'all'; readonly of: readonly Expression[] }
  | { readonly kind: 'any'; readonly of: readonly Expression[] }
  | { readonly kind: 'is-null'; readonly operand: Expression; readonly negated: boolean }
  | { readonly kind: 'in'; readonly operand: Expression; readonly values: readonly Expression[] }
  | {
      readonly kind: 'exists';
      readonly query: Query;
      readonly negated: boolean;
    }
  | {
      readonly kind: 'case';
      readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
      readonly otherwise: Expression | null;
    }
  | { readonly kind: 'coalesce'; readonly of: readonly Expression[] }
  | { readonly kind: 'null-if'; readonly operand: Expression; readonly value: string }
  /** Removes blanks (U+0020 and nothing else) at both ends. */
  | { readonly kind: 'trim'; readonly operand: Expression }
  | { readonly kind: 'upper'; readonly operand: Expression }
  | { readonly kind: 'replace'; readonly operand: Expression; readonly find: string; readonly by: string }
  | { readonly kind: 'concat'; readonly of: readonly Expression[]; readonly between?: string }
  | {
      readonly kind: 'arithmetic';
      readonly operator: '+' | '-' | '*' | '/';
      readonly left: Expression;
      readonly right: Expression;
    }
  /** Moves a point in time; `by` may be negative. */
  | {
      readonly kind: 'move-time';
      readonly operand: Expression;
      readonly by: number;
      readonly unit: 'day' | 'minute' | 'second' | 'millisecond' | 'microsecond' | 'tick';
    }
  /** The later of two points in time; the other one where one is NULL. */
  | { readonly kind: 'later'; readonly left: Expression; readonly right: Expression }
  /** A value's text under the hash rule; see `digest/rendering.ts`. */
  | { readonly kind: 'rendered'; readonly operand: Expression; readonly rendering: Rendering }
  /** T-SQL's BINARY_CHECKSUM, for tables that already hold such values. */
  | { readonly kind: 'checksum'; readonly of: readonly Expression[] }
  /** A text that holds more than ASCII. */
  | { readonly kind: 'beyond-ascii'; readonly operand: Expression }
  /** A point in time with more than six digits of a second. */
  | { readonly kind: 'beyond-microseconds'; readonly operand: Expression }
  /** A value as a person reads it in a message. */
  | { readonly kind: 'shown'; readonly operand: Expression }
  /** The digest over the UTF-8 bytes of a text, as lower-case hex or as bytes. `length` is the text's limit in characters. */
  | {
      readonly kind: 'digest';
      readonly algorithm: DigestAlgorithm;
      readonly text: Expression;
      readonly length: number;
      readonly as: 'hex' | 'bytes';
    }
  | {
      readonly kind: 'aggregate';
      readonly name: AggregateName;
      readonly operand: Expression | null;
      readonly text: TextRule;
    }
  | {
      readonly kind: 'window';
      readonly name: WindowName;
      readonly operand: Expression | null;
      readonly partition: readonly Expression[];
      readonly order: readonly OrderItem[];
      /** How partitions compare texts. */
      readonly text: TextRule;
      /** Rows that the window covers; the whole partition where absent and there is no order. */
      readonly rows?: 'before' | 'after' | 'whole';
    }
  /** The engine's own row address of a scanned table, where it has one (see `RowAddress`). */
  | { readonly kind: 'row-address'; readonly of: string };

/** A named item of a query's select list. */
export interface Item {
  readonly name: string;
  readonly value: Expression;
}

export type Relation =
  | { readonly kind: 'table'; readonly name: TableName }
  /** A relation that an earlier `let` step materialised. */
  | { readonly kind: 'named'; readonly name: string }
  | Query
  | Union
  /**
   * The rows of `query` that are the latest of their key: greatest by the items `by`. Printers take an aggregate where
   * the engine has a fitting one, else a row number; so `query` reads no more rows than it must.
   */
  | {
      readonly kind: 'latest-rows';
      readonly query: Query;
      readonly keys: readonly string[];
      readonly by: readonly string[];
      readonly text: TextRule;
    };

export interface Union {
  readonly kind: 'union';
  readonly parts: readonly Query[];
}

export interface Source {
  readonly relation: Relation;
  readonly alias: string;
}

export interface Join {
  readonly kind: 'inner' | 'left' | 'full' | 'cross';
  readonly source: Source;
  /** All must hold. */
  readonly on: readonly Expression[];
}

/** One SELECT. Windows stand in the select list; a filter over them is a query around this one. */
export interface Query {
  readonly kind: 'query';
  readonly distinct: boolean;
  readonly items: readonly Item[];
  readonly from: Source | null;
  readonly joins: readonly Join[];
  /** All must hold. */
  readonly where: readonly Expression[];
  readonly groupBy: readonly Expression[];
  /** How groups and DISTINCT compare texts. Under `exact` grouped texts are read through an aggregate. */
  readonly text: TextRule;
  readonly having: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  readonly limit: number | null;
}

/** The type of a value; null where only the engine knows it, or it has none (NULL). */
export function typeOf(expression: Expression): ValueType | null {
  switch (expression.kind) {
    case 'column':
    case 'parameter':
    case 'variable':
    case 'cast':
      return expression.type;
    case 'literal':
      if (expression.type !== null || expression.value === null) return expression.type;
      return typeof expression.value === 'string' ? types.text : types.flag;
    case 'case':
      return firstType([...expression.branches.map((branch) => branch.then), expression.otherwise]);
    case 'coalesce':
      return firstType(expression.of);
    case 'null-if':
    case 'trim':
    case 'upper':
    case 'replace':
    case 'move-time':
      return typeOf(expression.operand);
    case 'later':
    case 'arithmetic':
      return typeOf(expression.left);
    case 'concat':
    case 'rendered':
    case 'shown':
      return types.text;
    case 'digest':
      return expression.as === 'hex' ? types.text : valueType('varbinary(64)');
    case 'aggregate':
    case 'window':
      return expression.name.startsWith('count') || expression.operand === null
        ? types.count
        : typeOf(expression.operand);
    default:
      return null;
  }
}

function firstType(of: readonly (Expression | null)[]): ValueType | null {
  for (const part of of) {
    const type = part === null || (part.kind === 'literal' && part.value === null) ? null : typeOf(part);
    if (type !== null) return type;
  }
  return null;
}

export function isText(expression: Expression): boolean {
  return typeOf(expression)?.facts.family === 'text';
}
