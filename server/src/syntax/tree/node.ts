/**
 * What every node of the tree has. Nodes are plain immutable objects told apart by `kind`. Offsets are UTF-16 code
 * units relative to the top-level statement (`Unit`) that holds the node, so that a statement keeps its nodes when
 * text before it changes; `absoluteRange` of `query.ts` gives offsets in the file.
 */
export interface NodeBase {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export type Quote = 'none' | 'bracket' | 'double' | 'backtick';

/** A name part or alias. `name` is without quotes and with doubled quotes undone; it is '' where a name is missing. */
export interface Identifier extends NodeBase {
  readonly kind: 'identifier';
  readonly name: string;
  readonly quote: Quote;
}

/** A name of one to four parts; `db..table` has a null in the middle. The last part is never null. */
export interface Name extends NodeBase {
  readonly kind: 'name';
  readonly parts: readonly (Identifier | null)[];
}

/** A data type as written. */
export interface DataType extends NodeBase {
  readonly kind: 'data-type';
  /** `[sys].[int]` has two parts; `double precision` and `national char varying` one, joined by one blank. */
  readonly name: Name;
  /** Length, precision, scale as written: `['18', '4']`, `['max']`. */
  readonly arguments: readonly string[];
  /** Element type of ARRAY<T>, key and value type of MAP<K, V>, the base of T[]. */
  readonly elements: readonly DataType[];
  /** Fields of STRUCT<…>. */
  readonly fields: readonly TypeField[];
  /** Lower case, without brackets or blanks: `decimal(10,0)`, `varchar(max)`; a schema stays in front of a user type. */
  readonly text: string;
}

export interface TypeField extends NodeBase {
  readonly kind: 'type-field';
  readonly name: Identifier;
  readonly type: DataType;
}

/** A clause that is understood only as far as its bounds: `name` is its leading words in upper case. */
export interface OpaqueClause extends NodeBase {
  readonly kind: 'opaque-clause';
  readonly name: string;
}

/** `NAME = value` or a bare `NAME` in an option list; also Spark's `'key' = 'value'`. */
export interface Option extends NodeBase {
  readonly kind: 'option';
  /** Upper case words with one blank between them: `DISTRIBUTION`, `CLUSTERED COLUMNSTORE INDEX`, `delta.x`. */
  readonly name: string;
  /** Source text of the value, null for a bare option. */
  readonly value: string | null;
  /** Columns that the option names: `DISTRIBUTION = HASH (a, b)`, `CLUSTER BY (a)`, `PARTITIONED BY (d)`. */
  readonly columns: readonly Identifier[];
}
