import { randomUUID } from 'node:crypto';
import { counted } from '../../../protocol/counted.ts';
import { unknownCounts } from '../../../protocol/counts.ts';
import type { ConnectionFacts, HistoryEntry, RunMode } from '../../../protocol/panel.ts';
import type { ExecutableLoad, LoadParameter, ServerRequests } from '../../../protocol/requests.ts';
import type { Batch, RunError } from '../../../protocol/run.ts';
import type { SessionEnd } from '../../../protocol/runner-process.ts';
import type { Connections } from '../connections/connections.ts';
import type { RunPanel } from '../panel/run-panel.ts';
import type { Log, Memory, Prompts, Server, Workbench } from '../ports.ts';
import type { RunHistory } from './history.ts';
import type { LoadTarget } from './load-target.ts';
import { askParameters, shownParameter } from './parameters.ts';
import { RunModel } from './run-model.ts';
import type { Session } from './session.ts';

/** Puts the errors of a run on the lines of its document. */
export interface RunProblems {
  show(uri: string, errors: readonly RunError[]): void;
  clear(uri: string): void;
}

export interface RunControllerPorts {
  readonly server: Server;
  readonly connections: Connections;
  readonly panel: RunPanel;
  readonly history: RunHistory;
  readonly problems: RunProblems;
  readonly prompts: Prompts;
  readonly workbench: Workbench;
  readonly memory: Memory;
  readonly log: Log;
  /** Seconds after which a run that nobody watches is announced. */
  readonly notifyAfterSeconds: () => number;
  /** Whether `$(Name)` is replaced also in a script without `:setvar`. */
  readonly sqlcmdVariables: (uri: string) => boolean;
}

interface ActiveRun {
  readonly model: RunModel;
  session: Session | null;
  isCancelled: boolean;
}

interface StartOptions {
  /** Ask for parameters although earlier values are known. */
  readonly askParameters?: boolean;
}

/** Takes a load from the click to its end: text, parameters, confirmation, session, events, history. */
export class RunController {
  readonly #ports: RunControllerPorts;
  readonly #active = new Map<string, ActiveRun>();
  readonly #listeners = new Set<() => void>();
  /** Runs that left a transaction open, by their documents. */
  readonly #left = new Map<string, { readonly model: RunModel; readonly session: Session }>();
  #last: { readonly target: LoadTarget; readonly text: string } | null = null;

  constructor(ports: RunControllerPorts) {
    this.#ports = ports;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  get running(): number {
    return this.#active.size;
  }

  /** The load that ran last: what "again" means, and the text that was sent. */
  get last(): { readonly target: LoadTarget; readonly text: string } | null {
    return this.#last;
  }

  /** Runs, previews or runs and rolls back; resolves with the status once it has ended, undefined when it never began. */
  async start(
    mode: RunMode,
    target: LoadTarget,
    options: StartOptions = {},
  ): Promise<SessionEnd['result'] | undefined> {
    const { connections, prompts, workbench } = this.#ports;
    if (!workbench.isTrusted()) {
      await prompts.warn('Nothing runs before this workspace is trusted.');
      return undefined;
    }
    if (this.#active.has(target.uri)) {
      await prompts.warn('A run of this document is still going on. Cancel it or wait for its end.');
      return undefined;
    }
    const load = await this.#executable(mode, target, options);
    if (load === undefined) return undefined;
    if (mode === 'preview' && load.preview === null) {
      await prompts.warn(
        `No preview: ${load.previewRefusal ?? 'the load has no effect on rows that could be counted.'}`,
      );
      return undefined;
    }
    const refusal = refusalOf(mode, connections.factsOf(target.uri), load);
    if (refusal !== undefined) {
      await prompts.warn(refusal);
      return undefined;
    }
    return this.#run(mode, target, load);
  }

  /** Cancels the run of a document, or every run. */
  cancel(uri?: string): void {
    for (const [document, run] of this.#active) {
      if (uri !== undefined && document !== uri) continue;
      run.isCancelled = true;
      if (run.session === null) this.#ports.connections.cancelConnecting(document);
      else run.session.cancel();
    }
  }

