import { unknownCounts } from '../../../protocol/counts.ts';
import type { RunResult } from '../../../protocol/run.ts';
import { type Command, UsageError } from '../command.ts';
import { demandParameters, readScriptArguments } from '../run/arguments.ts';
import { demandFile, execute, open, place, report } from '../run/execute.ts';
import { missingOnServer } from '../run/live-tables.ts';
import { runText } from '../run/sent-text.ts';

export const run: Command = {
  name: 'run',
  summary: 'Runs a load script and shows what changed.',
  usage: [
    'mergewright run SCRIPT --connection C [--ddl PATH…] [--param k=v]… [--yes NAME] [--json] [--dry-run] [--sql]',
    'C: a profile, duckdb:FILE, duckdb::memory: or mssql://user@host:port/database; password in MERGEWRIGHT_PASSWORD.',
    '--yes NAME: runs on the protected profile of that name. --dry-run: in a transaction that is rolled back.',
    '--sql: shows all that is sent before it is sent; without it, a long script only as far as it is not the file.',
  ],
  async run(args, context) {
    const asked = await readScriptArguments(args, context, 'run');
    const { load, connection, yes, json, isDryRun } = asked;
    const { settings } = connection;
    if (settings.isReadOnly && load.readsOnly !== true)
      throw new UsageError(
        `"${settings.name}" is read-only, and this script is not proved to be a read; run it on another connection.`,
      );
    if (settings.isProtected && yes !== settings.name)
      throw new UsageError(`"${settings.name}" is protected; add --yes ${settings.name} if it is meant.`);
    if (isDryRun && load.dryRunRefusal !== null && load.dryRunRefusal !== undefined)
      throw new UsageError(load.dryRunRefusal);
    if (load.batches.length === 0) {
      context.err('Nothing to run: the script holds no statement.');
      const none: RunResult = {
        status: 'done',
        counts: unknownCounts,
        batches: [],
        warnings: [],
        error: null,
        elapsedMs: 0,
      };
      if (json) context.out(`${JSON.stringify(none, null, 2)}\n`);
      return 0;
    }
    await demandFile(connection);
    const session = await open(connection);
    try {
      demandParameters(await missingOnServer(session, load));
      if (!json) context.out(`${place(session, connection)}\n\n${runText({ ...asked, text: load.text })}\n\n`);
      const end = await execute(
        session,
        connection,
        { mode: 'run', batches: load.batches, rollBackAtEnd: true, isDryRun },
        (event) => {
          if (event.kind === 'message' && !json) context.out(`${event.message.text}\n`);
        },
      );
      const code = report(end, json, context);
      if (code === 0 && typeof load.callFile === 'string')
        context.err(`The procedure was created and not called; run ${load.callFile} to load.`);
      if (end.result.status === 'unknown' && typeof load.findOut === 'string') context.err(load.findOut.trimEnd());
      return code;
    } finally {
      await session.close();
    }
  },
};
