import type { LoadChooser } from '../runs/load-target.ts';
import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';

/** Runs the load of a code lens, or of the active document. */
export class RunLoadCommand implements Command {
  readonly id = 'runLoad';
  readonly #chooser: LoadChooser;
  readonly #runs: RunController;

  constructor(chooser: LoadChooser, runs: RunController) {
    this.#chooser = chooser;
    this.#runs = runs;
  }

  async run(argument: unknown): Promise<void> {
    const target = await this.#chooser.forRun(argument);
    if (target !== undefined) await this.#runs.start('run', target);
  }
}
