/** A conformance run's session through the runner: the same drivers, batches and errors as a run of the product. */
import type { ConnectionSettings } from '../../../protocol/connection.ts';
import type { PlatformName } from '../../../protocol/platform.ts';
import type { RunResult } from '../../../protocol/run.ts';
import type { RunJob } from '../../../protocol/runner-process.ts';
import { readConnectionText } from '../../../runner/src/connection-text.ts';
import { openSession } from '../../../runner/src/open-session.ts';
import { query, queryRows } from '../../../runner/src/queries.ts';
import { defaultCancelDeadlineMs, Run } from '../../../runner/src/run.ts';
import { ConnectionError, type Session } from '../../../runner/src/session.ts';
import type { GeneratedLoad } from '../../../server/src/generate/types.ts';
import { textForRun } from './batch-time.ts';
import type { CaseSession } from './session.ts';

/** A connection that cannot be opened: one line that says what to do. */
export class UnusableConnection extends Error {}

/** The platform behind an address: `duckdb:FILE`, `duckdb::memory:` or `mssql://user@host:port/database`. */
export function platformOfConnection(connection: string): PlatformName {
  return settingsOf(connection).platform;
}

/**
 * Opens an address; the password of a server comes from MERGEWRIGHT_PASSWORD.
 * Throws `UnusableConnection` when the text is no address or the connection cannot be opened.
 */
export async function openCaseSession(connection: string): Promise<CaseSession> {
  try {
    return caseSession(await openSession(settingsOf(connection), process.env['MERGEWRIGHT_PASSWORD'] ?? null));
  } catch (error) {
    if (error instanceof ConnectionError) throw new UnusableConnection(error.message);
    throw error;
  }
}

function settingsOf(connection: string): ConnectionSettings {
  const read = readConnectionText(connection);
  if (read.kind === 'settings') return read.settings;
  throw new UnusableConnection(
    read.kind === 'wrong'
      ? read.message
      : `${read.name} is no address; use duckdb::memory:, duckdb:FILE or mssql://user@host:port/database`,
  );
}

function caseSession(session: Session): CaseSession {
  return {
    execute: async (text) => void (await query(session, text)),
    query: (text) => queryRows(session, text),
    runLoad: (load, now) => runLoad(session, load, now),
    close: () => session.close(),
  };
}

async function runLoad(session: Session, load: GeneratedLoad, now: string): Promise<RunResult> {
  const job: RunJob = { mode: 'run', batches: textForRun(load, now, session.facts.platform), rollBackAtEnd: true };
  const run = new Run(session, job, {
    timeLimitMs: 0,
    cancelDeadlineMs: defaultCancelDeadlineMs,
    retries: 0,
    emit: () => undefined,
  });
  return (await run.start()).result;
}
