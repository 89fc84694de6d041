/** A conformance run's session through the runner: the same drivers, batches and errors as a run of the product. */
import { type ChangeCounts, type CountName, countNames, unknownCounts } from '../../../protocol/counts.ts';
import type { ResultSet, RunResult, RunStatus } from '../../../protocol/run.ts';
import { readConnectionText } from '../../../runner/src/connection-text.ts';
import { query, queryRows } from '../../../runner/src/queries.ts';
import { ResultSets } from '../../../runner/src/result-sets.ts';
import {
  type BatchEnd,
  ConnectionError,
  type EngineError,
  openSession,
  type Session,
} from '../../../runner/src/session.ts';
import type { GeneratedLoad } from '../../../server/src/generate/types.ts';
import { textForRun } from './batch-time.ts';
import type { CaseSession } from './session.ts';

/** A connection that cannot be opened: one line that says what to do. */
export class UnusableConnection extends Error {}

/**
 * Opens `duckdb:FILE`, `duckdb::memory:` or `mssql://user@host:port/database` (password from MERGEWRIGHT_PASSWORD).
 * Throws `UnusableConnection` when it is none of these or cannot be opened.
 */
export async function openCaseSession(connection: string): Promise<CaseSession> {
  const read = readConnectionText(connection);
  if (read.kind === 'wrong') throw new UnusableConnection(read.message);
  if (read.kind === 'name') {
    throw new UnusableConnection(
      `${read.name} is no address; use duckdb::memory:, duckdb:FILE or mssql://user@host:port/database`,
    );
  }
  try {
    return caseSession(await openSession(read.settings, process.env['MERGEWRIGHT_PASSWORD'] ?? null));
  } catch (error) {
    if (error instanceof ConnectionError) throw new UnusableConnection(error.message);
    throw error;
  }
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
