import type { TableName } from '../../../protocol/catalog.ts';
import type { ConnectionFacts } from '../../../protocol/panel.ts';
import type { Batch, ResultSet, RunEvent } from '../../../protocol/run.ts';
import type { DescribedTable, ListedTable, RunJob, SessionEnd } from '../../../protocol/runner-process.ts';
import type { ConnectionProfile } from '../connections/profile.ts';

/** One held connection. When it is lost it stays lost; the next run asks for a new one. */
export interface Session {
  readonly facts: ConnectionFacts;
  /** Version, edition, encryption … in words, as the server said at the login. */
  readonly about: readonly string[];
  /** Why texts for the profile's platform may not fit the server, as sentences. */
  readonly warnings: readonly string[];
  readonly isLost: boolean;
  readonly openTransaction: boolean;
  /** Sends batches in order and resolves with the end, whatever it is. Rejects only when nothing was sent. */
  run(job: RunJob, onEvent: (event: RunEvent) => void): Promise<SessionEnd>;
  /** Reads for the extension's own use: trees, keys, versions, checks. */
  query(batches: readonly Batch[]): Promise<readonly ResultSet[]>;
  /** User tables and views, as the engine's catalog lists them. */
  tables(): Promise<readonly ListedTable[]>;
  /** DDL of live tables in the platform's own syntax. */
  describe(tables: readonly TableName[]): Promise<readonly DescribedTable[]>;
  cancel(): void;
  endTransaction(action: 'commit' | 'rollback'): Promise<void>;
  changeDatabase(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens sessions; the process that holds them is started when first asked. */
export interface SessionFactory {
  /** @param id one session is held for each, such as the URI of a document */
  open(id: string, profile: ConnectionProfile, secret: string | null): Promise<Session>;
  /** Gives up a session that is still being opened. */
  cancel(id: string): void;
}
