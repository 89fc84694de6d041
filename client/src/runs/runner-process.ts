import { type ChildProcess, fork } from 'node:child_process';
import type { TableName } from '../../../protocol/catalog.ts';
import { unknownCounts } from '../../../protocol/counts.ts';
import type { Batch, ResultSet, RunEvent } from '../../../protocol/run.ts';
import type {
  DescribedTable,
  FromRunner,
  ListedTable,
  RunJob,
  RunnerMethod,
  RunnerRequests,
  SessionDescription,
  SessionEnd,
  ToRunner,
} from '../../../protocol/runner-process.ts';
import { type ConnectionProfile, connectionSettings } from '../connections/profile.ts';
import type { Log } from '../ports.ts';
import type { Session, SessionFactory } from './session.ts';

interface Waiting {
  resolve(value: RunnerRequests[RunnerMethod]['result']): void;
  reject(error: Error): void;
}

/** What the process said when it ended; a run that was going on has an end that nobody knows. */
class RunnerGone extends Error {}

/**
 * The process that holds the connections (`dist/runner.cjs`). It is started with the first session, apart from the
 * editor's own process: a driver that crashes takes neither the editor nor the extension with it.
 */
export class RunnerProcess implements SessionFactory {
  readonly #program: string;
  readonly #log: Log;
  readonly #waiting = new Map<number, Waiting>();
  readonly #sessions = new Map<string, RunnerSession>();
  readonly #changed: () => void;
  #child: ChildProcess | undefined;
  #nextId = 1;

  /** @param program path of `dist/runner.cjs` @param changed is called when a session says something new of itself */
  constructor(program: string, log: Log, changed: () => void) {
    this.#program = program;
    this.#log = log;
    this.#changed = changed;
  }

  async open(id: string, profile: ConnectionProfile, secret: string | null): Promise<Session> {
    const description = await this.request('connect', id, { settings: connectionSettings(profile), secret });
    const session = new RunnerSession(id, this, description);
    this.#sessions.set(id, session);
    return session;
  }

  cancel(session: string): void {
    this.#send({ kind: 'cancel', session });
  }

  /** A session under the same name may have been opened since. */
  forget(id: string, session: RunnerSession): void {
    if (this.#sessions.get(id) === session) this.#sessions.delete(id);
  }

  /** @param taken is called with the answer before any later message of the process is read */
  request<M extends RunnerMethod>(
    kind: M,
    session: string,
    params: RunnerRequests[M]['params'],
    taken: (value: RunnerRequests[M]['result']) => void = () => undefined,
  ): Promise<RunnerRequests[M]['result']> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        resolve: (answer) => {
          const value = answer as RunnerRequests[M]['result'];
          taken(value);
          resolve(value);
        },
        reject,
      });
      this.#send({ kind, id, session, params } as ToRunner);
    });
  }

  dispose(): void {
    this.#child?.kill();
  }

  #send(message: ToRunner): void {
    this.#child ??= this.#start();
    this.#child.send(message);
  }

  #start(): ChildProcess {
    const child = fork(this.#program, [], {
      env: environment(),
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'json',
    });
    child.on('message', (message) => this.#receive(message as FromRunner));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#log.warn(`runner: ${text.trimEnd()}`));
    child.once('exit', (code, signal) => this.#gone(child, `the runner process ended (${signal ?? `code ${code}`})`));
    // One for each message that could not be sent: an error that nobody listens to would end the extension.
    child.on('error', (error) => this.#gone(child, `the runner process could not be started: ${error.message}`));
    return child;
  }

  #receive(message: FromRunner): void {
    switch (message.kind) {
      case 'answer':
        this.#take(message.id)?.resolve(message.value);
        return;
      case 'error':
        this.#take(message.id)?.reject(new Error(message.message));
        return;
      case 'event':
        this.#sessions.get(message.session)?.tell(message.event);
        return;
      case 'session':
        this.#sessions.get(message.session)?.update(message.description);
        this.#changed();
        return;
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  /** Every session of the process is lost with it; the next one starts another process. */
  #gone(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#log.error(reason);
    for (const session of this.#sessions.values()) session.lose();
    this.#sessions.clear();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new RunnerGone(reason));
    this.#changed();
  }
}

/** One session of the process, as the rest of the extension uses it. */
class RunnerSession implements Session {
  readonly #id: string;
  readonly #process: RunnerProcess;
  #description: SessionDescription;
  #onEvent: (event: RunEvent) => void = () => undefined;
  #wasSent = false;

  constructor(id: string, process: RunnerProcess, description: SessionDescription) {
    this.#id = id;
    this.#process = process;
    this.#description = description;
  }

  get facts(): SessionDescription['facts'] {
    return this.#description.facts;
  }

  get about(): readonly string[] {
    return this.#description.about;
  }

  get warnings(): readonly string[] {
    return this.#description.warnings;
  }

  get isLost(): boolean {
    return this.#description.isLost;
  }

  get openTransaction(): boolean {
    return this.#description.openTransaction;
  }

  async run(job: RunJob, onEvent: (event: RunEvent) => void): Promise<SessionEnd> {
    this.#onEvent = onEvent;
    this.#wasSent = false;
    const started = Date.now();
    try {
      return await this.#process.request('run', this.#id, job, (end) => this.update(end.description));
    } catch (error) {
      // Without a batch sent nothing can have happened; after one, nobody knows.
      if (!(error instanceof RunnerGone) || !this.#wasSent) throw error;
      return this.#unknownEnd(error.message, Date.now() - started);
    } finally {
      this.#onEvent = () => undefined;
    }
  }

  query(batches: readonly Batch[]): Promise<readonly ResultSet[]> {
    return this.#process.request('query', this.#id, { batches });
  }

  tables(): Promise<readonly ListedTable[]> {
    return this.#process.request('tables', this.#id, null);
  }

  describe(tables: readonly TableName[]): Promise<readonly DescribedTable[]> {
    return this.#process.request('describe', this.#id, { tables });
  }

  cancel(): void {
    this.#process.cancel(this.#id);
  }

  async endTransaction(action: 'commit' | 'rollback'): Promise<void> {
    await this.#process.request('endTransaction', this.#id, { action }, (description) => this.update(description));
  }

  async changeDatabase(database: string): Promise<void> {
    await this.#process.request('changeDatabase', this.#id, { database }, (description) => this.update(description));
  }

  async close(): Promise<void> {
    if (!this.isLost) await this.#process.request('disconnect', this.#id, null).catch(() => null);
    this.#process.forget(this.#id, this);
  }

  /** To be called with every event of the session's run. */
  tell(event: RunEvent): void {
    if (event.kind === 'batch-started') this.#wasSent = true;
    this.#onEvent(event);
  }

  update(description: SessionDescription): void {
    this.#description = description;
  }

  lose(): void {
    this.#description = { ...this.#description, isLost: true, openTransaction: false };
  }

  #unknownEnd(reason: string, elapsedMs: number): SessionEnd {
    const error = { code: 'runner', message: `The connection is lost: ${reason}.`, batch: 0, line: null };
    return {
      result: { status: 'unknown', counts: unknownCounts, batches: [], warnings: [], error, elapsedMs },
      notes: [
        'A batch had been sent and its end was not seen: what it did is not known. Preview the load again to find out: what it wrote counts as unchanged there.',
      ],
      openTransaction: false,
      description: this.#description,
    };
  }
}

/** The editor's program runs as plain Node; nothing secret is in the environment. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
}
