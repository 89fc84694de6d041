/** One open session on the engine under test, as a conformance run needs it. */
import type { CellValue, RunResult } from '../../../protocol/run.ts';
import type { GeneratedLoad } from '../../../server/src/generate/types.ts';

export interface CaseSession {
  /** Runs one statement or batch of the run's own; rejects with the engine's message. */
  execute(text: string): Promise<void>;
  /** The rows of a SELECT of the run's own. */
  query(text: string): Promise<readonly (readonly CellValue[])[]>;
  /** Runs a generated load as the product does, with `now` as its batch time. Never rejects for what the load does. */
  runLoad(load: GeneratedLoad, now: string): Promise<RunResult>;
  close(): Promise<void>;
}
