import * as vscode from 'vscode';
import type { ProfileSettings } from '../connections/connections.ts';
import { type ConnectionProfile, type ProfileList, readProfiles, settingOf } from '../connections/profile.ts';

/** Connection profiles in the editor's settings, by who wrote them. */
export class EditorProfileSettings implements ProfileSettings {
  read(folder: string | undefined): ProfileList {
    const found = configuration(folder).inspect<unknown>('connections');
    return readProfiles(found?.globalValue, found?.workspaceFolderValue ?? found?.workspaceValue);
  }

  defaultName(folder: string | undefined): string {
    return configuration(folder).get<string>('defaultConnection', '');
  }

  async add(profile: ConnectionProfile): Promise<void> {
    const present = entriesOf(configuration(undefined).inspect<unknown>('connections')?.globalValue);
    await this.#write([...present.filter((entry) => nameOf(entry) !== profile.name), settingOf(profile)]);
  }

  async remove(profile: ConnectionProfile): Promise<void> {
    const present = entriesOf(configuration(undefined).inspect<unknown>('connections')?.globalValue);
    await this.#write(present.filter((entry) => nameOf(entry) !== profile.name));
  }

  async #write(entries: readonly unknown[]): Promise<void> {
    await configuration(undefined).update('connections', entries, vscode.ConfigurationTarget.Global);
  }
}

/** A setting of this extension, as it holds for a document or folder where one is given; the manifest holds its default. */
export function setting<T>(name: string, absent: T, uri?: string): T {
  return configuration(uri).get<T>(name, absent);
}

function configuration(folder: string | undefined): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(
    'mergewright',
    folder === undefined ? undefined : vscode.Uri.parse(folder, true),
  );
}

function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function nameOf(entry: unknown): unknown {
  return typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : undefined;
}