  /** Ends the transaction that the shown run left open; a second click finds nothing to end. */
  async endTransaction(action: 'commit' | 'rollback'): Promise<void> {
    const uri = this.#last?.target.uri ?? '';
    const left = this.#left.get(uri);
    if (left === undefined) return;
    this.#left.delete(uri);
    const { model, session } = left;
    model.setOpenTransaction(false);
    this.#ports.panel.runChanged(model);
    try {
      await session.endTransaction(action);
      model.note(action === 'commit' ? 'The transaction was committed.' : 'The transaction was rolled back.');
    } finally {
      if (session.openTransaction && !session.isLost) this.#leaveOpen(uri, model, session);
      this.#ports.panel.runChanged(model);
    }
  }

  /** To be called when a session may have changed: what is no longer open can't be committed or rolled back. */
  sessionsChanged(): void {
    for (const [uri, { model, session }] of this.#left) {
      const isHeld = this.#ports.connections.isConnected(uri);
      if (isHeld && session.openTransaction) continue;
      this.#left.delete(uri);
      model.setOpenTransaction(false);
      if (!isHeld) model.note('The connection is closed: the server has rolled back the transaction that was open.');
      this.#ports.panel.runChanged(model);
    }
  }

  /** To be called when a document is closed: its session goes with it, unless it is at work or holds a transaction. */
  async documentClosed(uri: string): Promise<void> {
    const { connections } = this.#ports;
    const isNeeded = this.#active.has(uri) || this.#left.has(uri);
    if (!isNeeded && connections.isConnected(uri)) await connections.disconnect(uri);
  }

