import { connectablePlatforms, connectionDefaults } from '../../../protocol/connection.ts';
import type { Connections, ProfileSettings } from '../connections/connections.ts';
import { type ConnectionProfile, needsPassword } from '../connections/profile.ts';
import { type Answer, back, type Choice, type Prompts, type StepPlace } from '../ports.ts';
import type { Command } from './command.ts';

interface Draft {
  readonly profile: ConnectionProfile;
  readonly password: string;
}

type Step = (draft: Draft, place: StepPlace) => Promise<Answer<Draft>>;

const title = 'Add Connection';

/** Asks for a connection step by step, tests it, and writes it to the user settings. */
export class AddConnectionCommand implements Command {
  readonly id = 'addConnection';
  readonly #connections: Connections;
  readonly #settings: ProfileSettings;
  readonly #prompts: Prompts;

  constructor(connections: Connections, settings: ProfileSettings, prompts: Prompts) {
    this.#connections = connections;
    this.#settings = settings;
    this.#prompts = prompts;
  }

  async run(): Promise<void> {
    await this.add();
  }

  /** The new profile; undefined when the person went away. */
  async add(): Promise<ConnectionProfile | undefined> {
    const draft = await this.#ask();
    if (draft === undefined) return undefined;
    await this.keep(draft.profile, draft.password === '' ? null : draft.password);
    return draft.profile;
  }

  /** Keeps a profile and its secret, then tests it; a failing test is told, and the profile stays for correction. */
  async keep(profile: ConnectionProfile, password: string | null): Promise<void> {
    await this.#settings.add(profile);
    if (password !== null) await this.#connections.keepSecret(profile, password);
    this.#connections.refresh();
    await this.test(profile);
  }

