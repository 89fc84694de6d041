import type { LoadCandidate } from '../../../protocol/requests.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import type { Choice, OpenDocument, Prompts, Server, Workbench } from '../ports.ts';

/** What is to be generated, previewed or run: an inferred load, or the text of a document. */
export type LoadTarget =
  | {
      readonly kind: 'specification';
      readonly uri: string;
      readonly specification: LoadSpecification;
      readonly title: string;
    }
  | {
      readonly kind: 'text';
      readonly uri: string;
      readonly text: string;
      readonly line: number;
      readonly title: string;
    };

/** The argument of a code lens; anything else comes from the command palette. */
export function lensArgument(
  argument: unknown,
): { readonly uri: string; readonly specification: LoadSpecification } | undefined {
  if (typeof argument !== 'object' || argument === null) return undefined;
  const { uri, specification } = { uri: undefined, specification: undefined, ...argument };
  return typeof uri === 'string' && isSpecification(specification) ? { uri, specification } : undefined;
}

/** The document that the code lens of a script means, by its URI. */
function scriptArgument(argument: unknown): string | undefined {
  if (typeof argument !== 'object' || argument === null || 'specification' in argument) return undefined;
  return 'uri' in argument && typeof argument.uri === 'string' ? argument.uri : undefined;
}

/** Finds out which load is meant, asking where there are several. */
export class LoadChooser {
  readonly #server: Server;
  readonly #prompts: Prompts;
  readonly #workbench: Workbench;

  constructor(server: Server, prompts: Prompts, workbench: Workbench) {
    this.#server = server;
    this.#prompts = prompts;
    this.#workbench = workbench;
  }

  /** The load or script of a code lens, else of the active document: one of its suggested loads, else its text. */
  async forRun(argument: unknown): Promise<LoadTarget | undefined> {
    const lens = lensArgument(argument);
    if (lens !== undefined) return { kind: 'specification', ...lens, title: titleOf(lens.specification) };
    const script = scriptArgument(argument);
    if (script !== undefined) return textTarget(await this.#workbench.open(script));
    const document = this.#workbench.active();
    if (document !== undefined && document.language === 'sql') {
      const candidates = await this.#server.request('mergewright/loads', { uri: document.uri });
      if (candidates.length === 0) return textTarget(document);
      return asTarget(await this.#choose(candidates));
    }
    return this.forGenerate(argument);
  }

  /** The load of a code lens, else one of the loads of the active document or, without any, of the whole folder. */
  async forGenerate(argument: unknown): Promise<Extract<LoadTarget, { kind: 'specification' }> | undefined> {
    const lens = lensArgument(argument);
    if (lens !== undefined) return { kind: 'specification', ...lens, title: titleOf(lens.specification) };
    const uri = this.#workbench.active()?.uri;
    const here = uri === undefined ? [] : await this.#server.request('mergewright/loads', { uri });
    const candidates = here.length > 0 ? here : await this.#server.request('mergewright/loads', {});
    if (candidates.length === 0) {
      await this.#prompts.inform(
        'No load fits the tables of this folder. Open the CREATE TABLE files of a staging table and its target, or see why with "mergewright catalog".',
      );
      return undefined;
    }
    return asTarget(await this.#choose(candidates));
  }

  async #choose(candidates: readonly LoadCandidate[]): Promise<LoadCandidate | undefined> {
    const [only] = candidates;
    if (candidates.length === 1) return only;
    const choices = candidates.map(
      (candidate): Choice<LoadCandidate> => ({
        label: candidate.title,
        description: `${dotted(candidate.specification.source)} → ${dotted(candidate.specification.target)}`,
        detail: candidate.reasons.join(' '),
        value: candidate,
      }),
    );
    const answer = await this.#prompts.pick(choices, { title: 'Load', placeholder: 'Which load?' });
    return typeof answer === 'symbol' ? undefined : answer;
  }
}

/** `StageEmedsys.Dev_Patient_`, for people; never for SQL. */
export function dotted(name: LoadSpecification['source']): string {
  return [name.database, name.schema, name.table].filter((part) => part !== null).join('.');
}

/** A load in one line, as in `scd2 · stg.Customer → dw.DimCustomer`. */
export function titleOf(specification: LoadSpecification): string {
  return `${specification.pattern.replaceAll('_', ' ')} · ${dotted(specification.source)} → ${dotted(specification.target)}`;
}

function textTarget(document: OpenDocument): LoadTarget {
  const name = decodeURIComponent(document.uri.split('/').at(-1) ?? document.uri);
  return { kind: 'text', uri: document.uri, text: document.text, line: 0, title: name };
}

function asTarget(candidate: LoadCandidate | undefined): Extract<LoadTarget, { kind: 'specification' }> | undefined {
  if (candidate === undefined) return undefined;
  const { uri, specification, title } = candidate;
  return { kind: 'specification', uri, specification, title };
}

function isSpecification(value: unknown): value is LoadSpecification {
  return typeof value === 'object' && value !== null && 'pattern' in value && 'source' in value && 'target' in value;
}
