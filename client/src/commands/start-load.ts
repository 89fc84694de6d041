import type { RunMode } from '../../../protocol/panel.ts';
import type { LoadChooser } from '../runs/load-target.ts';
import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';

/** Commands that take the load of a code lens, or of the active document, to a connection. */
const modes = {
  /** Counts what a run would do, and writes nothing. */
  previewLoad: 'preview',
  runLoad: 'run',
  /** Runs in a transaction that is rolled back. */
  dryRunLoad: 'dry-run',
} as const satisfies Readonly<Record<string, RunMode>>;

export class StartLoadCommand implements Command {
  readonly id: keyof typeof modes;
  readonly #chooser: LoadChooser;
  readonly #runs: RunController;

  constructor(id: keyof typeof modes, chooser: LoadChooser, runs: RunController) {
    this.id = id;
    this.#chooser = chooser;
    this.#runs = runs;
  }

  async run(argument: unknown): Promise<void> {
    const target = await this.#chooser.forRun(argument);
    if (target !== undefined) await this.#runs.start(modes[this.id], target);
  }
}
