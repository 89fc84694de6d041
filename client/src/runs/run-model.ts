import { counted } from '../../../protocol/counted.ts';
import { countNames } from '../../../protocol/counts.ts';
import type { ConnectionFacts, PanelBatch, PanelParameter, PanelRun } from '../../../protocol/panel.ts';
import { sampleColumns } from '../../../protocol/preview.ts';
import type {
  Batch,
  CellValue,
  PreviewResult,
  ResultSet,
  RunError,
  RunEvent,
  RunMessage,
  RunResult,
  RunWarning,
} from '../../../protocol/run.ts';

/** The panel shows the beginning of a batch; the whole text opens in an editor. */
const shownCharacters = 20_000;

export interface RunStart {
  readonly id: string;
  readonly title: string;
  readonly mode: PanelRun['mode'];
  readonly connection: ConnectionFacts;
  readonly batches: readonly Batch[];
  readonly parameters: readonly PanelParameter[];
  readonly canRerun: boolean;
  readonly canDryRun: boolean;
  /** A script that only reads and tells what the batches wrote; null where nobody can tell. */
  readonly findOut?: string | null;
}

/** One run as its events tell it. It knows nothing of processes or pages. */
export class RunModel {
  readonly #start: RunStart;
  #connection: ConnectionFacts;
  #state: PanelRun['state'] = 'connecting';
  #batches: readonly PanelBatch[];
  #current = 0;
  readonly #messages: RunMessage[] = [];
  readonly #warnings: RunWarning[] = [];
  readonly #errors: RunError[] = [];
  readonly #notes: string[] = [];
  readonly #results: { readonly batch: number; readonly set: ResultSet }[] = [];
  #result: RunResult | PreviewResult | null = null;
  #openTransaction = false;

  constructor(start: RunStart) {
    this.#start = start;
    this.#connection = start.connection;
    this.#batches = start.batches.map((batch) => ({
      text: shorten(batch.text),
      state: 'waiting',
      elapsedMs: null,
      rows: null,
    }));
  }

  get id(): string {
    return this.#start.id;
  }

  /** The query that tells what was written, once the end is unknown; null in every other case. */
  get findOut(): string | null {
    return this.#result?.status === 'unknown' ? (this.#start.findOut ?? null) : null;
  }

  get isFinished(): boolean {
    return this.#result !== null;
  }

  connected(facts: ConnectionFacts): void {
    this.#connection = facts;
  }

  note(sentence: string): void {
    this.#notes.push(sentence);
  }

  setOpenTransaction(isOpen: boolean): void {
    this.#openTransaction = isOpen;
  }

  apply(event: RunEvent): void {
    switch (event.kind) {
      case 'state':
        if (this.#result === null) this.#state = event.state;
        return;
      case 'batch-started':
        this.#current = event.index;
        this.#changeBatch(event.index, { state: 'running', text: shorten(event.text) });
        return;
      case 'batch-finished':
        this.#changeBatch(event.index, { state: 'done', elapsedMs: event.result.elapsedMs, rows: event.result.rows });
        return;
      case 'message':
        this.#messages.push(event.message);
        return;
      case 'result-set':
        if (isForGrid(event.resultSet)) this.#results.push({ batch: event.batch, set: event.resultSet });
        return;
      case 'warning':
        this.#warnings.push(event.warning);
        return;
      case 'error':
        this.#errors.push(event.error);
        this.#changeBatch(event.error.batch, { state: 'failed' });
        return;
    }
  }

  finish(result: RunResult | PreviewResult): void {
    this.#result = result;
    this.#state = 'finished';
    if (result.error !== null && this.#errors.length === 0) this.#errors.push(result.error);
    if (result.status !== 'done') this.#changeRunning();
    const known = new Set(this.#warnings.map((warning) => `${warning.code} ${warning.message}`));
    this.#warnings.push(...result.warnings.filter((warning) => !known.has(`${warning.code} ${warning.message}`)));
  }

  errors(): readonly RunError[] {
    return this.#errors;
  }

  result(id: number): ResultSet | undefined {
    return this.#results[id]?.set;
  }

  rows(id: number, from: number, count: number): readonly (readonly CellValue[])[] {
    return this.#results[id]?.set.rows.slice(from, from + count) ?? [];
  }

  snapshot(): PanelRun {
    const result = this.#result;
    return {
      id: this.#start.id,
      title: this.#start.title,
      mode: this.#start.mode,
      connection: this.#connection,
      state: this.#state,
      status: result?.status ?? null,
      counts: result === null || countNames.every((name) => result.counts[name] === null) ? null : result.counts,
      batches: this.#batches,
      messages: this.#messages,
      warnings: this.#warnings,
      errors: this.#errors,
      results: this.#results.map(({ batch, set }, id) => ({
        id,
        batch,
        columns: set.columns,
        heldRows: set.rows.length,
        rowCount: set.rowCount,
      })),
      samples: result !== null && 'samples' in result ? result.samples : null,
      notes: this.#notes,
      canFindOut: this.findOut !== null,
      parameters: this.#start.parameters,
      elapsedMs: result?.elapsedMs ?? null,
      canRerun: this.#start.canRerun,
      canDryRun: this.#start.canDryRun,
      openTransaction: this.#openTransaction,
    };
  }

  #changeBatch(index: number, change: Partial<PanelBatch>): void {
    this.#batches = this.#batches.map((batch, place) => (place === index ? { ...batch, ...change } : batch));
  }

  /** A batch that was still running when the run ended has no good end. */
  #changeRunning(): void {
    if (this.#batches[this.#current]?.state === 'running') this.#changeBatch(this.#current, { state: 'failed' });
  }
}

/** Counts, warnings and samples have their own place in the panel. */
function isForGrid(set: ResultSet): boolean {
  const names = set.columns.map((column) => column.name.toLowerCase());
  const isCounts =
    set.rows.length === 1 && names.length > 0 && names.every((name) => countNames.some((count) => count === name));
  const isWarnings = names.join() === 'warning_code,message';
  const isSamples = sampleColumns.every((name, index) => names[index] === name);
  return !isCounts && !isWarnings && !isSamples;
}

function shorten(text: string): string {
  return text.length <= shownCharacters
    ? text
    : `${text.slice(0, shownCharacters)}\n… ${counted(text.length - shownCharacters, 'more character')}; open the SQL in an editor`;
}
