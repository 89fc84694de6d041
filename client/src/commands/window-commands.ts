import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connections } from '../connections/connections.ts';
import type { RunPanel } from '../panel/run-panel.ts';
import type { Prompts, Server, Workbench } from '../ports.ts';
import type { AddConnectionCommand } from './add-connection.ts';
import type { Command } from './command.ts';
import { profileOf } from './connect.ts';

/** Commands that are one or two calls of a service: showing things, ending things, copying the samples. */
export function windowCommands(services: {
  readonly connections: Connections;
  readonly adding: AddConnectionCommand;
  readonly panel: RunPanel;
  readonly server: Server;
  readonly prompts: Prompts;
  readonly workbench: Workbench;
  readonly showLog: () => void;
  /** Path of the samples that ship with the extension. */
  readonly samples: string;
}): readonly Command[] {
  const { connections, adding, panel, server, prompts, workbench, showLog, samples } = services;
  const chosenProfile = async (argument: unknown, title: string) => {
    const given = profileOf(argument);
    if (given !== undefined) return given;
    const profiles = connections.profiles(workbench.active()?.uri).filter((profile) => profile.origin !== 'embedded');
    const answer = await prompts.pick(
      profiles.map((profile) => ({ label: profile.name, description: profile.platform, value: profile })),
      { title, placeholder: 'Which connection?' },
    );
    return typeof answer === 'object' ? answer : undefined;
  };
  return [
    { id: 'showPanel', run: async () => panel.show() },
    { id: 'showLog', run: async () => showLog() },
    { id: 'restartServer', run: () => server.restart() },
    { id: 'refreshConnections', run: async () => connections.refresh() },
    {
      id: 'disconnect',
      run: async () => {
        const uri = workbench.active()?.uri;
        if (uri !== undefined) await connections.disconnect(uri);
      },
    },
    {
      id: 'changeDatabase',
      run: async () => {
        const uri = workbench.active()?.uri;
        const opened = uri === undefined ? undefined : await connections.session(uri);
        if (opened === undefined) return;
        const { database } = opened.session.facts;
        const name = await prompts.input({ title: 'Change Database', prompt: 'Database', value: database ?? '' });
        if (typeof name !== 'string' || name.trim() === '') return;
        await opened.session.changeDatabase(name.trim());
        connections.refresh();
      },
    },
    {
      id: 'testConnection',
      run: async (argument) => {
        const profile = await chosenProfile(argument, 'Test Connection');
        if (profile !== undefined) await adding.test(profile);
      },
    },
    {
      id: 'removeConnection',
      run: async (argument) => {
        const profile = await chosenProfile(argument, 'Remove Connection');
        if (profile === undefined) return;
        const question = `Remove the connection "${profile.name}" and its kept password?`;
        if (await prompts.confirm(question, 'The database itself is not touched.', 'Remove'))
          await connections.remove(profile);
      },
    },
    {
      id: 'openSamples',
      run: async () => {
        const folder = await prompts.chooseFolder('Copy Samples Here');
        if (folder === undefined) return;
        const target = join(folder, 'mergewright-samples');
        await mkdir(target, { recursive: true });
        if ((await readdir(target)).length > 0) throw new Error(`${target} is not empty. Choose another folder.`);
        await cp(samples, target, { recursive: true });
        await workbench.openFolder(target);
      },
    },
  ];
}
