import { unknownCounts } from '../../protocol/counts.ts';
import type {
  Batch,
  BatchResult,
  PreviewResult,
  ResultSet,
  RunError,
  RunEvent,
  RunResult,
  RunStatus,
} from '../../protocol/run.ts';
import type { RunJob } from '../../protocol/runner-process.ts';
import { holdsWholeTransaction, mayCommit, writesSeveralTimes } from './commit.ts';
import { countsOf, isSamples, isWarnings, samplesOf, warningsOf } from './report.ts';
import { ResultSets } from './result-sets.ts';
import { type BatchEnd, type EngineError, type Session, silent } from './session.ts';

export interface RunOptions {
  /** Milliseconds until the run is cancelled; 0: no limit. */
  readonly timeLimitMs: number;
  /** Milliseconds that the engine has for answering a cancel before the connection is dropped. */
  readonly cancelDeadlineMs: number;
  /** How often a deadlock victim or a snapshot conflict is tried again. */
  readonly retries: number;
  readonly emit: (event: RunEvent) => void;
}

export const defaultCancelDeadlineMs = 4000;

export interface RunEnd {
  readonly result: RunResult | PreviewResult;
  /** Sentences: which batches stay committed, what an unknown end means and how to find out. */
  readonly notes: readonly string[];
  readonly openTransaction: boolean;
}

/** Deadlock victim; update conflict under snapshot isolation, and Fabric's own. */
const repeatable = new Set(['1205', '3960', '24556']);
/** DuckDB's name of the error. */
const outOfMemory = 'Out of Memory Error';
const keptRows = 100_000;

type State =
  | { readonly name: 'ready' }
  | { readonly name: 'running' }
  | { readonly name: 'cancelling'; readonly why: 'asked' | 'time limit' }
  | { readonly name: 'finished' };

/** How one batch of the run went. */
type Step =
  | { readonly kind: 'ok' }
  | { readonly kind: 'failed'; readonly error: RunError }
  | { readonly kind: 'cancelled'; readonly effect: 'rolled-back' | 'partly' | 'committed' }
  | { readonly kind: 'lost'; readonly reason: string; readonly mayHaveCommitted: boolean };

/**
 * One run of one session: ready → running → (cancelling →) finished. It ends in exactly one of
 *
 * - `done`: every batch was read to its end without an error;
 * - `failed`: an error was answered, or the connection went while nothing that was sent could commit;
 * - `cancelled`: the engine acknowledged and the transaction was rolled back, or nothing had been sent;
 * - `unknown`: a batch that may commit was sent, and its end was not read.
 */
