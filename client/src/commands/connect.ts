import type { Connections } from '../connections/connections.ts';
import type { ConnectionProfile } from '../connections/profile.ts';
import type { Choice, Prompts, Workbench } from '../ports.ts';
import type { Command } from './command.ts';

/** Chooses the connection of the active document and connects at once. */
export class ConnectCommand implements Command {
  readonly id = 'connect';
  readonly #connections: Connections;
  readonly #prompts: Prompts;
  readonly #workbench: Workbench;
  readonly #add: () => Promise<ConnectionProfile | undefined>;

  constructor(
    connections: Connections,
    prompts: Prompts,
    workbench: Workbench,
    add: () => Promise<ConnectionProfile | undefined>,
  ) {
    this.#connections = connections;
    this.#prompts = prompts;
    this.#workbench = workbench;
    this.#add = add;
  }

  async run(argument: unknown): Promise<void> {
    const uri = this.#workbench.active()?.uri;
    if (uri === undefined) {
      await this.#prompts.inform('Open an SQL file first: a connection belongs to a file.');
      return;
    }
    const profile = profileOf(argument) ?? (await this.#choose(uri));
    if (profile === undefined) return;
    await this.#connections.choose(uri, profile);
    await this.#prompts.withProgress(`Connecting to ${profile.name}`, () => this.#connections.session(uri));
  }

  async #choose(uri: string): Promise<ConnectionProfile | undefined> {
    const current = this.#connections.profileOf(uri).name;
    const choices: Choice<ConnectionProfile | 'add'>[] = this.#connections.profiles(uri).map((profile) => ({
      label: profile.name,
      description: [profile.platform, profile.server, profile.database].filter((part) => part !== null).join(' · '),
      detail: [
        profile.environment,
        profile.isProtected ? 'protected' : '',
        profile.isReadOnly ? 'read-only' : '',
        profile.name === current ? 'in use' : '',
      ]
        .filter((part) => part !== '')
        .join(', '),
      value: profile,
    }));
    choices.push({ label: '$(add) Add Connection…', value: 'add' });
    const chosen = await this.#prompts.pick(choices, {
      title: 'Connection of this file',
      placeholder: 'Which connection?',
    });
    if (chosen === 'add') return this.#add();
    return typeof chosen === 'object' ? chosen : undefined;
  }
}

/** A node of the connection tree carries its profile. */
export function profileOf(argument: unknown): ConnectionProfile | undefined {
  if (typeof argument !== 'object' || argument === null || !('profile' in argument)) return undefined;
  return isProfile(argument.profile) ? argument.profile : undefined;
}

function isProfile(value: unknown): value is ConnectionProfile {
  return typeof value === 'object' && value !== null && 'name' in value && 'origin' in value && 'platform' in value;
}
