import type { Prompts, Server } from '../ports.ts';
import { titleOf } from '../runs/load-target.ts';
import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';

/** Runs every load of the folder in the server's order, in which a load follows the loads that it depends on. */
export class RunAllLoadsCommand implements Command {
  readonly id = 'runAllLoads';
  readonly #server: Server;
  readonly #prompts: Prompts;
  readonly #runs: RunController;
  readonly #onFailure: () => string;

  constructor(server: Server, prompts: Prompts, runs: RunController, onFailure: () => string) {
    this.#server = server;
    this.#prompts = prompts;
    this.#runs = runs;
    this.#onFailure = onFailure;
  }

  async run(): Promise<void> {
    const candidates = await this.#server.request('mergewright/loads', {});
    if (candidates.length === 0) {
      await this.#prompts.inform('This folder has no loads.');
      return;
    }
    const chosen = await this.#prompts.pickMany(
      candidates.map((candidate) => ({
        label: candidate.title,
        description: titleOf(candidate.specification),
        value: candidate,
        picked: true,
      })),
      { title: 'Run All Loads', placeholder: 'Loads to run, in this order' },
    );
    if (chosen === undefined || chosen.length === 0) return;
    const outcomes: string[] = [];
    for (const { uri, specification, title } of chosen) {
      const result = await this.#runs.start('run', { kind: 'specification', uri, specification, title });
      const status = result?.status ?? 'not run';
      outcomes.push(`${title}: ${status}`);
      if (status !== 'done' && this.#onFailure() === 'stop') break;
    }
    const left = chosen.length - outcomes.length;
    const summary = `${outcomes.join('; ')}${left === 0 ? '' : `; ${left} left out`}`;
    const isGood = outcomes.every((outcome) => outcome.endsWith(': done')) && left === 0;
    await (isGood ? this.#prompts.inform(summary) : this.#prompts.warn(summary));
  }
}
