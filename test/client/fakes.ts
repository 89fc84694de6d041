import type { ProfileSettings } from '../../client/src/connections/connections.ts';
import { Connections } from '../../client/src/connections/connections.ts';
import { readProfiles } from '../../client/src/connections/profile.ts';
import { RedactingLog } from '../../client/src/log.ts';
import type { Page } from '../../client/src/panel/run-panel.ts';
import type {
  Answer,
  Choice,
  InputOptions,
  Memory,
  OpenDocument,
  PickOptions,
  Prompts,
  Requests,
  SecretVault,
  Server,
  Workbench,
} from '../../client/src/ports.ts';
import type { Session, SessionFactory } from '../../client/src/runs/session.ts';
import { unknownCounts } from '../../protocol/counts.ts';
import type { ConnectionFacts, PanelRequest, PanelUpdate } from '../../protocol/panel.ts';
import type { ExecutableLoad } from '../../protocol/requests.ts';
import type { RunEvent, RunResult } from '../../protocol/run.ts';
import type { RunJob, SessionDescription, SessionEnd } from '../../protocol/runner-process.ts';

/** Answers questions from a script, in order; a question without an answer fails the test. */
export class ScriptedPrompts implements Prompts {
  readonly said: string[] = [];
  readonly asked: string[] = [];
  /** The labels of each pick. */
  readonly offered: (readonly string[])[] = [];
  readonly #answers: unknown[];

  constructor(...answers: readonly unknown[]) {
    this.#answers = [...answers];
  }

  async pick<T>(choices: readonly Choice<T>[], options: PickOptions): Promise<Answer<T>> {
    this.asked.push(options.placeholder ?? options.title);
    this.offered.push(choices.map(({ label }) => label));
    const answer = this.#next(options.title);
    if (typeof answer !== 'string') return answer === undefined ? undefined : (answer as Answer<T>);
    const choice = choices.find(({ label }) => label.includes(answer));
    if (choice === undefined)
      throw new Error(`no choice "${answer}" among ${choices.map(({ label }) => label).join(', ')}`);
    return choice.value;
  }

  async pickMany<T>(choices: readonly (Choice<T> & { readonly picked: boolean })[]): Promise<readonly T[]> {
    return choices.filter((choice) => choice.picked).map((choice) => choice.value);
  }

  async input(options: InputOptions): Promise<Answer<string>> {
    this.asked.push(options.prompt);
    const answer = this.#next(options.prompt);
    if (typeof answer !== 'string') return answer === undefined ? undefined : (answer as Answer<string>);
    const problem = options.validate?.(answer);
    if (problem !== undefined) throw new Error(problem);
    return answer;
  }

  async confirm(question: string, detail: string): Promise<boolean> {
    this.asked.push(`${question}\n${detail}`);
    return this.#next(question) === true;
  }

  async inform(message: string): Promise<undefined> {
    this.said.push(message);
  }

  async warn(message: string): Promise<undefined> {
    this.said.push(message);
  }

  async fail(message: string): Promise<undefined> {
    this.said.push(message);
  }

  async chooseFolder(): Promise<undefined> {}

  async chooseTarget(): Promise<undefined> {}

  withProgress<T>(_: string, work: () => Promise<T>): Promise<T> {
    return work();
  }

  #next(question: string): unknown {
    if (this.#answers.length === 0) throw new Error(`unexpected question: ${question}`);
    return this.#answers.shift();
  }
}

export class FakeWorkbench implements Workbench {
  isTrustedNow = true;
  document: OpenDocument | undefined;
  readonly proposed: { readonly uri: string; readonly text: string }[] = [];
  readonly contexts = new Map<string, boolean>();
  /** Documents by URI; all others are empty. */
  readonly texts = new Map<string, string>();
  opened: string | undefined;
  shownText = '';

  active(): OpenDocument | undefined {
    return this.document;
  }
  async open(uri: string): Promise<OpenDocument> {
    return { uri, language: 'sql', text: this.texts.get(uri) ?? '', selection: null, isUntitled: false };
  }
  async showText(title: string, text: string): Promise<string> {
    this.shownText = text;
    return `shown:/${title}`;
  }
  async reveal(): Promise<void> {}
  folderOf(): string {
    return 'file:///w';
  }
  isTrusted(): boolean {
    return this.isTrustedNow;
  }
  async find(): Promise<readonly string[]> {
    return [];
  }
  async openFolder(): Promise<void> {}
  async openMarkdown(path: string): Promise<void> {
    this.opened = path;
  }
  setContext(name: string, value: boolean): void {
    this.contexts.set(name, value);
  }
  async copy(): Promise<void> {}
  async propose(uri: string, text: string): Promise<'opened'> {
    this.proposed.push({ uri, text });
    return 'opened';
  }
}

/** Answers requests from a table; a request that is not in it fails the test. */
export class FakeServer implements Server {
  readonly requests: { readonly method: string; readonly params: unknown }[] = [];
  readonly #answers: { readonly [M in keyof Requests]?: (params: Requests[M]['params']) => Requests[M]['result'] };

  constructor(answers: { readonly [M in keyof Requests]?: (params: Requests[M]['params']) => Requests[M]['result'] }) {
    this.#answers = answers;
  }

  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    this.requests.push({ method, params });
    const answer = this.#answers[method];
    if (answer === undefined) throw new Error(`unexpected request ${method}`);
    return answer(params);
  }
  async statementAt(): Promise<undefined> {}
  async restart(): Promise<void> {}
}

