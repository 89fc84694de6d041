/**
 * What a model of a pattern is given and what it gives back. The models follow the handbook and the case format alone;
 * they share no code with the load plans, so that agreement between the two means something.
 */
import type { CaseOptions, NeutralColumns } from '../../../cli/src/conformance/format.ts';
import type { TextRow } from '../../../cli/src/conformance/values.ts';

interface OracleTables {
  readonly stage: NeutralColumns;
  readonly target: NeutralColumns;
  readonly extra: Readonly<Record<string, NeutralColumns>>;
}

export interface OracleLoad {
  readonly options: CaseOptions;
  readonly tables: OracleTables;
  /** Canonical text of the batch time. */
  readonly now: string;
  readonly stage: readonly TextRow[];
  readonly target: readonly TextRow[];
  readonly extra: Readonly<Record<string, readonly TextRow[]>>;
  /** Values per scope column when the step names its scope itself. */
  readonly scope: Readonly<Record<string, readonly (string | null)[]>> | undefined;
  /** Staged columns that the former step's stage had not. */
  readonly newColumns: readonly string[];
  /** Everything a change feed has delivered before. */
  readonly events: readonly TextRow[];
}

interface OracleCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly expired: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly inactivated: number;
}

export interface OracleOutcome {
  readonly target: readonly TextRow[];
  readonly counts: OracleCounts;
  readonly error: string | null;
  readonly events: readonly TextRow[];
}

/** What a pattern's model says; counts other than `inactivated` follow from the rows. */
interface ModelResult {
  readonly target: readonly TextRow[];
  readonly inactivated?: number;
  readonly events?: readonly TextRow[];
}

/** Raised where a guard stops the load: nothing is written. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** A model: the target after the load. `staged` are the rows that have a key. */
export type Model = (load: OracleLoad, staged: readonly TextRow[]) => ModelResult;
