import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { ExtensionContext } from 'vscode';
import { activate } from '../../client/src/extension.ts';

/** Answers every use of the editor's API with something that can be used again, and remembers registered commands. */
const editor = vi.hoisted(() => {
  const commands: string[] = [];
  const anything = (): unknown => {
    const target = Object.assign(() => anything(), { dispose: () => undefined });
    return new Proxy(target, {
      get: (object, name) => (name === 'then' ? undefined : name === 'dispose' ? object.dispose : anything()),
      set: () => true,
      apply: () => anything(),
      construct: () => Object(anything()),
    });
  };
  return { commands, anything };
});

vi.mock('vscode', () => {
  class EventEmitter {
    readonly event = () => ({ dispose: () => undefined });
    fire(): void {}
    dispose(): void {}
  }
  const window = new Proxy(
    { activeTextEditor: undefined, visibleTextEditors: [] },
    { get: (object, name) => (name in object ? Reflect.get(object, name) : editor.anything()) },
  );
  return {
    window,
    EventEmitter,
    workspace: editor.anything(),
    languages: editor.anything(),
    Uri: editor.anything(),
    StatusBarAlignment: { Left: 1, Right: 2 },
    commands: {
      executeCommand: async () => undefined,
      registerCommand: (name: string) => {
        editor.commands.push(name);
        return { dispose: () => undefined };
      },
    },
  };
});

const root = resolve(import.meta.dirname, '..', '..');
const manifest: {
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly category: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command?: string }[]>>;
    readonly keybindings?: readonly unknown[];
    readonly configuration: {
      readonly properties: Readonly<
        Record<string, { readonly markdownDescription?: string; readonly description?: string }>
      >;
    };
    readonly walkthroughs: readonly { readonly steps: readonly { readonly description: string }[] }[];
  };
  readonly activationEvents: readonly string[];
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const declared = manifest.contributes.commands.map((command) => command.command);
const storage = mkdtempSync(join(tmpdir(), 'mergewright-activation-'));
afterAll(() => rmSync(storage, { recursive: true, force: true }));

describe('the manifest and the extension', () => {
  test('every declared command is registered, and no other', () => {
    const context = {
      asAbsolutePath: (path: string) => join(root, path),
      storageUri: { fsPath: storage },
      extensionUri: {},
      workspaceState: { get: () => undefined, update: async () => undefined },
      secrets: {},
      subscriptions: [],
    };
    activate(context as unknown as ExtensionContext);
    expect([...editor.commands].sort()).toEqual([...declared].sort());
  });

  test('menus and walkthrough name declared commands only', () => {
    const inMenus = Object.values(manifest.contributes.menus).flatMap((entries) =>
      entries.flatMap((entry) => (entry.command === undefined ? [] : [entry.command])),
    );
    const inSteps = manifest.contributes.walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ description }) =>
        [...description.matchAll(/\(command:([\w.]+)\)/g)].map((match) => match[1] ?? ''),
      ),
    );
    expect([...inMenus, ...inSteps].filter((name) => !declared.includes(name))).toEqual([]);
    expect(inSteps.length).toBeGreaterThan(4);
  });

  test('nothing that executes has a key, every command one category, every setting a sentence', () => {
    expect(manifest.contributes.keybindings ?? []).toEqual([]);
    expect(new Set(manifest.contributes.commands.map((command) => command.category))).toEqual(new Set(['Mergewright']));
    const silent = Object.entries(manifest.contributes.configuration.properties).filter(
      ([, { description, markdownDescription }]) => !/\w.*[.;]/.test(markdownDescription ?? description ?? ''),
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  test('starts for its own files and views, never for everything', () => {
    expect(manifest.activationEvents).not.toContain('*');
    expect(manifest.activationEvents).toEqual(
      expect.arrayContaining([
        'onLanguage:sql',
        'workspaceContains:**/mergewright.json',
        'onNotebook:jupyter-notebook',
      ]),
    );
  });
});
