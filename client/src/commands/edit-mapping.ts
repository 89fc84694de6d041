import type { LoadSpecification } from '../../../protocol/specification.ts';
import type { RunPanel } from '../panel/run-panel.ts';
import type { Server, Workbench } from '../ports.ts';
import { withMapping } from '../runs/folder-file.ts';
import type { LoadChooser } from '../runs/load-target.ts';
import type { Command } from './command.ts';

/** Shows the columns of a load side by side in the panel, and writes changes to the nearest `mergewright.json`. */
export class EditMappingCommand implements Command {
  readonly id = 'editMapping';
  readonly #chooser: LoadChooser;
  readonly #server: Server;
  readonly #panel: RunPanel;
  readonly #workbench: Workbench;
  #edited: { readonly uri: string; readonly specification: LoadSpecification; readonly title: string } | null = null;

  constructor(chooser: LoadChooser, server: Server, panel: RunPanel, workbench: Workbench) {
    this.#chooser = chooser;
    this.#server = server;
    this.#panel = panel;
    this.#workbench = workbench;
  }

  async run(argument: unknown): Promise<void> {
    const target = await this.#chooser.forGenerate(argument);
    if (target === undefined) return;
    this.#edited = target;
    await this.#show();
    this.#panel.show('mapping');
  }

  /** Keeps what a person changed, after the difference was shown. */
  async save(changes: Readonly<Record<string, string | null>>): Promise<void> {
    const edited = this.#edited;
    if (edited === null) return;
    const file = await this.#folderFile(edited.uri);
    const present = await this.#workbench.open(file).then(
      (document) => document.text,
      () => '',
    );
    await this.#workbench.propose(file, withMapping(present, edited.specification, changes));
  }

  async #show(): Promise<void> {
    if (this.#edited === null) return;
    const { uri, specification, title } = this.#edited;
    const { mapping, problems } = await this.#server.request('mergewright/mapping', { uri, specification });
    if (mapping === null) throw new Error(problems[0]?.message ?? 'This load has no columns that could be mapped.');
    this.#panel.showMapping(title, mapping);
  }

  /** The nearest `mergewright.json` from the document's folder upwards, else a new one in the workspace folder. */
  async #folderFile(uri: string): Promise<string> {
    const present = await this.#workbench.find('**/mergewright.json');
    const above = present.filter((file) => uri.startsWith(file.slice(0, -'mergewright.json'.length)));
    const nearest = above.sort((a, b) => b.length - a.length)[0];
    return nearest ?? `${this.#workbench.folderOf(uri)}/mergewright.json`;
  }
}
