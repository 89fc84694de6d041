import type { LoadChooser } from '../runs/load-target.ts';
import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';

/** Counts what a run would do, and writes nothing. */
export class PreviewLoadCommand implements Command {
  readonly id = 'previewLoad';
  readonly #chooser: LoadChooser;
  readonly #runs: RunController;

  constructor(chooser: LoadChooser, runs: RunController) {
    this.#chooser = chooser;
    this.#runs = runs;
  }

  async run(argument: unknown): Promise<void> {
    const target = await this.#chooser.forRun(argument);
    if (target !== undefined) await this.#runs.start('preview', target);
  }
}
