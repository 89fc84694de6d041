import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';

/** Cancels what runs. */
export class CancelRunCommand implements Command {
  readonly id = 'cancelRun';
  readonly #runs: RunController;

  constructor(runs: RunController) {
    this.#runs = runs;
  }

  async run(): Promise<void> {
    this.#runs.cancel();
  }
}