  #leaveOpen(uri: string, model: RunModel, session: Session): void {
    model.setOpenTransaction(true);
    this.#left.set(uri, { model, session });
  }

  async #executable(mode: RunMode, target: LoadTarget, options: StartOptions): Promise<ExecutableLoad | undefined> {
    const { connections, memory, prompts, server, sqlcmdVariables } = this.#ports;
    const platform = connections.factsOf(target.uri).platform;
    const remembered = memory.get<Record<string, string>>(parametersKey(target));
    const request = (parameters: Readonly<Record<string, string>>) =>
      server.request('mergewright/executable', {
        uri: target.uri,
        platform,
        parameters,
        ...(target.kind === 'specification'
          ? { specification: target.specification }
          : { text: target.text, sqlcmdVariables: sqlcmdVariables(target.uri) }),
      });
    const made = await request(remembered ?? {});
    // What was remembered may belong to an earlier text: then the load is made without it.
    const isOutdated = made.load === null && remembered !== undefined && Object.keys(remembered).length > 0;
    const known = isOutdated ? undefined : remembered;
    const first = isOutdated ? await request({}) : made;
    const refuse = async ({ problems }: ServerRequests['mergewright/executable']['result']) => {
      await prompts.fail(problems[0]?.message ?? 'This load cannot be made for the connection.');
      return undefined;
    };
    if (first.load === null) return refuse(first);
    const isAsked =
      takesValues(mode, first.load) &&
      ((known === undefined && first.load.parameters.some(needsValue)) ||
        isMissing(first.load) ||
        options.askParameters === true);
    if (!isAsked || first.load.parameters.length === 0) return shifted(first.load, target);
    const values = await askParameters(prompts, first.load.title, first.load.parameters);
    if (values === undefined) return undefined;
    const second = await request(values);
    if (second.load === null) return refuse(second);
    await memory.set(parametersKey(target), values);
    if (isMissing(second.load)) {
      const names = (second.load.missingParameters ?? []).join(', ');
      await prompts.fail(`Nothing was sent: ${names} must have a value, for NOT NULL columns of the target.`);
      return undefined;
    }
    return shifted(second.load, target);
  }

  async #run(mode: RunMode, target: LoadTarget, load: ExecutableLoad): Promise<SessionEnd['result'] | undefined> {
    const { connections, panel, problems, prompts } = this.#ports;
    const batches = mode === 'preview' ? (load.preview?.batches ?? []) : load.batches;
    const model = new RunModel({
      id: randomUUID(),
      title: target.title,
      mode,
      connection: connections.factsOf(target.uri),
      batches,
      parameters: (takesValues(mode, load) ? load.parameters : []).map(({ name, type, value, isClock }) => ({
        name,
        type,
        value: value ?? (isClock === true ? '(the clock)' : null),
      })),
      canRerun: true,
      canDryRun: (load.dryRunRefusal ?? null) === null,
      findOut: mode === 'run' && typeof load.findOut === 'string' ? withStart(load.findOut) : null,
    });
    const run: ActiveRun = { model, session: null, isCancelled: false };
    this.#active.set(target.uri, run);
    this.#last = { target, text: mode === 'preview' ? batches.map((batch) => batch.text).join('\nGO\n') : load.text };
    this.#changed();
    panel.showRun(model);
    problems.clear(target.uri);
    const entry = historyEntry(model, mode, target);
    let isRecorded = false;
    try {
      const opened = await connections.session(target.uri);
      if (opened === undefined) {
        model.finish(unsent('cancelled'));
        return undefined;
      }
      model.connected(opened.session.facts);
      if (opened.wasLost) model.note('The session before was lost; this run started a new one.');
      if (run.isCancelled || !(await this.#confirmed(mode, opened.session.facts, load))) {
        model.finish(unsent('cancelled'));
        return undefined;
      }
      run.session = opened.session;
      this.#left.delete(target.uri);
      await this.#ports.history.record({ ...entry, connection: opened.session.facts.name });
      isRecorded = true;
      const isDryRun = mode === 'dry-run';
      const job = mode === 'preview' ? { mode, batches } : { mode: 'run' as const, batches, isDryRun };
      const end = await opened.session.run(job, (event) => {
        model.apply(event);
        panel.runChanged(model);
      });
      model.connected(opened.session.facts);
      for (const note of end.notes) model.note(note);
      if (typeof load.callFile === 'string' && end.result.status === 'done' && mode === 'run')
        model.note(`The procedure was created and not called; ${load.callFile} calls it.`);
      if (end.openTransaction) this.#leaveOpen(target.uri, model, opened.session);
      model.finish(end.result);
      return end.result;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#ports.log.error(message);
      model.finish(run.isCancelled ? unsent('cancelled') : unsent('failed', message));
      return undefined;
    } finally {
      this.#active.delete(target.uri);
      const shown = model.snapshot();
      if (isRecorded) {
        const { status, counts, elapsedMs } = shown;
        await this.#ports.history.record({
          ...entry,
          status,
          counts,
          elapsedMs,
          message: shown.errors[0]?.message ?? null,
        });
      }
      panel.runChanged(model);
      if (target.kind === 'text') problems.show(target.uri, model.errors().filter(isOfText));
      this.#changed();
      connections.refresh();
      this.#announce(shown.title, shown.status, shown.elapsedMs ?? 0, prompts);
    }
  }

  /** A protected connection asks before every run, with everything that is about to happen. */
  async #confirmed(mode: RunMode, facts: ConnectionFacts, load: ExecutableLoad): Promise<boolean> {
    if (mode === 'preview' || !facts.isProtected) return true;
    const isDryRun = mode === 'dry-run';
    return this.#ports.prompts.confirm(
      `Run${isDryRun ? ' and roll back' : ''} on the protected connection "${facts.name}"?`,
      confirmationOf(facts, load, mode),
      isDryRun ? 'Run and Roll Back' : 'Run',
    );
  }

  #announce(title: string, status: string | null, elapsedMs: number, prompts: Prompts): void {
    if (this.#ports.panel.isVisible || elapsedMs < this.#ports.notifyAfterSeconds() * 1000) return;
    const show = async () => {
      const tell = status === 'done' ? prompts.inform.bind(prompts) : prompts.warn.bind(prompts);
      if ((await tell(`${title}: ${status ?? 'unknown'}`, 'Show')) === 'Show') this.#ports.panel.show('changes');
    };
    void show();
  }

  #changed(): void {
    this.#ports.workbench.setContext('mergewright.running', this.#active.size > 0);
    for (const listener of this.#listeners) listener();
  }
}

