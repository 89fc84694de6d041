/** One connection: its temporary tables, variables, settings and transaction. */
import type { Row } from '../tds/columns.ts';
import type { Database, Objects, Table } from './database.ts';
import { SqlError } from './errors.ts';
import type { Variable } from './scope.ts';

/** A batch, a procedure or a text of sp_executesql while it runs. */
export interface Frame {
  /** Null for a batch. */
  readonly procedure: string | null;
  readonly variables: Map<string, Variable>;
  /** Temporary tables that were made here, by their name in lower case. */
  temporary: ReadonlyMap<string, Table>;
  /** Errors of the CATCH blocks around, the innermost last. */
  readonly caught: SqlError[];
}

export type OutputEvent =
  | {
      readonly kind: 'rows';
      readonly columns: readonly string[];
      readonly rows: readonly Row[];
      readonly counted: boolean;
    }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'error'; readonly error: Error; readonly procedure: string | null }
  | { readonly kind: 'begin' }
  | { readonly kind: 'commit' }
  | { readonly kind: 'rollback' };

interface Snapshot {
  readonly objects: Objects;
  readonly temporary: readonly ReadonlyMap<string, Table>[];
}

/** Errors that end the batch or, in TRY, leave a transaction that can only be rolled back. */
const dooming = new Set([241, 245, 248, 8114, 8115, 1205]);

export class SessionState {
  readonly database: Database;
  readonly frames: Frame[] = [];
  /** What a batch leaves in tempdb for the next one. */
  kept: ReadonlyMap<string, Table> = new Map();
  nocount = false;
  xactAbort = false;
  rowCount = 0n;
  transactionCount = 0;
  isDoomed = false;
  #before: Snapshot | null = null;

  constructor(database: Database) {
    this.database = database;
  }

  get frame(): Frame {
    const frame = this.frames.at(-1);
    if (frame === undefined) throw new RangeError('no batch runs');
    return frame;
  }

  /** XACT_STATE(). */
  get transactionState(): bigint {
    return this.transactionCount === 0 ? 0n : this.isDoomed ? -1n : 1n;
  }

  /** The innermost temporary table of a name. */
  temporary(name: string): Table | undefined {
    for (const frame of [...this.frames].reverse()) {
      const found = frame.temporary.get(name.toLowerCase());
      if (found !== undefined) return found;
    }
    return undefined;
  }

  putTemporary(table: Table, isNew: boolean): void {
    const key = table.name.toLowerCase();
    const owner = isNew ? this.frame : (this.frames.findLast((frame) => frame.temporary.has(key)) ?? this.frame);
    owner.temporary = new Map(owner.temporary).set(key, table);
  }

  removeTemporary(name: string): void {
    const key = name.toLowerCase();
    const owner = this.frames.findLast((frame) => frame.temporary.has(key));
    if (owner === undefined) return;
    const rest = new Map(owner.temporary);
    rest.delete(key);
    owner.temporary = rest;
  }

  /** A table, temporary ones by their `#`, with other rows or made anew. */
  putTable(table: Table, isNew = false): void {
    if (table.name.startsWith('#')) this.putTemporary(table, isNew);
    else this.database.put(table);
  }

  begin(): boolean {
    this.transactionCount += 1;
    if (this.transactionCount > 1) return false;
    this.#before = { objects: this.database.objects, temporary: this.frames.map(({ temporary }) => temporary) };
    return true;
  }

  commit(): boolean {
    if (this.transactionCount === 0) {
      throw new SqlError(3902, 'The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.');
    }
    this.mustWrite();
    this.transactionCount -= 1;
    if (this.transactionCount === 0) this.#before = null;
    return this.transactionCount === 0;
  }

  rollback(): void {
    const before = this.#before;
    if (this.transactionCount === 0 || before === null) {
      throw new SqlError(3903, 'The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.');
    }
    this.database.objects = before.objects;
    // Frames that began after the transaction had nothing before it.
    this.frames.forEach((frame, index) => {
      frame.temporary = before.temporary[index] ?? new Map();
    });
    this.transactionCount = 0;
    this.isDoomed = false;
    this.#before = null;
  }

  /** Error 3930 in a transaction that can only be rolled back. */
  mustWrite(): void {
    if (this.isDoomed) {
      throw new SqlError(
        3930,
        'The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.',
      );
    }
  }

  /** What an error does to the open transaction before a CATCH sees it. */
  doomBy(error: SqlError): void {
    if (this.transactionCount > 0 && (this.xactAbort || dooming.has(error.number))) this.isDoomed = true;
  }
}
