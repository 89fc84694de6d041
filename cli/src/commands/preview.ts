import { type Command, UsageError } from '../command.ts';
import { readScriptArguments } from '../run/arguments.ts';
import { demandFile, execute, open, place, report } from '../run/execute.ts';
import { previewText } from '../run/sent-text.ts';

export const preview: Command = {
  name: 'preview',
  summary: 'Counts what a load would change and shows sample rows; writes nothing.',
  usage: [
    'mergewright preview SCRIPT --connection C [--ddl PATH…] [--param k=v]… [--json] [--sql]',
    '--sql: shows the queries before they are sent.',
  ],
  async run(args, context) {
    const asked = await readScriptArguments(args, context, 'preview');
    const { load, connection, json } = asked;
    if (load.preview === null)
      throw new UsageError(`No preview: ${load.previewRefusal ?? 'the load changes no rows.'}`);
    await demandFile(connection);
    const session = await open(connection);
    try {
      if (!json) {
        const text = load.preview.batches.map((batch) => batch.text.trimEnd()).join('\n\n');
        context.out(`${place(session, connection)}\n\n${previewText({ ...asked, text })}\n\n`);
      }
      const job = { mode: 'preview', batches: load.preview.batches } as const;
      return report(await execute(session, connection, job, () => undefined), json, context);
    } finally {
      await session.close();
    }
  },
};
