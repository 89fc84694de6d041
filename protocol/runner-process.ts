import type { TableName } from './catalog.ts';
import type { ConnectionSettings } from './connection.ts';
import type { ConnectionFacts } from './panel.ts';
import type { PlatformName } from './platform.ts';
import type { Batch, PreviewResult, ResultSet, RunEvent, RunResult } from './run.ts';

/**
 * Messages between a client and the runner process (`dist/runner.cjs`, forked with an IPC channel). The client names each
 * session; the process holds one connection for each and works on one request a session at a time. `run` answers with the
 * end of the run whatever it is; an `error` answer to it means that nothing was sent.
 */
export interface RunnerRequests {
  /** Opens a session. A `cancel` of the session's name ends it while it is being opened. */
  connect: {
    params: { readonly settings: ConnectionSettings; readonly secret: string | null };
    result: SessionDescription;
  };
  /** Sends batches in order. The client writes its history entry before it asks. */
  run: { params: RunJob; result: SessionEnd };
  /** Reads for the client's own use: keys, versions, checks. Rejected where an error is answered. */
  query: { params: { readonly batches: readonly Batch[] }; result: readonly ResultSet[] };
  /** User tables and views, as the engine's catalog lists them. */
  tables: { params: null; result: readonly ListedTable[] };
  /** DDL of live tables in the platform's own syntax; all tables of the database without `tables`. */
  describe: { params: { readonly tables: readonly TableName[] }; result: readonly DescribedTable[] };
  endTransaction: { params: { readonly action: 'commit' | 'rollback' }; result: SessionDescription };
  changeDatabase: { params: { readonly database: string }; result: SessionDescription };
  /** Closes the session; an open transaction is rolled back. Never rejected. */
  disconnect: { params: null; result: null };
}

export type RunnerMethod = keyof RunnerRequests;

/** What the client sends. `cancel` has no answer: the run that it cancels ends. */
export type ToRunner =
  | {
      [M in RunnerMethod]: {
        readonly kind: M;
        /** Answers bear the same number. */
        readonly id: number;
        readonly session: string;
        readonly params: RunnerRequests[M]['params'];
      };
    }[RunnerMethod]
  | { readonly kind: 'cancel'; readonly session: string };

/** What the runner process sends. */
export type FromRunner =
  | { readonly kind: 'answer'; readonly id: number; readonly value: RunnerRequests[RunnerMethod]['result'] }
  | { readonly kind: 'error'; readonly id: number; readonly message: string }
  /** Something happened in the session's run. */
  | { readonly kind: 'event'; readonly session: string; readonly event: RunEvent }
  /** Database, lost state … of a session have changed. */
  | { readonly kind: 'session'; readonly session: string; readonly description: SessionDescription };

/** A session as the server describes it. */
export interface SessionDescription {
  readonly facts: ConnectionFacts;
  /** Version, edition, encryption … in words. */
  readonly about: readonly string[];
  /** Why texts for the profile's platform may not fit the server, as sentences. */
  readonly warnings: readonly string[];
  /** Once lost it stays lost: open another one. */
  readonly isLost: boolean;
  readonly openTransaction: boolean;
}

export interface RunJob {
  readonly mode: 'run' | 'preview';
  readonly batches: readonly Batch[];
  /** Rows kept of each result set; absent: 100,000. */
  readonly maxRows?: number;
  /** Roll back at the end of a run that left a transaction open; absent: it stays open, and is said. */
  readonly rollBackAtEnd?: boolean;
  /** Run everything in one transaction and roll it back at the end: counts as they would be, nothing kept. */
  readonly isDryRun?: boolean;
}

export interface SessionEnd {
  readonly result: RunResult | PreviewResult;
  /** Sentences about the end: what stays committed, what an unknown end means, the query that finds out. */
  readonly notes: readonly string[];
  /** A transaction was left open; commit or roll back by `endTransaction`. */
  readonly openTransaction: boolean;
  readonly description: SessionDescription;
}

export interface ListedTable {
  readonly database: string | null;
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view';
}

/** A live table's DDL. */
export interface DescribedTable {
  readonly name: TableName;
  readonly platform: PlatformName;
  readonly text: string;
  /** What the text leaves out, in words. */
  readonly notes: readonly string[];
}
