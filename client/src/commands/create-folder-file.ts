import type { Prompts, Server, Workbench } from '../ports.ts';
import { firstFolderFile } from '../runs/folder-file.ts';
import type { Command } from './command.ts';

/** Opens a first `mergewright.json` with the loads that the folder's tables suggest. */
export class CreateFolderFileCommand implements Command {
  readonly id = 'createFolderFile';
  readonly #server: Server;
  readonly #workbench: Workbench;
  readonly #prompts: Prompts;

  constructor(server: Server, workbench: Workbench, prompts: Prompts) {
    this.#server = server;
    this.#workbench = workbench;
    this.#prompts = prompts;
  }

  async run(): Promise<void> {
    const folder = this.#workbench.folderOf(this.#workbench.active()?.uri);
    if (folder === undefined) {
      await this.#prompts.inform('Open a folder first: mergewright.json belongs to one.');
      return;
    }
    const loads = await this.#server.request('mergewright/loads', {});
    await this.#workbench.propose(
      `${folder}/mergewright.json`,
      firstFolderFile(loads.map((load) => load.specification)),
    );
  }
}
