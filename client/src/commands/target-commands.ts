import type { TableName } from '../../../protocol/catalog.ts';
import type { RunPanel } from '../panel/run-panel.ts';
import type { Prompts } from '../ports.ts';
import type { Inspector } from '../runs/inspector.ts';
import type { LoadChooser } from '../runs/load-target.ts';
import type { Command } from './command.ts';

/** Shows the versions of one key of a target on a time axis. */
export class ShowTimelineCommand implements Command {
  readonly id = 'showTimeline';
  readonly #chooser: LoadChooser;
  readonly #inspector: Inspector;
  readonly #panel: RunPanel;

  constructor(chooser: LoadChooser, inspector: Inspector, panel: RunPanel) {
    this.#chooser = chooser;
    this.#inspector = inspector;
    this.#panel = panel;
  }

  async run(argument: unknown): Promise<void> {
    const target = await chosenTarget(this.#chooser, argument);
    if (target === undefined) return;
    this.#inspector.aim(target.uri, target.table);
    this.#panel.show('timeline');
    await this.#inspector.search('');
  }
}

/** Runs the invariants of a target's pattern against its data. */
export class CheckDataCommand implements Command {
  readonly id = 'checkData';
  readonly #chooser: LoadChooser;
  readonly #inspector: Inspector;
  readonly #prompts: Prompts;

  constructor(chooser: LoadChooser, inspector: Inspector, prompts: Prompts) {
    this.#chooser = chooser;
    this.#inspector = inspector;
    this.#prompts = prompts;
  }

  async run(argument: unknown): Promise<void> {
    const target = await chosenTarget(this.#chooser, argument);
    if (target === undefined) return;
    await this.#prompts.withProgress('Checking data', () => this.#inspector.check(target.uri, target.table));
  }
}

async function chosenTarget(
  chooser: LoadChooser,
  argument: unknown,
): Promise<{ readonly uri: string; readonly table: TableName } | undefined> {
  const load = await chooser.forGenerate(argument);
  return load === undefined ? undefined : { uri: load.uri, table: load.specification.target };
}