  /** Connects once and says what answered. */
  async test(profile: ConnectionProfile): Promise<void> {
    try {
      const session = await this.#prompts.withProgress(`Testing ${profile.name}`, () =>
        this.#connections.open(`test of ${profile.name}`, profile),
      );
      if (session === undefined) return;
      const { facts, about, warnings } = session;
      await session.close();
      const lines = [facts.server, facts.database, facts.login === null ? null : `login ${facts.login}`, ...about];
      const answer = `${profile.name} answers: ${lines.filter((line) => line !== null).join(' · ')}`;
      if (warnings.length === 0) await this.#prompts.inform(answer);
      // The editor cuts long notifications: what has to be read stands first.
      else await this.#prompts.warn(`${warnings.join(' ')} ${answer}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await this.#prompts.fail(`${profile.name} does not answer: ${reason}`);
    }
  }

  async #ask(): Promise<Draft | undefined> {
    let draft: Draft = { profile: { ...connectionDefaults, origin: 'user' }, password: '' };
    const visited: Draft[] = [];
    for (let index = 0; ; ) {
      const steps = this.#steps(draft.profile);
      const step = steps[index];
      if (step === undefined) return draft;
      const answer = await step(draft, { step: index + 1, of: steps.length });
      if (answer === undefined) return undefined;
      if (answer === back) {
        index = Math.max(index - 1, 0);
        draft = visited[index] ?? draft;
        continue;
      }
      visited[index] = draft;
      draft = answer;
      index += 1;
    }
  }

  /** The steps depend on the engine and the way to sign in. */
  #steps(profile: ConnectionProfile): Step[] {
    const common = [this.#platform];
    const place = profile.platform === 'duckdb' ? [this.#file] : [this.#server, this.#database, this.#login];
    const login = profile.platform !== 'duckdb' && needsPassword(profile) ? [this.#user, this.#password] : [];
    return [...common, ...place, ...login, this.#environment, this.#name];
  }

  readonly #platform: Step = (draft, place) =>
    this.#pick(
      draft,
      place,
      'Engine',
      connectablePlatforms.map((platform) => ({ label: platform, value: { platform } })),
    );

  readonly #file: Step = (draft, place) =>
    this.#input(
      draft,
      place,
      'Path of the DuckDB file',
      draft.profile.file ?? '',
      (file) => ({ file: file.trim() }),
      required,
    );

  readonly #server: Step = (draft, place) =>
    this.#input(
      draft,
      place,
      'Server: host, host,port or host\\instance',
      draft.profile.server ?? '',
      (text) => {
        const [server, port] = text.split(',').map((part) => part.trim());
        return { server: server ?? '', port: Number(port) || null };
      },
      (text) => required(text) ?? (/,\s*\d*\D/.test(text) ? 'The port is a number.' : undefined),
    );

  readonly #database: Step = (draft, place) =>
    this.#input(draft, place, "Database; empty for the login's own", draft.profile.database ?? '', (text) => ({
      database: text.trim() || null,
    }));

  readonly #login: Step = (draft, place) =>
    this.#pick(draft, place, 'How to sign in', [
      { label: 'SQL login', description: 'user and password', value: { auth: 'sql' } },
      { label: 'Entra', description: "the editor's own accounts", value: { auth: 'entra' } },
      { label: 'Windows login', description: 'NTLM: domain user and password', value: { auth: 'ntlm' } },
    ]);

  readonly #user: Step = (draft, place) => {
    const { domain, user, auth } = draft.profile;
    const present = domain === null ? (user ?? '') : `${domain}\\${user}`;
    return this.#input(
      draft,
      place,
      auth === 'ntlm' ? 'User: DOMAIN\\user' : 'User',
      present,
      (text) => {
        const [domainPart, userPart] = text.split('\\');
        return auth === 'ntlm' && userPart !== undefined
          ? { domain: domainPart ?? null, user: userPart }
          : { domain: null, user: text.trim() };
      },
      required,
    );
  };

  readonly #password: Step = async (draft, place) => {
    const { user, server } = draft.profile;
    const prompt = `Password of ${user} on ${server}. It is kept in the editor's secret storage.`;
    const answer = await this.#prompts.input({ title, prompt, place, isSecret: true });
    return typeof answer === 'string' ? { ...draft, password: answer } : answer;
  };

  readonly #environment: Step = (draft, place) =>
    this.#pick(draft, place, 'Environment', [
      { label: 'Development', value: { environment: 'dev' } },
      { label: 'Test', value: { environment: 'test' } },
      { label: 'Production', description: 'asks before every run', value: { environment: 'prod', isProtected: true } },
      {
        label: 'Production, read-only',
        description: 'refuses everything that is not a read',
        value: { environment: 'prod', isProtected: true, isReadOnly: true },
      },
    ]);

  readonly #name: Step = (draft, place) => {
    const { server, database, file } = draft.profile;
    const suggestion = file?.split(/[\\/]/).at(-1) ?? [server, database].filter((part) => part !== null).join(' ');
    const taken = this.#connections.profiles(undefined).map((profile) => profile.name.toLowerCase());
    return this.#input(
      draft,
      place,
      'Name of the connection',
      suggestion,
      (name) => ({ name: name.trim() }),
      (text) => required(text) ?? (taken.includes(text.trim().toLowerCase()) ? 'This name is taken.' : undefined),
    );
  };

  async #pick(
    draft: Draft,
    place: StepPlace,
    placeholder: string,
    choices: readonly Choice<Partial<ConnectionProfile>>[],
  ): Promise<Answer<Draft>> {
    const answer = await this.#prompts.pick(choices, { title, placeholder, place });
    return typeof answer === 'object' ? { ...draft, profile: { ...draft.profile, ...answer } } : answer;
  }

  async #input(
    draft: Draft,
    place: StepPlace,
    prompt: string,
    value: string,
    read: (text: string) => Partial<ConnectionProfile>,
    validate?: (text: string) => string | undefined,
  ): Promise<Answer<Draft>> {
    const options = { title, prompt, value, place };
    const answer = await this.#prompts.input(validate === undefined ? options : { ...options, validate });
    return typeof answer === 'string' ? { ...draft, profile: { ...draft.profile, ...read(answer) } } : answer;
  }
}

function required(text: string): string | undefined {
  return text.trim() === '' ? 'This cannot be empty.' : undefined;
}
