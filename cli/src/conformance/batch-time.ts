/** Puts a step's clock into a load's parameter block. */
import type { PlatformName } from '../../../protocol/platform.ts';
import type { Batch } from '../../../protocol/run.ts';
import { bindParameters, blockStart } from '../../../server/src/generate/parameters.ts';
import type { GeneratedLoad } from '../../../server/src/generate/types.ts';
import { clockName } from '../../../server/src/load/context.ts';

/**
 * The load's batches with `now` as the batch time. It goes into the batch that has the parameter block: a script's own
 * one, or the call of a procedure. A load without a clock is sent as it is.
 */
export function textForRun(load: GeneratedLoad, now: string, platform: PlatformName): readonly Batch[] {
  if (!load.parameters.some(({ name }) => name === clockName)) return load.batches;
  const { batches } = load;
  if (!batches.some(hasParameters)) throw new Error('the load has a clock but no parameter block');
  return batches.map((batch) => {
    if (!hasParameters(batch)) return batch;
    const { value, problems } = bindParameters(batch.text, { [clockName]: now }, platform);
    const [problem] = problems;
    if (problem !== undefined) throw new Error(problem.message);
    return { ...batch, text: value };
  });
}

function hasParameters({ text }: Batch): boolean {
  return text.includes(blockStart);
}
