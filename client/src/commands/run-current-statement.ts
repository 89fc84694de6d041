import type { Server, Workbench } from '../ports.ts';
import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';
import { offsetOf } from './run-selection.ts';

/** Sends the statement that holds the cursor. */
export class RunCurrentStatementCommand implements Command {
  readonly id = 'runCurrentStatement';
  readonly #workbench: Workbench;
  readonly #server: Server;
  readonly #runs: RunController;

  constructor(workbench: Workbench, server: Server, runs: RunController) {
    this.#workbench = workbench;
    this.#server = server;
    this.#runs = runs;
  }

  async run(): Promise<void> {
    const document = this.#workbench.active();
    if (document === undefined || document.selection === null) return;
    const { uri, text, selection } = document;
    const range = await this.#server.statementAt(uri, selection.start);
    if (range === undefined) throw new Error('There is no statement at the cursor.');
    const statement = text.slice(offsetOf(text, range.start), offsetOf(text, range.end));
    const line = range.start.line;
    await this.#runs.start('run', { kind: 'text', uri, text: statement, line, title: `Statement of line ${line + 1}` });
  }
}
