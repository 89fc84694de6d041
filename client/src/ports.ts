import type { Position, Range } from '../../protocol/position.ts';
import type { InspectionRequests, ServerRequests } from '../../protocol/requests.ts';

/** A text document as commands see it. URIs are texts, so that nothing but `editor/` needs the editor's API. */
export interface OpenDocument {
  readonly uri: string;
  readonly language: string;
  readonly text: string;
  /** Null for a document that no editor shows. */
  readonly selection: Range | null;
  readonly isUntitled: boolean;
}

export interface Choice<T> {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly value: T;
  /** A heading put before this choice. */
  readonly heading?: string;
}

export interface StepPlace {
  readonly step: number;
  readonly of: number;
}

/** The person went back to the step before. */
export const back = Symbol('back');
export type Answer<T> = T | typeof back | undefined;

export interface InputOptions {
  readonly title: string;
  readonly prompt: string;
  readonly value?: string;
  readonly placeholder?: string;
  readonly isSecret?: boolean;
  readonly place?: StepPlace;
  /** What is wrong with the text, in words; undefined when nothing is. */
  readonly validate?: (text: string) => string | undefined;
}

export interface PickOptions {
  readonly title: string;
  readonly placeholder?: string;
  readonly place?: StepPlace;
}

/** Questions to the person. `undefined` always means that the person went away. */
export interface Prompts {
  pick<T>(choices: readonly Choice<T>[], options: PickOptions): Promise<Answer<T>>;
  pickMany<T>(
    choices: readonly (Choice<T> & { readonly picked: boolean })[],
    options: PickOptions,
  ): Promise<readonly T[] | undefined>;
  input(options: InputOptions): Promise<Answer<string>>;
  /** A modal question; true only for the action itself. */
  confirm(question: string, detail: string, action: string): Promise<boolean>;
  inform(message: string, ...actions: string[]): Promise<string | undefined>;
  warn(message: string, ...actions: string[]): Promise<string | undefined>;
  fail(message: string, ...actions: string[]): Promise<string | undefined>;
  chooseFolder(title: string): Promise<string | undefined>;
  /** Path of the file to write; undefined when the person went away. */
  chooseTarget(title: string, suggestedName: string, extension: string): Promise<string | undefined>;
  withProgress<T>(title: string, work: () => Promise<T>): Promise<T>;
}

/** The editor around the documents. */
export interface Workbench {
  active(): OpenDocument | undefined;
  open(uri: string): Promise<OpenDocument>;
  /** Shows a document that is nowhere on disk, and gives its URI. */
  showText(title: string, text: string, language: string): Promise<string>;
  reveal(uri: string, range?: Range): Promise<void>;
  /** URI of the workspace folder that holds the document, else the first one; undefined without a folder. */
  folderOf(uri: string | undefined): string | undefined;
  isTrusted(): boolean;
  /** URIs of files by a glob pattern. */
  find(pattern: string): Promise<readonly string[]>;
  openFolder(path: string): Promise<void>;
  openMarkdown(path: string): Promise<void>;
  setContext(name: string, value: boolean): void;
  copy(text: string): Promise<void>;
  /** Opens generated text: a new document, or the difference to what is there with the choice to replace it. */
  propose(uri: string, text: string): Promise<'opened' | 'unchanged' | 'replaced' | 'kept'>;
}

/** The diagnostics rule, if any, at a position of a document. */
export interface RuleLookup {
  rulesAt(uri: string, position: Position): readonly string[];
}

export type Requests = ServerRequests & InspectionRequests;

/** The language server, started when first asked. */
export interface Server {
  request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']>;
  /** Stretch of the statement at a position; undefined where there is none. */
  statementAt(uri: string, position: Position): Promise<Range | undefined>;
  restart(): Promise<void>;
}

export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Small values that survive a restart, per workspace. */
export interface Memory {
  get<T>(key: string): T | undefined;
  set(key: string, value: unknown): Promise<void>;
}

export interface SecretVault {
  get(key: string): Promise<string | undefined>;
  store(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}
