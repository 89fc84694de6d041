/** Puts a step's clock into a load's parameter block. */
import type { Batch } from '../../../protocol/run.ts';
import type { GeneratedLoad } from '../../../server/src/generate/types.ts';

/** The load's batches with `now` as the batch time. */
export function textForRun(load: GeneratedLoad, now: string): readonly Batch[] {
  return load.batches.map((batch) => ({
    ...batch,
    text: batch.text.replace(/(SET VARIABLE "?batch_?time"?\s*=\s*)[^;]*;/i, `$1CAST('${now}' AS TIMESTAMP);`),
  }));
}
