import type { TableName } from '../../protocol/catalog.ts';
import type { ConnectionSettings } from '../../protocol/connection.ts';
import type { PlatformName } from '../../protocol/platform.ts';
import type { CellValue, ResultColumn } from '../../protocol/run.ts';
import type { DescribedTable, ListedTable } from '../../protocol/runner-process.ts';

/** What the server said of itself and of the session. */
export interface SessionFacts {
  readonly platform: PlatformName;
  /** Null for the embedded engine. */
  readonly server: string | null;
  /** Follows USE. */
  readonly database: string | null;
  readonly login: string | null;
  /** Version, edition, encryption … in words. */
  readonly about: readonly string[];
  /** Why texts for this platform may not fit the server, as sentences. */
  readonly warnings: readonly string[];
}

/** An error as the engine answered it; a batch may have several. */
export interface EngineError {
  /** Guard code before the colon of the message, else the engine's number or name of the error. */
  readonly code: string;
  readonly message: string;
  /** Zero-based line within the batch; null where the engine names none. */
  readonly line: number | null;
}

/** What a batch gives while it runs. Result sets follow each other: `columns` begins one and ends the one before. */
export interface BatchHandlers {
  readonly columns: (columns: readonly ResultColumn[]) => void;
  readonly rows: (rows: readonly (readonly CellValue[])[]) => void;
  /** @param line zero-based line within the batch */
  readonly message: (text: string, line: number | null) => void;
  readonly error: (error: EngineError) => void;
}

/**
 * How a batch ended.
 *
 * - `finished`: its answer was read to the end; errors were handed to the handler.
 * - `cancelled`: the engine acknowledged a cancel. `rolled-back`: no statement of it stays, once an open transaction is
 *   rolled back; `partly`: there was no transaction, statements before the cancel may stay; `committed`: it had committed.
 * - `lost`: the session is gone. `sent` is false when nothing of the batch left this machine.
 */
export type BatchEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'cancelled'; readonly effect: 'rolled-back' | 'partly' | 'committed' }
  | { readonly kind: 'lost'; readonly reason: string; readonly sent: boolean };

/** One held connection to one engine. It never reconnects: a lost session stays lost. */
export interface Session {
  readonly facts: SessionFacts;
  readonly isLost: boolean;
  /** Resolves when the session is gone, with the reason; an orderly `close` resolves it too. */
  readonly lost: Promise<string>;
  /** Known from the engine's answers, without a query. */
  readonly inTransaction: boolean;
  /** Sends the text as it is, and resolves with its end; it never rejects. One batch at a time. */
  execute(text: string, handlers: BatchHandlers): Promise<BatchEnd>;
  /** Asks the engine to stop the running batch. */
  cancel(): void;
  /** Gives the connection up at once; a running batch ends as lost for this reason. */
  drop(reason: string): void;
  /** Lifts a limit of our own after an error that it may have caused; false where there is none to lift. */
  liftLimits(): Promise<boolean>;
  endTransaction(action: 'commit' | 'rollback'): Promise<void>;
  changeDatabase(name: string): Promise<void>;
  tables(): Promise<readonly ListedTable[]>;
  /** DDL of tables by name; of all user tables for an empty list. Rejects for a name that matches nothing. */
  describe(tables: readonly TableName[]): Promise<readonly DescribedTable[]>;
  close(): Promise<void>;
}

/** A connection that cannot be opened or used: one sentence that says what to do. */
export class ConnectionError extends Error {}

/** The settings are usable, but the server can't be reached, or refuses. */
export class UnreachableError extends ConnectionError {}

/** Opens a session; `signal` ends an attempt at once. */
export interface Driver {
  open(settings: ConnectionSettings, secret: string | null, signal: AbortSignal): Promise<Session>;
}

/** Handlers that let everything pass. */
export const silent: BatchHandlers = {
  columns: () => undefined,
  rows: () => undefined,
  message: () => undefined,
  error: () => undefined,
};

/** Code and text of an error message; a guard's message begins with its code and a colon. */
export function guardCode(message: string): string | undefined {
  return /^([a-z][a-z0-9_]*): /.exec(message)?.[1];
}
