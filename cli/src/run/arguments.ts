import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ExecutableLoad } from '../../../protocol/requests.ts';
import { readHeader } from '../../../server/src/generate/header.ts';
import { decodeBytes } from '../../../server/src/syntax/encoding.ts';
import { executableLoad } from '../../../server/src/workspace/executable.ts';
import type { Folder } from '../../../server/src/workspace/folder.ts';
import { type CommandContext, UsageError } from '../command.ts';
import { openFolder } from '../open-folder.ts';
import { withPathLists } from '../path-lists.ts';
import { type ChosenConnection, findConnection } from './connections.ts';

export interface ScriptArguments {
  readonly load: ExecutableLoad;
  readonly connection: ChosenConnection;
  readonly yes: string | undefined;
  readonly json: boolean;
}

const options = {
  connection: { type: 'string' },
  ddl: { type: 'string', multiple: true },
  param: { type: 'string', multiple: true },
  yes: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

/** Reads the arguments of `run` and `preview`, and makes what is to be sent. */
export async function readScriptArguments(
  args: readonly string[],
  context: CommandContext,
  command: 'run' | 'preview',
): Promise<ScriptArguments> {
  const { values, positionals } = parseArgs({ args: [...withPathLists(args)], allowPositionals: true, options });
  const [script, ...rest] = positionals;
  if (script === undefined || rest.length > 0)
    throw new UsageError(
      `Name one script, as in: mergewright ${command} load.sql --connection duckdb:warehouse.duckdb`,
    );
  const parameters = readParameters(values.param ?? []);
  const connection = await findConnection(values.connection, context.cwd, context.env);
  const text = await readScript(resolve(context.cwd, script), script);
  // DDL is needed where a load is made again from its specification.
  const isMadeAgain = readHeader(text) !== null && (command === 'preview' || connection.settings.platform === 'duckdb');
  const folder = await openFolder(values.ddl ?? (isMadeAgain ? ['.'] : []), context.cwd, undefined);
  const load = executable(folder, text, script, connection, parameters);
  return { load, connection, yes: values.yes, json: values.json };
}

function executable(
  folder: Folder,
  text: string,
  script: string,
  connection: ChosenConnection,
  parameters: Readonly<Record<string, string>>,
): ExecutableLoad {
  const { platform } = connection.settings;
  const { value, problems } = executableLoad(folder, { text, platform, parameters, title: script });
  if (value !== null) return value;
  const [first] = problems.filter(({ severity }) => severity === 'error');
  throw new UsageError(first === undefined ? `${script} can't be made for ${platform}.` : first.message);
}

async function readScript(path: string, shown: string): Promise<string> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined) throw new UsageError(`${shown} can't be read; name an existing script.`);
  return decodeBytes(bytes).text;
}

function readParameters(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1) throw new UsageError(`--param ${text}: write NAME=VALUE, as in --param RecordSource=EMED.`);
      return [text.slice(0, equals), text.slice(equals + 1)] as const;
    }),
  );
}
