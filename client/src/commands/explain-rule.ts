import { join } from 'node:path';
import type { Prompts, RuleLookup, Workbench } from '../ports.ts';
import type { Command } from './command.ts';

/** Opens the page of a rule, which ships with the extension. */
export class ExplainRuleCommand implements Command {
  readonly id = 'explainRule';
  readonly #folder: string;
  readonly #names: () => Promise<readonly string[]>;
  readonly #workbench: Workbench & RuleLookup;
  readonly #prompts: Prompts;

  /** @param folder path of `docs/rules` @param names the rules that have a page there */
  constructor(
    folder: string,
    names: () => Promise<readonly string[]>,
    workbench: Workbench & RuleLookup,
    prompts: Prompts,
  ) {
    this.#folder = folder;
    this.#names = names;
    this.#workbench = workbench;
    this.#prompts = prompts;
  }

  /** @param argument the rule's name, as a quick fix gives it; else the rule at the cursor, else asked */
  async run(argument: unknown): Promise<void> {
    const names = await this.#names();
    const wanted = typeof argument === 'string' ? argument : this.#atCursor(names);
    const name = names.find((candidate) => candidate === wanted) ?? (await this.#ask(names));
    if (name !== undefined) await this.#workbench.openMarkdown(join(this.#folder, `${name}.md`));
  }

  #atCursor(names: readonly string[]): string | undefined {
    const document = this.#workbench.active();
    if (document === undefined || document.selection === null) return undefined;
    return this.#workbench.rulesAt(document.uri, document.selection.start).find((rule) => names.includes(rule));
  }

  async #ask(names: readonly string[]): Promise<string | undefined> {
    const answer = await this.#prompts.pick(
      names.map((name) => ({ label: name, value: name })),
      { title: 'Explain This Rule', placeholder: 'Which rule?' },
    );
    return typeof answer === 'string' ? answer : undefined;
  }
}
