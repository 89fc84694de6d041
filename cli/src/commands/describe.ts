import { parseArgs } from 'node:util';
import { parseTableName } from '../../../server/src/model/names.ts';
import { type Command, UsageError } from '../command.ts';
import { findConnection } from '../run/connections.ts';
import { demandFile, open } from '../run/execute.ts';

export const describe: Command = {
  name: 'describe',
  summary: "Writes the DDL of live tables in the platform's own syntax.",
  usage: ['mergewright describe T… --connection C'],
  async run(args, context) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { connection: { type: 'string' } },
    });
    const connection = await findConnection(values.connection, context.cwd, context.env);
    if (positionals.length === 0) throw new UsageError('Name the tables, as in: mergewright describe raw.SatPatient');
    const names = positionals.map((text) => {
      const name = parseTableName(text);
      if (name === undefined) throw new UsageError(`"${text}" is no table name of one to three parts.`);
      return name;
    });
    await demandFile(connection);
    const session = await open({ ...connection, settings: { ...connection.settings, isReadOnly: true } });
    try {
      const described = await session.describe(names).catch((error: unknown) => {
        throw new UsageError(error instanceof Error ? error.message : String(error));
      });
      context.out(described.map(({ text }) => text).join('\n'));
      for (const note of new Set(described.flatMap(({ notes }) => notes))) context.err(`note: ${note}`);
      return 0;
    } finally {
      await session.close();
    }
  },
};
