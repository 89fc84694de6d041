import { onTestFinished } from 'vitest';
import type { ConnectionSettings } from '../../protocol/connection.ts';
import type { Batch, RunEvent } from '../../protocol/run.ts';
import type { RunJob } from '../../protocol/runner-process.ts';
import { openSession } from '../../runner/src/open-session.ts';
import { Run, type RunEnd, type RunOptions } from '../../runner/src/run.ts';
import type { Session } from '../../runner/src/session.ts';
import { rows, on as rule, script } from '../support/tds/answers.ts';
import { startTdsServer, type TdsServer, type TdsServerOptions } from '../support/tds/server.ts';
import { mssqlSettings } from './settings.ts';

/** A server that says what it is, and answers the rest by a script; it ends with the test. */
export async function serveWarehouse(options: TdsServerOptions = {}): Promise<TdsServer> {
  const server = await startTdsServer({
    ...options,
    handler: async (request, session) => (await options.handler?.(request, session)) ?? itself(request, session),
  });
  onTestFinished(() => server.close());
  return server;
}

const itself = script(
  rule("SERVERPROPERTY('ServerName')", (_request, session) => [
    rows(
      [
        'a nvarchar(128)',
        'b nvarchar(128)',
        'c nvarchar(128)',
        'd nvarchar(128)',
        'e nvarchar(128)',
        'f nvarchar(300)',
        'g int',
      ],
      [['WH01', session.database, 'loader', '16.0.1000', 'Developer Edition', 'Microsoft SQL Server 2022\nmore', 3]],
    ),
  ]),
);

/** A session on a server or on a proxy before it; it is closed with the test. */
export async function openOn(
  target: { readonly port: number },
  more: Partial<ConnectionSettings> = {},
): Promise<Session> {
  const session = await openSession(mssqlSettings(target.port, more), 'p@ss wörd');
  onTestFinished(() => session.close());
  return session;
}

export interface StartedRun {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly end: Promise<RunEnd>;
}

/** Starts a run of texts, each one a batch that begins where the one before ended. */
export function startRun(
  session: Session,
  texts: readonly (string | Batch)[],
  options: Partial<RunOptions> = {},
  job: Partial<RunJob> = {},
): StartedRun {
  const events: RunEvent[] = [];
  let line = 0;
  const batches = texts.map((text): Batch => {
    if (typeof text !== 'string') return text;
    const batch = { text, line };
    line += text.split('\n').length + 1;
    return batch;
  });
  const run = new Run(
    session,
    { mode: 'run', batches, ...job },
    { timeLimitMs: 0, cancelDeadlineMs: 4000, retries: 0, emit: (event) => events.push(event), ...options },
  );
  return { run, events, end: run.start() };
}
