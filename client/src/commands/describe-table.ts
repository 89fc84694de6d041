import type { Connections } from '../connections/connections.ts';
import type { Prompts, Workbench } from '../ports.ts';
import { dotted } from '../runs/load-target.ts';
import type { Command } from './command.ts';
import { profileOf } from './connect.ts';

/** Writes the DDL of a live table into the workspace, in the platform's own syntax. */
export class DescribeTableCommand implements Command {
  readonly id = 'describeTable';
  readonly #connections: Connections;
  readonly #prompts: Prompts;
  readonly #workbench: Workbench;

  constructor(connections: Connections, prompts: Prompts, workbench: Workbench) {
    this.#connections = connections;
    this.#prompts = prompts;
    this.#workbench = workbench;
  }

  /** @param argument a table of the connection tree */
  async run(argument: unknown): Promise<void> {
    const profile = profileOf(argument);
    const table = tableOf(argument);
    const folder = this.#workbench.folderOf(undefined);
    if (profile === undefined || table === undefined) return;
    if (folder === undefined) {
      await this.#prompts.inform('Open a folder first: the DDL is written into it.');
      return;
    }
    const session = await this.#connections.open(`description of ${profile.name}`, profile);
    if (session === undefined) return;
    try {
      for (const { name, text, notes } of await session.describe([table])) {
        await this.#workbench.propose(`${folder}/ddl/${encodeURIComponent(dotted(name))}.sql`, text);
        if (notes.length > 0) await this.#prompts.warn(`Left out of ${dotted(name)}: ${notes.join(' ')}`);
      }
    } finally {
      await session.close();
    }
  }
}

function tableOf(
  argument: unknown,
): { readonly database: string | null; readonly schema: string; readonly table: string } | undefined {
  if (typeof argument !== 'object' || argument === null || !('table' in argument)) return undefined;
  const { table } = argument;
  if (typeof table !== 'object' || table === null || !('schema' in table) || !('name' in table)) return undefined;
  const database = 'database' in table && typeof table.database === 'string' ? table.database : null;
  return { database, schema: String(table.schema), table: String(table.name) };
}
