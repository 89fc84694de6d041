import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ByteWriter } from './bytes.ts';
import { type Column, type Row, writeColumns, writeRow } from './columns.ts';
import type { PacketWriter } from './packet-writer.ts';
import type { SessionState } from './session-state.ts';
import {
  type Done,
  doneBit,
  doneToken,
  type ServerMessage,
  writeDone,
  writeMessage,
  writeReturnStatus,
  writeTextChange,
  writeTransactionChange,
} from './tokens.ts';

/** One part of an answer. */
export type Step = (reply: Reply) => void | Promise<void>;

/**
 * What an attention does to the answer: `stop` ends it and runs `steps` before its end, `finish` lets it end first,
 * `ignore` never acknowledges. Without its client an answer stops as well, unless it is to finish.
 */
export interface AttentionRule {
  readonly mode: 'stop' | 'finish' | 'ignore';
  readonly steps: readonly Step[];
}

/** How the connection ends from the server's side. */
export type Ending = 'end' | 'reset';

export const serverName = 'TDS-TEST';

const rowsPerTurn = 2000;

/** The tokens of one answer, in order. Once the answer was cut or the client is gone, nothing more is written. */
export class Reply {
  readonly session: SessionState;
  attentionRule: AttentionRule = { mode: 'stop', steps: [] };
  readonly #out: PacketWriter;
  readonly #drop: (ending: Ending) => Promise<void>;
  #depth = 0;
  #failed = false;
  /** The last DONE waits until it is known whether more follows. */
  #held: Done | undefined;
  #over = false;

  constructor(session: SessionState, out: PacketWriter, drop: (ending: Ending) => Promise<void>) {
    this.session = session;
    this.#out = out;
    this.#drop = drop;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Columns and rows; a long result lets the server look up from time to time, so that an attention is seen. */
  async rows(columns: readonly Column[], rows: Iterable<Row>, counted: boolean): Promise<void> {
    this.#token((out) => writeColumns(out, columns));
    let count = 0;
    for (const row of rows) {
      this.#token((out) => writeRow(out, columns, row));
      count += 1;
      if (this.#out.full) await this.#out.drained();
      if (count % rowsPerTurn === 0) await nextTurn();
      if (this.#over) return;
    }
    this.done(counted ? count : undefined);
  }

  /** The end of a statement, with its count of rows if it has one. */
  done(count?: number): void {
    const error = this.#failed ? doneBit.error : 0;
    this.#failed = false;
    this.#hold({
      token: this.#depth > 0 ? doneToken.inProcedure : doneToken.statement,
      status: error | (count === undefined ? 0 : doneBit.count),
      count: count ?? 0,
    });
  }

  message(kind: 'error' | 'info', message: ServerMessage): void {
    if (kind === 'error') this.#failed = true;
    this.#token((out) => writeMessage(out, kind, message, serverName));
  }

  useDatabase(name: string): void {
    if (this.#over) return;
    const before = this.session.database;
    this.session.database = name;
    this.#token((out) => writeTextChange(out, 'database', name, before));
    const text = `Changed database context to '${name}'.`;
    this.message('info', { number: 5701, class: 0, state: 2, line: 1, procedure: '', text });
  }

  begin(): void {
    if (!this.#over && this.session.begin()) this.#transactionChange('begin');
  }

  commit(): void {
    if (!this.#over && this.session.commit()) this.#transactionChange('commit');
  }

  rollback(): void {
    if (!this.#over && this.session.rollback()) this.#transactionChange('rollback');
  }

  /** What `steps` answer belongs to a procedure, which ends with its return status. */
  async procedure(steps: readonly Step[], status: number): Promise<void> {
    this.#depth += 1;
    for (const step of steps) await step(this);
    this.#depth -= 1;
    this.#token((out) => writeReturnStatus(out, status));
    this.#hold({ token: doneToken.procedure, status: this.#failed ? doneBit.error : 0, count: 0 });
    this.#failed = false;
  }

  /** Sends what was answered so far. */
  flush(): void {
    if (this.#over) return;
    this.#releaseHeld();
    this.#out.flush();
  }

  raw(bytes: Uint8Array): void {
    if (this.#over) return;
    this.flush();
    this.#out.raw(bytes);
  }

  async drop(ending: Ending): Promise<void> {
    if (this.#over) return;
    this.flush();
    this.#over = true;
    await this.#drop(ending);
  }

  /** The end of the whole answer. */
  end(): void {
    if (this.#over) return;
    if (this.#held === undefined || this.#failed) this.done();
    this.#over = true;
    const last = this.#held;
    if (last !== undefined) this.#out.token((out) => writeDone(out, last));
    this.#out.end();
  }

  /** Ends this reply at once and returns one that writes the rest of the same message. */
  cut(): Reply {
    const rest = new Reply(this.session, this.#out, this.#drop);
    this.#releaseHeld();
    this.#over = true;
    rest.#failed = true;
    return rest;
  }

  #transactionChange(kind: 'begin' | 'commit' | 'rollback'): void {
    this.#token((out) => writeTransactionChange(out, kind, this.session.descriptor));
  }

  #token(write: (out: ByteWriter) => void): void {
    if (this.#over) return;
    this.#releaseHeld();
    this.#out.token(write);
  }

  #hold(done: Done): void {
    if (this.#over) return;
    this.#releaseHeld();
    this.#held = done;
  }

  #releaseHeld(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#out.token((out) => writeDone(out, { ...held, status: held.status | doneBit.more }));
  }
}