class FakeMemory implements Memory {
  readonly values = new Map<string, unknown>();
  get<T>(key: string): T | undefined {
    return this.values.get(key) as T | undefined;
  }
  async set(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
  }
}

class FakeVault implements SecretVault {
  readonly secrets = new Map<string, string>();
  async get(key: string): Promise<string | undefined> {
    return this.secrets.get(key);
  }
  async store(key: string, value: string): Promise<void> {
    this.secrets.set(key, value);
  }
  async delete(key: string): Promise<void> {
    this.secrets.delete(key);
  }
}

export const doneResult: RunResult = {
  status: 'done',
  counts: { ...unknownCounts, inserted: 2 },
  batches: [],
  warnings: [],
  error: null,
  elapsedMs: 4,
};

/** A session that ends as it is told to. */
class FakeSession implements Session {
  facts: ConnectionFacts;
  readonly about: readonly string[] = ['version 1'];
  warnings: readonly string[] = [];
  isLost = false;
  readonly jobs: RunJob[] = [];
  openTransaction = false;
  end: (job: RunJob) => Promise<RunResult> | RunResult = () => doneResult;
  isCancelled = false;
  isClosed = false;

  constructor(facts: ConnectionFacts) {
    this.facts = facts;
  }
  async run(job: RunJob, onEvent: (event: RunEvent) => void): Promise<SessionEnd> {
    this.jobs.push(job);
    onEvent({ kind: 'state', state: 'running' });
    const result = await this.end(job);
    const description: SessionDescription = {
      facts: this.facts,
      about: this.about,
      warnings: this.warnings,
      isLost: this.isLost,
      openTransaction: this.openTransaction,
    };
    return { result, notes: [], openTransaction: this.openTransaction, description };
  }
  query: Session['query'] = async () => [];
  async tables(): Promise<readonly []> {
    return [];
  }
  async describe(): Promise<readonly []> {
    return [];
  }
  cancel(): void {
    this.isCancelled = true;
  }
  readonly ended: string[] = [];
  async endTransaction(action: string): Promise<void> {
    this.ended.push(action);
    this.openTransaction = false;
  }
  async changeDatabase(): Promise<void> {}
  async close(): Promise<void> {
    this.isClosed = true;
  }
}

class FakeSessions implements SessionFactory {
  readonly opened: {
    readonly id: string;
    readonly name: string;
    readonly secret: string | null;
    readonly session: FakeSession;
  }[] = [];
  readonly cancelled: string[] = [];
  prepare: (session: FakeSession) => void = () => undefined;

  cancel(id: string): void {
    this.cancelled.push(id);
  }

  async open(id: string, profile: Parameters<SessionFactory['open']>[1], secret: string | null): Promise<Session> {
    const { name, platform, server, database, user, environment, isProtected, isReadOnly } = profile;
    const session = new FakeSession({
      name,
      platform,
      server,
      database,
      login: user,
      environment,
      isProtected,
      isReadOnly,
    });
    this.prepare(session);
    this.opened.push({ id, name, secret, session });
    return session;
  }
}

class FakeSettings implements ProfileSettings {
  user: unknown[] = [];
  workspace: unknown[] = [];
  name = '';
  read(): ReturnType<typeof readProfiles> {
    return readProfiles(this.user, this.workspace);
  }
  defaultName(): string {
    return this.name;
  }
  async add(profile: Parameters<ProfileSettings['add']>[0]): Promise<void> {
    this.user.push({
      name: profile.name,
      platform: profile.platform,
      server: profile.server,
      user: profile.user,
      file: profile.file,
    });
  }
  async remove(profile: Parameters<ProfileSettings['remove']>[0]): Promise<void> {
    this.user = this.user.filter((entry) => JSON.stringify(entry).includes(profile.name) === false);
  }
}

/** Keeps what the page was told, and asks in its name. */
export class RecordedPage implements Page {
  isVisible = true;
  readonly updates: PanelUpdate[] = [];
  ask: (request: PanelRequest) => void = () => undefined;
  show(): void {}
  post(update: PanelUpdate): void {
    this.updates.push(update);
  }
  listen(receive: (request: PanelRequest) => void): void {
    this.ask = receive;
  }
  get run() {
    return this.updates.findLast((update) => update.kind === 'run')?.run ?? null;
  }
}

export function fakeLog(): { readonly log: RedactingLog; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (message: string) => lines.push(message);
  return { lines, log: new RedactingLog({ info: write, warn: write, error: write }) };
}

/** Connections over fakes, with everything that a test may want to look at. */
export function fakeConnections(prompts: Prompts = new ScriptedPrompts()) {
  const parts = {
    settings: new FakeSettings(),
    sessions: new FakeSessions(),
    vault: new FakeVault(),
    tokens: { token: async (): Promise<string | undefined> => 'token-canary' },
    memory: new FakeMemory(),
    workbench: new FakeWorkbench(),
    ...fakeLog(),
  };
  const connections = new Connections({ ...parts, prompts, embeddedFile: 'embedded.duckdb' });
  return { connections, prompts, ...parts };
}

export function executable(change: Partial<ExecutableLoad> = {}): ExecutableLoad {
  const batch = { text: 'INSERT INTO t SELECT 1', line: 0 };
  return {
    title: 'Load',
    specification: null,
    text: batch.text,
    batches: [batch],
    preview: { batches: [{ text: 'SELECT 1', line: 0 }] },
    previewRefusal: null,
    parameters: [],
    ...change,
  };
}
