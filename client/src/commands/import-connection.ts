import { importConnectionString } from '../connections/ado-net.ts';
import type { Connections } from '../connections/connections.ts';
import type { Prompts } from '../ports.ts';
import type { AddConnectionCommand } from './add-connection.ts';
import type { Command } from './command.ts';

/** Makes a profile from an ADO.NET connection string, and lists what a profile cannot hold. */
export class ImportConnectionCommand implements Command {
  readonly id = 'importConnection';
  readonly #connections: Connections;
  readonly #prompts: Prompts;
  readonly #adding: AddConnectionCommand;

  constructor(connections: Connections, prompts: Prompts, adding: AddConnectionCommand) {
    this.#connections = connections;
    this.#prompts = prompts;
    this.#adding = adding;
  }

  async run(): Promise<void> {
    const text = await this.#prompts.input({
      title: 'Import Connection',
      prompt: 'ADO.NET connection string. Its password goes to secret storage, nowhere else.',
      placeholder: 'Server=…;Database=…;User ID=…;Password=…',
      isSecret: true,
      place: { step: 1, of: 2 },
      validate: (value) => {
        const found = importConnectionString(value, 'new');
        return typeof found === 'string' ? found : undefined;
      },
    });
    if (typeof text !== 'string') return;
    const taken = this.#connections.profiles(undefined).map((profile) => profile.name.toLowerCase());
    const name = await this.#prompts.input({
      title: 'Import Connection',
      prompt: 'Name of the connection',
      place: { step: 2, of: 2 },
      validate: (value) =>
        value.trim() === ''
          ? 'This cannot be empty.'
          : taken.includes(value.trim().toLowerCase())
            ? 'This name is taken.'
            : undefined,
    });
    if (typeof name !== 'string') return;
    const imported = importConnectionString(text, name.trim());
    if (typeof imported === 'string') throw new Error(imported);
    if (imported.notCarriedOver.length > 0) {
      await this.#prompts.warn(`Not carried over: ${imported.notCarriedOver.join(' ')}`);
    }
    await this.#adding.keep(imported.profile, imported.password);
  }
}
