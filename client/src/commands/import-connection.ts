import { importConnectionString } from '../connections/ado-net.ts';
import type { Connections } from '../connections/connections.ts';
import type { Prompts } from '../ports.ts';
import type { AddConnectionCommand } from './add-connection.ts';
import type { Command } from './command.ts';

/** Another extension that hands over the connection of the active editor, its password included. */
export interface SharedConnections {
  isPresent(): boolean;
  /** Undefined when the active editor has no connection there, or the person refused. */
  connectionString(): Promise<string | undefined>;
}

/** Makes a profile from an ADO.NET connection string, and lists what a profile cannot hold. */
export class ImportConnectionCommand implements Command {
  readonly id = 'importConnection';
  readonly #connections: Connections;
  readonly #prompts: Prompts;
  readonly #adding: AddConnectionCommand;
  readonly #shared: SharedConnections;

  constructor(connections: Connections, prompts: Prompts, adding: AddConnectionCommand, shared: SharedConnections) {
    this.#connections = connections;
    this.#prompts = prompts;
    this.#adding = adding;
    this.#shared = shared;
  }

  async run(): Promise<void> {
    const text = await this.#text();
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

  /** The connection string: pasted, or handed over by the SQL Server extension where that is installed. */
  async #text(): Promise<string | undefined> {
    if (this.#shared.isPresent()) {
      const from = await this.#prompts.pick(
        [
          { label: 'Connection string', value: 'text' },
          { label: 'SQL Server extension', description: 'the connection of its active editor', value: 'shared' },
        ],
        { title: 'Import Connection', placeholder: 'Import from where?' },
      );
      if (from === 'shared') return this.#handedOver();
      if (from !== 'text') return undefined;
    }
    const answer = await this.#prompts.input({
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
    return typeof answer === 'string' ? answer : undefined;
  }

  async #handedOver(): Promise<string | undefined> {
    const text = await this.#shared.connectionString();
    if (text === undefined) {
      await this.#prompts.warn(
        'The SQL Server extension gave no connection. Connect the active editor there, and allow sharing.',
      );
      return undefined;
    }
    const found = importConnectionString(text, 'new');
    if (typeof found === 'string') throw new Error(found);
    return text;
  }
}
