import type { ConnectionFacts } from '../../../protocol/panel.ts';
import type { Batch, PreviewResult, ResultSet, RunEvent, RunResult } from '../../../protocol/run.ts';
import type { ConnectionProfile } from '../connections/profile.ts';

/** One held connection. When it is lost it stays lost; the next run asks for a new one. */
export interface Session {
  readonly facts: ConnectionFacts;
  /** Version, edition, encryption … in words, as the server said at the login. */
  readonly about: readonly string[];
  readonly isLost: boolean;
  /** Sends batches in order and resolves with the end, whatever it is; it never rejects. */
  run(job: RunJob, onEvent: (event: RunEvent) => void): Promise<SessionEnd>;
  /** Reads for the extension's own use: trees, keys, versions, checks. */
  query(batches: readonly Batch[]): Promise<readonly ResultSet[]>;
  /** User tables and views, as the engine's catalog lists them. */
  tables(): Promise<readonly ListedTable[]>;
  cancel(): void;
  endTransaction(action: 'commit' | 'rollback'): Promise<void>;
  changeDatabase(name: string): Promise<void>;
  close(): Promise<void>;
}

export interface RunJob {
  readonly mode: 'run' | 'preview';
  readonly batches: readonly Batch[];
}

export interface SessionEnd {
  readonly result: RunResult | PreviewResult;
  readonly notes: readonly string[];
  readonly openTransaction: boolean;
}

/** Opens sessions; the process that holds them is started when first asked. */
export interface SessionFactory {
  /** @param id one session is held for each, such as the URI of a document */
  open(id: string, profile: ConnectionProfile, secret: string | null): Promise<Session>;
}

export interface ListedTable {
  readonly database: string | null;
  readonly schema: string;
  readonly name: string;
  /** Role by the folder's DDL, where that has the table. */
  readonly role?: string;
}
