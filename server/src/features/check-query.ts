import type { Query } from '../load/language.ts';

/** One invariant as a query whose rows break it. */
export interface CheckQuery {
  readonly name: string;
  readonly description: string;
  readonly query: Query;
}

/** An invariant that the table's columns do not let anybody ask. */
export interface RefusedCheck {
  readonly name: string;
  readonly description: string;
  /** Why, as a sentence. */
  readonly refusal: string;
}

export type Check = CheckQuery | RefusedCheck;
