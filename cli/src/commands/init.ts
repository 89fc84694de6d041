import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { counted } from '../../../protocol/counted.ts';
import { firstSettings } from '../../../server/src/workspace/first-settings.ts';
import { Folder } from '../../../server/src/workspace/folder.ts';
import { type Command, UsageError } from '../command.ts';
import { NodeFiles } from '../files.ts';

export const init: Command = {
  name: 'init',
  summary: 'Writes a first mergewright.json for a folder.',
  usage: ['mergewright init [DIR]'],
  async run(args, context) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const [directory = '.', ...rest] = positionals;
    if (rest.length > 0) throw new UsageError('Name one folder, as in: mergewright init warehouse/');
    const path = resolve(context.cwd, directory);
    const kind = await stat(path).catch(() => undefined);
    // Settings follow from the tables of a folder; one that is not there is a name mistyped.
    if (kind === undefined)
      throw new UsageError(`${directory} does not exist; name the folder that holds your DDL, or create it first.`);
    if (!kind.isDirectory()) throw new UsageError(`${directory} is a file; name the folder that the settings are for.`);
    const files = new NodeFiles(context.cwd);
    const name = files.nameOf(path);
    const folder = new Folder(files, name);
    await folder.read([name]);
    const shown = join(directory, 'mergewright.json');
    try {
      await writeFile(join(path, 'mergewright.json'), firstSettings(folder), { flag: 'wx' });
    } catch (error) {
      const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
      throw new UsageError(
        exists
          ? `${shown} exists already; edit it, or delete it first.`
          : `${shown} can't be written: ${String(error)}`,
      );
    }
    const { tables } = folder.catalog;
    context.out(
      `${shown} written: ${counted(tables.length, 'table')}, ${counted(folder.loads.length, 'load')} ${folder.loads.length === 1 ? 'follows' : 'follow'} from them.\n`,
    );
    return 0;
  },
};
