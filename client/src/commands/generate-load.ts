import { type FormName, formNames, type LoadSpecification } from '../../../protocol/specification.ts';
import { back, type Prompts, type Server, type Workbench } from '../ports.ts';
import { type LoadChooser, lensArgument } from '../runs/load-target.ts';
import type { Command } from './command.ts';

const formWords: Readonly<Record<FormName, string>> = {
  script: 'Script: statements with a parameter block at the top',
  procedure: 'Procedure: one stored procedure for this table',
  'dynamic-procedure': 'Dynamic procedure: one stored procedure for every table of the schema',
  pyspark: 'PySpark notebook',
  scala: 'Scala notebook',
  pipeline: 'Pipeline activity',
};

/** Writes a load: new files open unsaved, present ones are shown as a difference before they are replaced. */
export class GenerateLoadCommand implements Command {
  readonly id = 'generateLoad';
  readonly #chooser: LoadChooser;
  readonly #server: Server;
  readonly #prompts: Prompts;
  readonly #workbench: Workbench;

  constructor(chooser: LoadChooser, server: Server, prompts: Prompts, workbench: Workbench) {
    this.#chooser = chooser;
    this.#server = server;
    this.#prompts = prompts;
    this.#workbench = workbench;
  }

  async run(argument: unknown): Promise<void> {
    const found = await this.#specification(argument);
    if (found === undefined) return;
    const { uri, specification } = found;
    const made = await this.#server.request('mergewright/generate', { uri, specification });
    const { files, problems } = made;
    const errors = problems.filter((problem) => problem.severity === 'error');
    if (files.length === 0) throw new Error(errors[0]?.message ?? 'Nothing was generated for this load.');
    const folder = made.folder ?? this.#workbench.folderOf(uri);
    for (const file of files) {
      const target =
        folder === undefined
          ? `untitled:${file.path}`
          : `${folder}/${file.path.split('/').map(encodeURIComponent).join('/')}`;
      const outcome = await this.#workbench.propose(target, file.text);
      if (outcome === 'unchanged') await this.#prompts.inform(`${file.path} is up to date.`);
    }
    const [worst] = [...errors, ...problems.filter((problem) => problem.severity === 'warning')];
    if (worst !== undefined) await this.#prompts.warn(worst.message);
  }

  /** A code lens says everything; from the palette the form is asked too where there are several, with a way back to the load. */
  async #specification(argument: unknown): Promise<FoundLoad | undefined> {
    for (;;) {
      const target = await this.#chooser.forGenerate(argument);
      if (target === undefined || lensArgument(argument) !== undefined) return target;
      const possible = await this.#possibleForms(target);
      // What can't be made in any form says why when it is tried.
      if (possible.length < 2) return withForm(target, possible[0] ?? target.specification.form);
      const form = await this.#prompts.pick(
        possible.map((name) => ({ label: name, description: formWords[name], value: name })),
        {
          title: target.title,
          placeholder: `Form of the load for ${target.specification.platform}`,
          place: { step: 2, of: 2 },
        },
      );
      if (form === undefined) return undefined;
      if (form !== back) return withForm(target, form);
    }
  }

  /** The forms in which the load can be made. */
  async #possibleForms(target: FoundLoad): Promise<readonly FormName[]> {
    const answers = await Promise.all(
      formNames.map((form) => this.#server.request('mergewright/generate', withForm(target, form))),
    );
    return formNames.filter((_, place) => (answers[place]?.files.length ?? 0) > 0);
  }
}

interface FoundLoad {
  readonly uri: string;
  readonly specification: LoadSpecification;
}

function withForm({ uri, specification }: FoundLoad, form: FormName): FoundLoad {
  return { uri, specification: { ...specification, form } };
}
