import type * as vscode from 'vscode';
import type { Memory, SecretVault } from '../ports.ts';

/** The workspace's own small memory. */
export class WorkspaceMemory implements Memory {
  readonly #state: vscode.Memento;

  constructor(state: vscode.Memento) {
    this.#state = state;
  }

  get<T>(key: string): T | undefined {
    return this.#state.get<T>(key);
  }

  async set(key: string, value: unknown): Promise<void> {
    await this.#state.update(key, value);
  }
}

/** The editor's secret storage. */
export class EditorSecretVault implements SecretVault {
  readonly #storage: vscode.SecretStorage;

  constructor(storage: vscode.SecretStorage) {
    this.#storage = storage;
  }

  async get(key: string): Promise<string | undefined> {
    return this.#storage.get(key);
  }

  async store(key: string, value: string): Promise<void> {
    await this.#storage.store(key, value);
  }

  async delete(key: string): Promise<void> {
    await this.#storage.delete(key);
  }
}
