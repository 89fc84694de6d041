import type { ConnectionFacts } from '../../../protocol/panel.ts';
import type { Log, Memory, Prompts, SecretVault, Workbench } from '../ports.ts';
import type { Session, SessionFactory } from '../runs/session.ts';
import {
  type ConnectionProfile,
  embeddedName,
  embeddedProfile,
  needsPassword,
  type ProfileList,
  secretKey,
} from './profile.ts';

/** Where profiles come from, and where new ones are written. */
export interface ProfileSettings {
  read(folder: string | undefined): ProfileList;
  defaultName(folder: string | undefined): string;
  add(profile: ConnectionProfile): Promise<void>;
  remove(profile: ConnectionProfile): Promise<void>;
}

/** Gives an access token for a SQL server, asking the person to sign in where needed. */
export interface TokenSource {
  token(): Promise<string | undefined>;
}

interface SecretGuard {
  addSecret(secret: string): void;
}

export interface ConnectionPorts {
  readonly settings: ProfileSettings;
  readonly sessions: SessionFactory;
  readonly vault: SecretVault;
  readonly tokens: TokenSource;
  readonly memory: Memory;
  readonly prompts: Prompts;
  readonly workbench: Workbench;
  readonly log: Log & SecretGuard;
  /** Path of the embedded engine's file. */
  readonly embeddedFile: string;
}

const chosenKey = 'connection of ';

/** Which connection a document uses, and the one session that is held for it. */
export class Connections {
  readonly #ports: ConnectionPorts;
  readonly #sessions = new Map<string, { readonly profile: ConnectionProfile; readonly session: Session }>();
  readonly #listeners = new Set<() => void>();

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** All profiles of a document's folder, the embedded engine first. */
  profiles(uri: string | undefined): readonly ConnectionProfile[] {
    const embedded = embeddedProfile(this.#ports.embeddedFile);
    if (!this.#ports.workbench.isTrusted()) return [embedded];
    const { profiles, problems } = this.#ports.settings.read(this.#ports.workbench.folderOf(uri));
    for (const problem of problems) this.#ports.log.warn(problem);
    return [embedded, ...profiles];
  }

  /** The profile that a document uses. */
  profileOf(uri: string): ConnectionProfile {
    const { memory, settings, workbench } = this.#ports;
    const names = [memory.get<string>(chosenKey + uri), settings.defaultName(workbench.folderOf(uri)), embeddedName];
    const profiles = this.profiles(uri);
    const found = names
      .map((name) => profiles.find((profile) => profile.name === name))
      .find((profile) => profile !== undefined);
    return found ?? embeddedProfile(this.#ports.embeddedFile);
  }

  /** What is known of a document's connection: the server's own words while a session is held. */
  factsOf(uri: string): ConnectionFacts {
    return this.#sessions.get(uri)?.session.facts ?? factsOfProfile(this.profileOf(uri));
  }

  isConnected(uri: string): boolean {
    const held = this.#sessions.get(uri);
    return held !== undefined && !held.session.isLost;
  }

  async choose(uri: string, profile: ConnectionProfile): Promise<void> {
    if (this.#sessions.has(uri) && this.#sessions.get(uri)?.profile.name !== profile.name) await this.disconnect(uri);
    await this.#ports.memory.set(chosenKey + uri, profile.name);
    this.#changed();
  }

  /**
   * The session held for a document; a new one where there is none, where it was lost, or where the profile changed.
   * Undefined when the person did not give a password. Rejects with the engine's own words when it cannot connect.
   */
  async session(
    uri: string,
  ): Promise<{ readonly session: Session; readonly isNew: boolean; readonly wasLost: boolean } | undefined> {
    const profile = this.profileOf(uri);
    const held = this.#sessions.get(uri);
    if (held !== undefined && !held.session.isLost && secretKey(held.profile) === secretKey(profile)) {
      return { session: held.session, isNew: false, wasLost: false };
    }
    if (held !== undefined) await this.disconnect(uri);
    const session = await this.open(uri, profile);
    if (session === undefined) return undefined;
    this.#sessions.set(uri, { profile, session });
    this.#changed();
    // A toast resolves when it is closed, which nobody has to do before working on.
    for (const warning of session.warnings) void this.#ports.prompts.warn(`${profile.name}: ${warning}`);
    return { session, isNew: true, wasLost: held !== undefined };
  }

  /** Gives up the connection of a document while it is being made. */
  cancelConnecting(uri: string): void {
    if (!this.#sessions.has(uri)) this.#ports.sessions.cancel(uri);
  }

  /** Opens a session that is held for nobody; the caller closes it. */
  async open(id: string, profile: ConnectionProfile): Promise<Session | undefined> {
    if (!this.#ports.workbench.isTrusted()) {
      throw new Error(
        'Nothing connects before this workspace is trusted (command "Workspaces: Manage Workspace Trust").',
      );
    }
    const secret = await this.#secret(profile);
    if (secret === undefined) return undefined;
    this.#ports.log.info(`connecting to ${profile.name}`);
    try {
      return await this.#ports.sessions.open(id, profile, secret);
    } catch (error) {
      if (isLoginFailure(error)) await this.#ports.vault.delete(secretKey(profile));
      throw error;
    }
  }

  async disconnect(uri: string): Promise<void> {
    const held = this.#sessions.get(uri);
    this.#sessions.delete(uri);
    await held?.session.close();
    this.#changed();
  }

  async keepSecret(profile: ConnectionProfile, secret: string): Promise<void> {
    this.#ports.log.addSecret(secret);
    await this.#ports.vault.store(secretKey(profile), secret);
  }

  async remove(profile: ConnectionProfile): Promise<void> {
    await this.#ports.vault.delete(secretKey(profile));
    await this.#ports.settings.remove(profile);
    this.#changed();
  }

  /** To be called when a session says that its facts changed. */
  refresh(): void {
    this.#changed();
  }

  /** The secret, null for a connection without one, undefined when the person gave none. */
  async #secret(profile: ConnectionProfile): Promise<string | null | undefined> {
    if (profile.platform === 'duckdb') return null;
    if (!needsPassword(profile)) {
      const token = await this.#ports.tokens.token();
      if (token !== undefined) this.#ports.log.addSecret(token);
      return token;
    }
    const known = await this.#ports.vault.get(secretKey(profile));
    if (known !== undefined) {
      this.#ports.log.addSecret(known);
      return known;
    }
    const place = `${profile.server}${profile.port === null ? '' : `:${profile.port}`}`;
    const answer = await this.#ports.prompts.input({
      title: `Password for ${profile.name}`,
      prompt: `Password of ${profile.user ?? 'the login'} on ${place}. It is kept in the editor's secret storage.`,
      isSecret: true,
    });
    if (typeof answer !== 'string') return undefined;
    await this.keepSecret(profile, answer);
    return answer;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** What a profile promises before a server has answered. */
function factsOfProfile(profile: ConnectionProfile): ConnectionFacts {
  return {
    name: profile.name,
    platform: profile.platform,
    server: profile.server,
    database: profile.database,
    login: profile.user,
    environment: profile.environment,
    isProtected: profile.isProtected,
    isReadOnly: profile.isReadOnly,
  };
}

/** A password that the server refused is asked for again. */
function isLoginFailure(error: unknown): boolean {
  return error instanceof Error && /login failed|ELOGIN/i.test(error.message);
}