export class Run {
  readonly #session: Session;
  readonly #job: RunJob;
  readonly #options: RunOptions;
  readonly #batches: BatchResult[] = [];
  readonly #notes: string[] = [];
  readonly #samples: ResultSet[] = [];
  #state: State = { name: 'ready' };
  #last: ResultSet | undefined;
  /** The sets of warnings right before the last one. */
  #before: readonly ResultSet[] = [];
  /** A transaction was open before the run. */
  #wasOpen = false;
  /** Batches that stay, whatever happens to the later ones. */
  #committed = 0;
  /** How often the last batch was done and stays, of the times that its GO says. */
  #repeated = 0;
  /** The last batch began outside a transaction. */
  #beganOutside = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(session: Session, job: RunJob, options: RunOptions) {
    this.#session = session;
    this.#job = job;
    this.#options = options;
  }

  /** Sends the batches in order; never rejects. */
  async start(): Promise<RunEnd> {
    const started = performance.now();
    if (this.#state.name === 'ready') this.#state = { name: 'running' };
    this.#options.emit({ kind: 'state', state: 'running' });
    const { timeLimitMs } = this.#options;
    const limit = timeLimitMs > 0 ? setTimeout(() => this.#cancel('time limit'), timeLimitMs) : undefined;
    this.#wasOpen = this.#session.inTransaction;
    const refusal = this.#refusal();
    const end = refusal ?? (await this.#all());
    clearTimeout(limit);
    clearTimeout(this.#deadline);
    const openTransaction = refusal === null ? await this.#settle(end) : true;
    const result = this.#result(end, Math.round(performance.now() - started));
    this.#state = { name: 'finished' };
    this.#options.emit({ kind: 'state', state: 'finished' });
    return { result, notes: this.#notes, openTransaction };
  }

  /** What rolls back at its end would take back what a person has not committed yet. */
  #refusal(): Step | null {
    const { mode, batches } = this.#job;
    const rollsBack = this.#isDry || (mode === 'preview' && batches.some(({ text }) => /\brollback\b/i.test(text)));
    if (!this.#wasOpen || !rollsBack) return null;
    const what = this.#isDry ? 'a dry run' : 'this preview';
    const message = `A transaction is open on this connection. Commit it or roll it back first: ${what} rolls back at its end.`;
    return { kind: 'failed', error: this.#told({ code: 'open_transaction', message, batch: 0, line: null }) };
  }

  /** Asks the engine to stop; where it does not answer in time, the connection is dropped. */
  cancel(): void {
    this.#cancel('asked');
  }

  #cancel(why: 'asked' | 'time limit'): void {
    if (this.#state.name !== 'running' && this.#state.name !== 'ready') return;
    const wasRunning = this.#state.name === 'running';
    this.#state = { name: 'cancelling', why };
    this.#options.emit({ kind: 'state', state: 'cancelling' });
    if (!wasRunning) return;
    this.#session.cancel();
    this.#deadline = setTimeout(
      () => this.#session.drop('The server did not answer the cancel, so the connection was dropped.'),
      this.#options.cancelDeadlineMs,
    );
  }

  async #all(): Promise<Step> {
    if (this.#job.isDryRun === true && this.#state.name === 'running') {
      const begun = await this.#session.execute('BEGIN TRANSACTION', silent);
      if (begun.kind === 'lost') return { kind: 'lost', reason: begun.reason, mayHaveCommitted: false };
      // Without a transaction the batches would stay, so nothing of them is sent.
      if (begun.kind === 'finished' && !this.#session.inTransaction) return this.#dryRunRefused();
    }
    for (const [index, batch] of this.#job.batches.entries()) {
      if (this.#state.name !== 'running') return { kind: 'cancelled', effect: 'rolled-back' };
      const step = await this.#batch(index, batch);
      if (step.kind !== 'ok') return step;
      if (this.#job.isDryRun === true && !this.#session.inTransaction) return this.#dryRunCommitted(index);
      if (!this.#session.inTransaction) this.#committed = index + 1;
    }
    return { kind: 'ok' };
  }

  async #batch(index: number, batch: Batch): Promise<Step> {
    this.#options.emit({ kind: 'batch-started', index, of: this.#job.batches.length, text: batch.text });
    const started = performance.now();
    const sent: Sent = { messages: [], rows: 0 };
    const step = await this.#tries(index, batch, sent);
    const elapsedMs = Math.round(performance.now() - started);
    const result = { text: batch.text, elapsedMs, rows: sent.rows, messages: sent.messages };
    this.#batches.push(result);
    if (step.kind === 'ok') this.#options.emit({ kind: 'batch-finished', index, result });
    return step;
  }

  /** A batch that holds its whole transaction may be tried again when it was a deadlock's victim. */
  async #tries(index: number, batch: Batch, sent: Sent): Promise<Step> {
    const wasInTransaction = this.#session.inTransaction;
    for (let attempt = 1; ; attempt += 1) {
      const { step, errors } = await this.#repeats(index, batch, sent);
      const why = step.kind === 'failed' ? await this.#reasonToRepeat(batch, errors, attempt, wasInTransaction) : null;
      if (step.kind !== 'failed' || why === null) {
        for (const error of errors) this.#options.emit({ kind: 'error', error });
        return step;
      }
      const text = `${step.error.message} ${why}`;
      sent.messages.push(text);
      this.#options.emit({ kind: 'message', message: { text } });
    }
  }

  /** Why a failed batch is sent again, as a sentence; null when it is not. */
  async #reasonToRepeat(
    batch: Batch,
    errors: readonly RunError[],
    attempt: number,
    wasInTransaction: boolean,
  ): Promise<string | null> {
    const isWhole = !wasInTransaction && (batch.repeat ?? 1) === 1 && holdsWholeTransaction(batch.text);
    if (this.#state.name !== 'running' || !(isWhole || (this.#job.mode === 'preview' && !wasInTransaction)))
      return null;
    if (errors.some(({ code }) => code === outOfMemory)) {
      await this.#session.endTransaction('rollback');
      return (await this.#session.liftLimits()) ? 'It is tried again with all the memory of the machine.' : null;
    }
    const { retries } = this.#options;
    const isVictim = errors.some(({ code }) => repeatable.has(code)) && !this.#session.inTransaction;
    return isVictim && attempt <= retries ? `Try ${attempt + 1} of ${retries + 1} begins.` : null;
  }

  /** Sends a batch as often as its GO says. */
  async #repeats(index: number, batch: Batch, sent: Sent): Promise<{ step: Step; errors: readonly RunError[] }> {
    this.#repeated = 0;
    for (let time = 0; time < (batch.repeat ?? 1); time += 1) {
      if (time > 0 && this.#state.name !== 'running')
        return {
          step: { kind: 'cancelled', effect: this.#session.inTransaction ? 'rolled-back' : 'partly' },
          errors: [],
        };
      const wasInTransaction = this.#session.inTransaction;
      this.#beganOutside = !wasInTransaction;
      if (!wasInTransaction) this.#repeated = time;
      const { end, errors } = await this.#send(index, batch, sent);
      if (end.kind === 'lost') {
        const may = end.sent && this.#job.mode === 'run' && mayCommit(batch.text, wasInTransaction || this.#isDry);
        return { step: { kind: 'lost', reason: end.reason, mayHaveCommitted: may }, errors };
      }
      if (end.kind === 'cancelled') {
        const may = this.#job.mode === 'run' && mayCommit(batch.text, wasInTransaction);
        return { step: { kind: 'cancelled', effect: may ? end.effect : 'rolled-back' }, errors };
      }
      const error = errors.find(({ code }) => !/^\d+$/.test(code)) ?? errors[0];
      if (error !== undefined) return { step: { kind: 'failed', error }, errors };
    }
    return { step: { kind: 'ok' }, errors: [] };
  }

  async #send(
    index: number,
    batch: Batch,
    sent: Sent,
  ): Promise<{ readonly end: BatchEnd; readonly errors: readonly RunError[] }> {
    const sets = new ResultSets(this.#job.maxRows ?? keptRows);
    const errors: RunError[] = [];
    const take = (all: boolean) => {
      for (const set of sets.take({ all })) this.#keep(index, set);
    };
    const end = await this.#session.execute(batch.text, {
      columns: (columns) => {
        sets.begin(columns);
        take(false);
      },
      rows: (rows) => {
        sent.rows += rows.length;
        sets.add(rows);
      },
      message: (text, line) => {
        sent.messages.push(text);
        const place = placeOf(batch, line);
        // A message in another file than the script has no line of the script.
        const isHere = place.line !== null && place.file === undefined;
        this.#options.emit({ kind: 'message', message: isHere ? { text, line: place.line } : { text } });
      },
      error: ({ code, message, line }: EngineError) =>
        errors.push({ code, message, batch: index, ...placeOf(batch, line) }),
    });
    take(true);
    return { end, errors };
  }

  #keep(batch: number, set: ResultSet): void {
    this.#before = this.#last === undefined || !isWarnings(this.#last) ? [] : [...this.#before, this.#last];
    this.#last = set;
    if (this.#job.mode === 'preview' && isSamples(set)) this.#samples.push(set);
    this.#options.emit({ kind: 'result-set', batch, resultSet: set });
  }

  get #isDry(): boolean {
    return this.#job.isDryRun === true;
  }

  #dryRunRefused(): Step {
    const message = 'The transaction of the dry run could not be begun, so nothing was sent; run the preview instead.';
    return { kind: 'failed', error: this.#told({ code: 'dry_run_refused', message, batch: 0, line: null }) };
  }

  #dryRunCommitted(index: number): Step {
    const message = `Batch ${index + 1} ended the dry run's transaction: what it wrote is committed.`;
    this.#options.emit({ kind: 'message', message: { text: message } });
    return { kind: 'failed', error: { code: 'dry_run_committed', message, batch: index, line: null } };
  }

  /** Leaves the session as the end demands; true when a transaction stays open for the person to decide. */
  async #settle(end: Step): Promise<boolean> {
    const session = this.#session;
    if (session.isLost || !session.inTransaction) return false;
    const rollsBack =
      end.kind === 'cancelled' ||
      this.#isDry ||
      (this.#job.mode === 'preview' && !this.#wasOpen) ||
      this.#job.rollBackAtEnd === true ||
      (end.kind === 'failed' && session.facts.platform === 'duckdb');
    if (!rollsBack) {
      this.#notes.push('A transaction is still open. Commit it or roll it back.');
      return true;
    }
    const deadline = setTimeout(
      () => session.drop('The server did not answer the rollback, so the connection was dropped.'),
      this.#options.cancelDeadlineMs,
    );
    await session.endTransaction('rollback').catch(() => session.drop('The rollback was refused.'));
    clearTimeout(deadline);
    this.#notes.push(
      this.#isDry ? 'This was a dry run: everything was rolled back.' : 'The open transaction was rolled back.',
    );
    return false;
  }

  #result(end: Step, elapsedMs: number): RunResult | PreviewResult {
    const status = statusOf(end);
    const isDone = status === 'done';
    for (const note of this.#notesOf(end)) this.#notes.push(note);
    const warnings = isDone ? warningsOf(this.#before, this.#last) : [];
    for (const warning of warnings) this.#options.emit({ kind: 'warning', warning });
    const result: RunResult = {
      status,
      counts: isDone ? countsOf(this.#last) : unknownCounts,
      batches: this.#batches,
      warnings,
      error: this.#errorOf(end),
      elapsedMs,
    };
    return this.#job.mode === 'preview' ? { ...result, samples: isDone ? samplesOf(this.#samples) : {} } : result;
  }

  #errorOf(end: Step): RunError | null {
    const batch = Math.max(this.#batches.length - 1, 0);
    switch (end.kind) {
      case 'ok':
        return null;
      case 'failed':
        return end.error;
      case 'lost':
        return this.#told({ code: 'connection_lost', message: end.reason, batch, line: null });
      case 'cancelled':
        if (this.#state.name === 'cancelling' && this.#state.why === 'time limit')
          return this.#told({
            code: 'time_limit',
            message: `The run was cancelled after the ${this.#options.timeLimitMs / 1000} s that its connection allows.`,
            batch,
            line: null,
          });
        return null;
    }
  }

  #told(error: RunError): RunError {
    this.#options.emit({ kind: 'error', error });
    return error;
  }

  #notesOf(end: Step): readonly string[] {
    if (this.#job.mode === 'preview' || this.#isDry || end.kind === 'ok') return [];
    const number = this.#batches.length;
    const of = this.#job.batches.length;
    const notes: string[] = [];
    if (this.#committed > 0)
      notes.push(
        this.#committed === 1 ? 'Batch 1 stays committed.' : `Batches 1 to ${this.#committed} stay committed.`,
      );
    else if (number > 1) notes.push('No earlier batch was committed.');
    if (this.#repeated > 0)
      notes.push(
        `Batch ${number} was done ${this.#repeated === 1 ? 'once' : `${this.#repeated} times`} before, which ${this.#repeated === 1 ? 'stays' : 'stay'}.`,
      );
    const last = this.#job.batches[number - 1];
    if (end.kind === 'failed' && this.#beganOutside && last !== undefined && staysPartly(last.text))
      notes.push(`Batch ${number} ran outside a transaction: what it wrote before the error stays.`);
    if (end.kind === 'cancelled' && end.effect === 'partly')
      notes.push(`Batch ${number} of ${of} ran outside a transaction: its statements before the cancel stay.`);
    if (statusOf(end) === 'unknown') {
      notes.push(
        end.kind === 'cancelled'
          ? `The cancel met batch ${number} of ${of} when it had committed; its counts were not read.`
          : `Batch ${number} of ${of} was sent, and its end was not read: it may have committed, or not.`,
        'To find out, run the preview: rows that it would still change were not written.',
      );
    }
    return notes;
  }
}

/** A failed batch without a transaction of its own, of which a first part may have been written. */
function staysPartly(text: string): boolean {
  return writesSeveralTimes(text) && !/\bbegin\s+tran/i.test(text);
}

interface Sent {
  readonly messages: string[];
  rows: number;
}

/** Where a line of a batch stands: in the script, or in a file that `:r` read. */
function placeOf(batch: Batch, line: number | null): { readonly line: number | null; readonly file?: string } {
  if (line === null) return { line };
  const section = batch.sections?.findLast(({ from }) => from <= line);
  if (section === undefined) return { line: batch.line + line };
  const place = section.line + line - section.from;
  return section.file === null ? { line: place } : { line: place, file: section.file };
}

function statusOf(end: Step): RunStatus {
  switch (end.kind) {
    case 'ok':
      return 'done';
    case 'failed':
      return 'failed';
    case 'cancelled':
      return end.effect === 'committed' ? 'unknown' : 'cancelled';
    case 'lost':
      return end.mayHaveCommitted ? 'unknown' : 'failed';
  }
}
