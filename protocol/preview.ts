import type { Batch } from './run.ts';

/**
 * Columns that begin a sample result set of a preview; the target's columns follow. Rows of one change share a
 * `sample_no`; its `sample_side` is `before` or `after`.
 */
export const sampleColumns = ['sample_kind', 'sample_no', 'sample_side'] as const;

/**
 * What a preview sends: reads, and writes to temporary tables of the session only. Its last result set is the counts,
 * before it stand the sample result sets (see `sampleColumns`) and, where there are any, the warnings.
 */
export interface PreviewPlan {
  readonly batches: readonly Batch[];
}
