/**
 * A load plan: what a pattern does, step by step, for every platform and form.
 *
 * First the steps (definitions, materialised relations, measures, guards), which write nothing but temporary tables of
 * the session and are the preview; then the writes, each from one materialised relation. All counts are expressions over
 * what was measured before the first write.
 */
import type { TableName } from '../../../protocol/catalog.ts';
import type { CountName } from '../../../protocol/counts.ts';
import type { SampleKind } from '../../../protocol/run.ts';
import type { Expression, Query, Union, ValueType } from './language.ts';

/** A value that a person or a scheduler may set for a run; `value` null stands for "the clock" under `clock`, else NULL. */
export interface PlanParameter {
  readonly name: string;
  readonly type: ValueType;
  readonly value: string | number | null;
  readonly clock: boolean;
  readonly description: string;
  /** True where it fills a NOT NULL column, so that the load fails without a value. */
  readonly isRequired?: boolean;
}

/** Codes of guards that stop a load, each with its THROW number on T-SQL. */
export const guardNumbers = {
  duplicate_key: 50010,
  null_key: 50011,
  null_sequence: 50012,
  ambiguous_sequence: 50013,
  same_timestamp_conflict: 50014,
  empty_stage: 50015,
  inactivation_threshold: 50016,
  batch_time_not_after_current: 50017,
  late_row: 50018,
  concurrent_load: 50019,
  not_ascii: 50020,
  value_too_precise: 50021,
} as const;
export type GuardCode = keyof typeof guardNumbers;

export type Step =
  /** A scalar from earlier scalars. */
  | {
      readonly kind: 'define';
      readonly says: string;
      readonly name: string;
      readonly value: Expression;
      readonly type: ValueType;
    }
  /** A relation that is computed once and read by later steps. */
  | {
      readonly kind: 'let';
      readonly says: string;
      readonly name: string;
      readonly query: Query | Union;
    }
  /** Scalars aggregated over one relation; `query` has one row, its items are the variables. */
  | { readonly kind: 'measure'; readonly says: string; readonly query: Query }
  /** Stops the load when the query, whose only item is the text `offender`, has a row; names up to five of them. */
  | { readonly kind: 'guard-rows'; readonly says: string; readonly code: GuardCode; readonly query: Query }
  /** Stops the load when the condition over variables holds. */
  | {
      readonly kind: 'guard';
      readonly says: string;
      readonly code: GuardCode;
      readonly when: Expression;
      readonly message: Expression;
    };

/** Tells after the load, in a result set of its own, what was left out. */
export interface Warning {
  readonly code: string;
  readonly when: Expression;
  readonly message: Expression;
}

/** Which target row a change row belongs to, in the ways that platforms need. */
export interface RowMatch {
  /** Column of the change relation that holds the engine's row address; printers without row addresses leave it out. */
  readonly address: string | null;
  /** Conditions between target (alias `t`) and change (alias `c`) that find the row without an address. */
  readonly on: readonly Expression[];
  /** What else must hold for the target row, such as "is the current version"; restates what the change knows. */
  readonly where: readonly Expression[];
}

export interface Assignment {
  readonly column: string;
  readonly value: Expression;
}

/** All writes read one materialised relation under the alias `c`, filtered by `where`. */
export type Write =
  | {
      readonly kind: 'update';
      readonly says: string;
      /** What a preview calls these rows. */
      readonly shows: SampleKind;
      readonly from: string;
      readonly where: readonly Expression[];
      readonly match: RowMatch;
      readonly set: readonly Assignment[];
    }
  | {
      readonly kind: 'insert';
      readonly says: string;
      /** What a preview calls these rows. */
      readonly shows: SampleKind;
      readonly from: string;
      readonly where: readonly Expression[];
      readonly values: readonly Assignment[];
      /** A table of the load's own that takes the rows instead of the target. */
      readonly into?: TableName;
    }
  | {
      readonly kind: 'delete';
      readonly says: string;
      /** What a preview calls these rows. */
      readonly shows: SampleKind;
      readonly from: string;
      readonly where: readonly Expression[];
      readonly match: RowMatch;
    };

export interface LoadPlan {
  readonly target: TableName;
  readonly source: TableName;
  /** One sentence for the head of the script. */
  readonly says: string;
  readonly parameters: readonly PlanParameter[];
  readonly steps: readonly Step[];
  /** Relations that the steps materialise, with the names of their columns where a write's text needs them. */
  readonly writes: readonly Write[];
  readonly warnings: readonly Warning[];
  /** Null where the pattern has no such action. */
  readonly counts: Readonly<Record<CountName, Expression | null>>;
  /** A table of its own that the load keeps beside the target; created when absent. */
  readonly keeps: readonly KeptTable[];
  /** The load replaces all rows of the target by those of the query, or defines it as a view. */
  readonly replaces: Replacement | null;
}

export type Replacement =
  /** `built` is the relation that the query reads under the alias `b`; `identity` tells a row before from one after. */
  | {
      readonly kind: 'rows';
      readonly says: string;
      readonly query: Query;
      readonly built: string;
      readonly identity: readonly string[];
    }
  | { readonly kind: 'view'; readonly says: string; readonly query: Query | Union };

/** A companion table (events that a change feed has brought, for example). */
export interface KeptTable {
  readonly says: string;
  readonly name: TableName;
  readonly columns: readonly { readonly name: string; readonly type: ValueType; readonly nullable: boolean }[];
}
