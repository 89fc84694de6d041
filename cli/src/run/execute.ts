import { stat } from 'node:fs/promises';
import { countNames } from '../../../protocol/counts.ts';
import type { PreviewResult, RunError, RunEvent, RunResult } from '../../../protocol/run.ts';
import type { RunJob } from '../../../protocol/runner-process.ts';
import { memoryFile } from '../../../runner/src/connection-text.ts';
import { openSession } from '../../../runner/src/open-session.ts';
import { defaultCancelDeadlineMs, Run, type RunEnd } from '../../../runner/src/run.ts';
import { ConnectionError, type Session, UnreachableError } from '../../../runner/src/session.ts';
import { type CommandContext, FailedRun, UsageError } from '../command.ts';
import { adviceFor } from './advice.ts';
import type { ChosenConnection } from './connections.ts';

/** Opens the session of a command; what stands against it is one line. */
export async function open({ settings, secret }: ChosenConnection): Promise<Session> {
  try {
    return await openSession(settings, secret);
  } catch (error) {
    if (error instanceof UnreachableError) throw new FailedRun(error.message);
    if (error instanceof ConnectionError) throw new UsageError(error.message);
    throw error;
  }
}

/** A database file that only `seed` may create. */
export async function demandFile({ settings }: ChosenConnection): Promise<void> {
  const { file, platform } = settings;
  if (platform !== 'duckdb' || file === null || file === memoryFile) return;
  if ((await stat(file).catch(() => undefined)) === undefined)
    throw new UsageError(
      `${file} does not exist; create it with mergewright seed --ddl PATH --connection duckdb:${file}`,
    );
}

/** Runs batches on a session; Ctrl+C cancels the run, and the run says how it ended. */
export async function execute(
  session: Session,
  { settings }: ChosenConnection,
  job: RunJob,
  emit: (event: RunEvent) => void,
): Promise<RunEnd> {
  const run = new Run(session, job, {
    timeLimitMs: settings.runTimeoutSeconds * 1000,
    cancelDeadlineMs: defaultCancelDeadlineMs,
    retries: settings.retries,
    emit,
  });
  const cancel = () => run.cancel();
  process.once('SIGINT', cancel);
  try {
    return await run.start();
  } finally {
    process.off('SIGINT', cancel);
  }
}

/** Prints an end: JSON to standard output, or counts, warnings and notes for a person; errors go to standard error. */
export function report(end: RunEnd, json: boolean, context: CommandContext): number {
  const { result, notes } = end;
  if (json) context.out(`${JSON.stringify(result, null, 2)}\n`);
  else context.out(resultText(result));
  // A failed run says everything in one line.
  const said =
    result.error === null ? notes : [[errorLine(result.error), ...notes, adviceFor(result.error)].join(' ').trimEnd()];
  const tell = result.status !== 'done' || json ? context.err : (note: string) => context.out(`${note}\n`);
  for (const line of said) tell(line);
  return result.status === 'done' ? 0 : 1;
}

/** Where a session really is, in one line. */
export function place(session: Session, { settings }: ChosenConnection): string {
  const { server, database, login } = session.facts;
  const parts = [
    server === null ? settings.file : `server ${server}`,
    database === null ? null : `database ${database}`,
    login === null ? null : `login ${login}`,
    settings.environment === 'embedded' ? null : settings.environment,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

function errorLine(error: RunError): string {
  const file = error.file === undefined ? '' : ` of ${error.file}`;
  const line = error.line === null ? '' : `, line ${error.line + 1}${file}`;
  const message = error.message.startsWith(`${error.code}: `) ? error.message : `${error.code}: ${error.message}`;
  return `${message.replace(/\s*\n\s*/g, ' ').replace(/\.$/, '')} (batch ${error.batch + 1}${line}).`;
}

function resultText(result: RunResult | PreviewResult): string {
  const counts = countNames.flatMap((name) => {
    const count = result.counts[name];
    return count === null ? [] : [`  ${name.padEnd(12)}${String(count).padStart(10)}`];
  });
  const lines = [
    `${result.status} in ${result.elapsedMs} ms`,
    ...(counts.length === 0 && result.status === 'done' ? ['  no counts were reported'] : counts),
    ...result.warnings.map(({ code, message }) => `  warning ${code}: ${message}`),
    ...('samples' in result ? sampleLines(result) : []),
  ];
  return `${lines.join('\n')}\n`;
}

function sampleLines({ samples }: PreviewResult): readonly string[] {
  return Object.entries(samples).flatMap(([kind, rows]) => [
    `  ${kind}, for example:`,
    ...(rows ?? []).slice(0, 5).map((row) => `    ${JSON.stringify(row)}`),
  ]);
}
