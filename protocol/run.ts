import type { ChangeCounts } from './counts.ts';

/** Values that a driver may hand over; everything a grid can show without losing digits. */
export type CellValue = string | number | boolean | null;

export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

export interface ResultSet {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly CellValue[])[];
  /** Rows the engine sent; more than `rows.length` when the runner kept only the first ones. */
  readonly rowCount: number;
}

/** One batch as it is sent, byte for byte. */
export interface Batch {
  readonly text: string;
  /** Zero-based line in the file where the batch starts. */
  readonly line: number;
  /** `GO n`; absent means once. */
  readonly repeat?: number;
  /** Where its lines stand, in order, if not all in the script one after the other from `line` on: files that `:r` read. */
  readonly sections?: readonly BatchSection[];
}

/** Lines of a batch from `from` on, up to the next section. */
export interface BatchSection {
  /** Zero-based line of the batch. */
  readonly from: number;
  /** Null for the script itself. */
  readonly file: string | null;
  /** Zero-based line in that file. */
  readonly line: number;
}

export type RunStatus = 'done' | 'failed' | 'cancelled' | 'unknown';

export interface RunMessage {
  readonly text: string;
  /** Zero-based line in the file, where the engine named one. */
  readonly line?: number;
}

export interface RunWarning {
  readonly code: string;
  readonly message: string;
}

export interface RunError {
  /** Guard code (`duplicate_key`, `empty_stage` …), the engine's error number or name. */
  readonly code: string;
  readonly message: string;
  /** Zero-based index of the batch. */
  readonly batch: number;
  /** Zero-based line in the file, null where the engine names none. */
  readonly line: number | null;
  /** The file of the line where it is not the script's own but that of a `:r`. */
  readonly file?: string;
}

export interface BatchResult {
  readonly text: string;
  readonly elapsedMs: number;
  readonly rows: number;
  readonly messages: readonly string[];
}

/** The JSON shape of `mergewright run --json`. */
export interface RunResult {
  readonly status: RunStatus;
  readonly counts: ChangeCounts;
  readonly batches: readonly BatchResult[];
  readonly warnings: readonly RunWarning[];
  readonly error: RunError | null;
  readonly elapsedMs: number;
}

export type SampleKind = 'inserted' | 'updated' | 'expired' | 'inactivated' | 'deleted';
export type SampleRow = Readonly<Record<string, CellValue>>;

/** One changed row; `before` is null for an insert, `after` for a delete. */
export interface Sample {
  readonly before: SampleRow | null;
  readonly after: SampleRow | null;
}

/** The JSON shape of `mergewright preview --json`: a run that writes nothing, with sample rows. */
export interface PreviewResult extends RunResult {
  readonly samples: Readonly<Partial<Record<SampleKind, readonly (Sample | SampleRow)[]>>>;
}

/** What the runner tells while a run goes on. */
export type RunEvent =
  | { readonly kind: 'state'; readonly state: 'connecting' | 'running' | 'cancelling' | 'finished' }
  | { readonly kind: 'batch-started'; readonly index: number; readonly of: number; readonly text: string }
  | { readonly kind: 'batch-finished'; readonly index: number; readonly result: BatchResult }
  | { readonly kind: 'message'; readonly message: RunMessage }
  | { readonly kind: 'result-set'; readonly batch: number; readonly resultSet: ResultSet }
  | { readonly kind: 'warning'; readonly warning: RunWarning }
  | { readonly kind: 'error'; readonly error: RunError };