/** Everything that a person has to know before saying yes. A long text is cut here; the panel has all of it. */
function confirmationOf(facts: ConnectionFacts, load: ExecutableLoad, mode: RunMode): string {
  const text =
    load.text.length > 4000
      ? `${load.text.slice(0, 4000)}\n… (${counted(load.text.length - 4000, 'more character')})`
      : load.text;
  const parameters = takesValues(mode, load) ? load.parameters.map(shownParameter) : [];
  return [
    `Server: ${facts.server ?? 'none'}`,
    `Database: ${facts.database ?? 'none'}`,
    `Login: ${facts.login ?? 'none'}`,
    `Environment: ${facts.environment}`,
    `Parameters: ${parameters.length === 0 ? 'none' : parameters.join(', ')}`,
    ...(mode === 'dry-run' ? ['Transaction: BEGIN TRANSACTION before the text, ROLLBACK after it'] : []),
    '',
    text,
  ].join('\n');
}

/** Times in the tables are told apart by when the run began. */
function withStart(query: string): string {
  const now = new Date().toISOString().slice(0, 19).replace('T', ' ');
  return `-- The run began at ${now} UTC by the clock of this machine.\n${query}`;
}

/** Why the load can't run in this mode, in words. */
function refusalOf(mode: RunMode, facts: ConnectionFacts, load: ExecutableLoad): string | undefined {
  if (mode === 'preview') return undefined;
  if (mode === 'dry-run' && typeof load.dryRunRefusal === 'string') return load.dryRunRefusal;
  if (!facts.isReadOnly || load.readsOnly === true) return undefined;
  return `"${facts.name}" is read-only, and this text is not proved to be a read. Choose another connection to run it.`;
}

/** A text of a selection is sent from its own first line. */
function shifted(load: ExecutableLoad, target: LoadTarget): ExecutableLoad {
  if (target.kind === 'specification' || target.line === 0) return load;
  const moved = (batches: readonly Batch[]) => batches.map((batch) => movedBatch(batch, target.line));
  const preview = load.preview === null ? null : { batches: moved(load.preview.batches) };
  return { ...load, batches: moved(load.batches), preview };
}

function movedBatch(batch: Batch, by: number): Batch {
  const sections = batch.sections?.map((section) =>
    section.file === null ? { ...section, line: section.line + by } : section,
  );
  return { ...batch, line: batch.line + by, ...(sections === undefined ? {} : { sections }) };
}

/** A lost connection says nothing about the text. */
function isOfText(error: RunError): boolean {
  return error.code !== 'runner' && error.code !== 'connection';
}

/** Nobody has said what goes in, and the load does not find it out itself. */
function needsValue({ value, isClock }: LoadParameter): boolean {
  return value === null && isClock !== true;
}

/** A run of a text that only creates a procedure takes no values; they are given where it is called. */
function takesValues(mode: RunMode, { callFile }: ExecutableLoad): boolean {
  return mode === 'preview' || typeof callFile !== 'string';
}

function isMissing({ missingParameters }: ExecutableLoad): boolean {
  return (missingParameters ?? []).length > 0;
}

function parametersKey(target: LoadTarget): string {
  return `parameters of ${target.kind === 'specification' ? JSON.stringify([target.specification.pattern, target.specification.target]) : target.uri}`;
}

function historyEntry(model: RunModel, mode: RunMode, target: LoadTarget): HistoryEntry {
  const { id, title, connection } = model.snapshot();
  return {
    id,
    title,
    load: parametersKey(target).slice('parameters of '.length),
    mode,
    connection: connection.name,
    environment: connection.environment,
    startedAt: new Date().toISOString(),
    status: null,
    counts: null,
    elapsedMs: null,
    message: null,
  };
}

/** The end of a run of which nothing was sent. */
function unsent(status: 'cancelled' | 'failed', message?: string): SessionEnd['result'] {
  const error = message === undefined ? null : { code: 'connection', message, batch: 0, line: null };
  return { status, counts: unknownCounts, batches: [], warnings: [], error, elapsedMs: 0 };
}
