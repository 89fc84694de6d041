import type { ConnectionSettings } from '../../protocol/connection.ts';
import type { ResultSet } from '../../protocol/run.ts';
import type {
  FromRunner,
  RunJob,
  RunnerMethod,
  RunnerRequests,
  SessionDescription,
  SessionEnd,
  ToRunner,
} from '../../protocol/runner-process.ts';
import { openSession } from './open-session.ts';
import { query } from './queries.ts';
import { defaultCancelDeadlineMs, Run } from './run.ts';
import { ConnectionError, type Session } from './session.ts';

type Request<M extends RunnerMethod> = RunnerRequests[M];

interface Held {
  readonly settings: ConnectionSettings;
  readonly session: Session;
  run: Run | null;
  /** Settles when everything asked so far has ended: a connection does one thing at a time. */
  last: Promise<void>;
}

/** Holds the sessions of one client and answers its messages. */
export class RunnerHost {
  readonly #send: (message: FromRunner) => void;
  readonly #held = new Map<string, Held>();
  readonly #connecting = new Map<string, AbortController>();

  constructor(send: (message: FromRunner) => void) {
    this.#send = send;
  }

  /** Answers a request by a message; never rejects. */
  async receive(message: ToRunner): Promise<void> {
    if (message.kind === 'cancel') {
      this.#cancel(message.session);
      return;
    }
    try {
      const value = await this.#answer(message);
      this.#send({ kind: 'answer', id: message.id, value });
    } catch (error) {
      this.#send({ kind: 'error', id: message.id, message: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Closes every session; open transactions are rolled back. */
  async close(): Promise<void> {
    for (const attempt of this.#connecting.values()) attempt.abort();
    await Promise.all([...this.#held.keys()].map((name) => this.#disconnect(name)));
  }

  #answer(message: Exclude<ToRunner, { kind: 'cancel' }>): Promise<RunnerRequests[RunnerMethod]['result']> {
    const { session: name } = message;
    switch (message.kind) {
      case 'connect':
        return this.#connect(name, message.params);
      case 'run':
        return this.#run(name, message.params);
      case 'query':
        return this.#query(name, message.params);
      case 'tables':
        return inTurn(this.#usable(name), ({ session }) => session.tables());
      case 'describe':
        return inTurn(this.#usable(name), ({ session }) => session.describe(message.params.tables));
      case 'endTransaction':
        return this.#change(name, (session) => session.endTransaction(message.params.action));
      case 'changeDatabase':
        return this.#change(name, (session) => session.changeDatabase(message.params.database));
      case 'disconnect':
        return this.#disconnect(name);
    }
  }

  async #connect(name: string, { settings, secret }: Request<'connect'>['params']): Promise<SessionDescription> {
    if (this.#held.has(name) || this.#connecting.has(name))
      throw new ConnectionError('This session is open already; disconnect it first.');
    const attempt = new AbortController();
    this.#connecting.set(name, attempt);
    this.#event(name, { kind: 'state', state: 'connecting' });
    try {
      const session = await openSession(settings, secret, attempt.signal);
      if (attempt.signal.aborted) {
        await session.close();
        throw new ConnectionError('Connecting was cancelled.');
      }
      const held: Held = { settings, session, run: null, last: Promise.resolve() };
      this.#held.set(name, held);
      void session.lost.then(() => this.#lost(name, held));
      return describe(held);
    } finally {
      this.#connecting.delete(name);
    }
  }

  async #run(name: string, job: RunJob): Promise<SessionEnd> {
    const held = this.#usable(name);
    const run = new Run(held.session, job, {
      timeLimitMs: held.settings.runTimeoutSeconds * 1000,
      cancelDeadlineMs: defaultCancelDeadlineMs,
      retries: held.settings.retries,
      emit: (event) => this.#event(name, event),
    });
    held.run = run;
    try {
      const end = await inTurn(held, () => run.start());
      return { ...end, description: describe(held) };
    } finally {
      held.run = null;
      if (held.session.isLost) this.#held.delete(name);
    }
  }

  async #query(name: string, { batches }: Request<'query'>['params']): Promise<Request<'query'>['result']> {
    return inTurn(this.#usable(name), async ({ session }) => {
      const sets: ResultSet[] = [];
      for (const batch of batches) sets.push(...(await query(session, batch.text)));
      return sets;
    });
  }

  async #change(name: string, change: (session: Session) => Promise<void>): Promise<SessionDescription> {
    const held = this.#usable(name);
    await inTurn(held, ({ session }) => change(session));
    return describe(held);
  }

  async #disconnect(name: string): Promise<null> {
    this.#connecting.get(name)?.abort();
    const held = this.#held.get(name);
    this.#held.delete(name);
    await held?.session.close();
    return null;
  }

  /** A session that went between two runs is told at once; one that went in a run is told by the run's end. */
  #lost(name: string, held: Held): void {
    if (this.#held.get(name) !== held || held.run !== null) return;
    this.#held.delete(name);
    this.#send({ kind: 'session', session: name, description: describe(held) });
  }

  #cancel(name: string): void {
    this.#connecting.get(name)?.abort();
    const held = this.#held.get(name);
    if (held?.run) held.run.cancel();
    else held?.session.cancel();
  }

  #usable(name: string): Held {
    const held = this.#held.get(name);
    if (held === undefined) throw new ConnectionError('There is no such session; connect first.');
    if (held.run !== null) throw new ConnectionError('A run of this session is still going on.');
    return held;
  }

  #event(session: string, event: Extract<FromRunner, { kind: 'event' }>['event']): void {
    this.#send({ kind: 'event', session, event });
  }
}

/** Begins when what was asked before has ended, well or not. */
function inTurn<T>(held: Held, work: (held: Held) => Promise<T>): Promise<T> {
  const result = held.last.then(() => work(held));
  held.last = result.then(
    () => undefined,
    () => undefined,
  );
  return result;
}

function describe({ settings, session }: Held): SessionDescription {
  const { facts } = session;
  return {
    facts: {
      name: settings.name,
      platform: facts.platform,
      server: facts.server,
      database: facts.database,
      login: facts.login,
      environment: settings.environment,
      isProtected: settings.isProtected,
      isReadOnly: settings.isReadOnly,
    },
    about: facts.about,
    warnings: facts.warnings,
    isLost: session.isLost,
    openTransaction: session.inTransaction,
  };
}
