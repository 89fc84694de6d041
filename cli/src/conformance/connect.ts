/** A conformance run's session through the runner: the same drivers, batches and errors as a run of the product. */
import type { ConnectionSettings } from '../../../protocol/connection.ts';
import { type ChangeCounts, type CountName, countNames, unknownCounts } from '../../../protocol/counts.ts';
import type { PlatformName } from '../../../protocol/platform.ts';
import type { ResultSet, RunResult, RunStatus } from '../../../protocol/run.ts';
import { readConnectionText } from '../../../runner/src/connection-text.ts';
import { openSession } from '../../../runner/src/open-session.ts';
import { query, queryRows } from '../../../runner/src/queries.ts';
import { ResultSets } from '../../../runner/src/result-sets.ts';
import { type BatchEnd, ConnectionError, type EngineError, type Session } from '../../../runner/src/session.ts';
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

/** Sends the batches one after the other; the first error ends the load, and what it left open is rolled back. */
async function runLoad(session: Session, load: GeneratedLoad, now: string): Promise<RunResult> {
  const started = performance.now();
  const sets = new ResultSets(100);
  const errors: EngineError[] = [];
  let end: BatchEnd = { kind: 'finished' };
  let batch = 0;
  for (const [index, { text }] of textForRun(load, now).entries()) {
    batch = index;
    end = await session.execute(text, {
      columns: (columns) => sets.begin(columns),
      rows: (rows) => sets.add(rows),
      message: () => undefined,
      error: (error) => errors.push(error),
    });
    if (errors.length > 0 || end.kind !== 'finished') break;
  }
  if (session.inTransaction) await session.endTransaction('rollback');
  const [first] = errors;
  const status: RunStatus = end.kind === 'finished' ? (first === undefined ? 'done' : 'failed') : 'unknown';
  return {
    status,
    counts: status === 'done' ? countsIn(sets.take()) : unknownCounts,
    batches: [],
    warnings: [],
    error: first === undefined ? null : { code: first.code, message: first.message, batch, line: first.line },
    elapsedMs: performance.now() - started,
  };
}

/** The counts are the last result set, one row with the seven names. */
function countsIn(sets: readonly ResultSet[]): ChangeCounts {
  const last = sets.at(-1);
  const [row] = last?.rows ?? [];
  if (last === undefined || row === undefined) return unknownCounts;
  const countOf = (name: string): number | null => {
    const value = row[last.columns.findIndex((column) => column.name === name)];
    return value === null || value === undefined ? null : Number(value);
  };
  const counts: Record<CountName, number | null> = { ...unknownCounts };
  for (const name of countNames) counts[name] = countOf(name);
  return counts;
}
