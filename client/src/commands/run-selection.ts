import type { Position } from '../../../protocol/position.ts';
import type { Prompts, Workbench } from '../ports.ts';
import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';

/** Sends the selected text, as it is, on the document's session. */
export class RunSelectionCommand implements Command {
  readonly id = 'runSelection';
  readonly #workbench: Workbench;
  readonly #prompts: Prompts;
  readonly #runs: RunController;

  constructor(workbench: Workbench, prompts: Prompts, runs: RunController) {
    this.#workbench = workbench;
    this.#prompts = prompts;
    this.#runs = runs;
  }

  async run(): Promise<void> {
    const document = this.#workbench.active();
    if (document?.selection === null || document === undefined) return;
    const { start, end } = document.selection;
    const text = document.text.slice(offsetOf(document.text, start), offsetOf(document.text, end));
    if (text.trim() === '') {
      await this.#prompts.inform('Select the SQL to run first.');
      return;
    }
    await this.#runs.start('run', {
      kind: 'text',
      uri: document.uri,
      text,
      line: start.line,
      title: `Selection of line ${start.line + 1}`,
    });
  }
}

/** Index of a position in the text; a position behind the end of its line stands for the line's end. */
export function offsetOf(text: string, position: Position): number {
  let start = 0;
  for (let line = 0; line < position.line; line += 1) {
    const next = text.slice(start).search(/\r\n|\n|\r/);
    if (next < 0) return text.length;
    start += next + (text.startsWith('\r\n', start + next) ? 2 : 1);
  }
  return Math.min(start + position.character, text.length);
}
