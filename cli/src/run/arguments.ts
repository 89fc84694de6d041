import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isTsql, type PlatformName } from '../../../protocol/platform.ts';
import type { ExecutableLoad } from '../../../protocol/requests.ts';
import { readHeader } from '../../../server/src/generate/header.ts';
import { decodeBytes } from '../../../server/src/syntax/encoding.ts';
import { detectPlatform } from '../../../server/src/syntax/platform.ts';
import { calledProcedures } from '../../../server/src/workspace/called-procedures.ts';
import { type ExecutableRequest, executableLoad } from '../../../server/src/workspace/executable.ts';
import { findOutScript } from '../../../server/src/workspace/find-out.ts';
import type { Folder } from '../../../server/src/workspace/folder.ts';
import { type ExpandedScript, expandSqlcmd } from '../../../server/src/workspace/sqlcmd.ts';
import { type CommandContext, UsageError } from '../command.ts';
import { openFolder } from '../open-folder.ts';
import { withPathLists } from '../path-lists.ts';
import { type ChosenConnection, findConnection } from './connections.ts';

export interface ScriptArguments {
  readonly load: ExecutableLoad;
  readonly connection: ChosenConnection;
  readonly yes: string | undefined;
  readonly json: boolean;
  /** The script's name as it was given, and its text as it stands in the file. */
  readonly script: string;
  readonly read: string;
  /** Show all that is sent: asked for, or the connection is protected. */
  readonly isWhole: boolean;
  /** Run in a transaction and roll it back. */
  readonly isDryRun: boolean;
}

const options = {
  connection: { type: 'string' },
  ddl: { type: 'string', multiple: true },
  param: { type: 'string', multiple: true },
  yes: { type: 'string' },
  json: { type: 'boolean', default: false },
  sql: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
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
  if (command === 'preview' && (values.yes !== undefined || values['dry-run']))
    throw new UsageError('A preview writes nothing, so it takes neither --yes nor --dry-run; leave them out.');
  const parameters = readParameters(values.param ?? []);
  const connection = await findConnection(values.connection, context.cwd, context.env);
  const path = resolve(context.cwd, script);
  const { platform } = connection.settings;
  const read = await readScript(path, script);
  const { text, sections } = await expanded(read, dirname(path), platform, context.cwd);
  // DDL is needed where a load is made again from its specification, and for every preview.
  const isForeign = platform === 'duckdb' && (readHeader(text) !== null || isTsql(detectPlatform(text) ?? platform));
  const folder = await openFolder(
    values.ddl ?? (command === 'preview' || isForeign ? ['.'] : []),
    context.cwd,
    undefined,
  );
  const procedures = await calledProcedures(folder, text, platform);
  const load = executable(folder, { text, platform, parameters, title: script, procedures, sections });
  if (command === 'preview' || typeof load.callFile !== 'string') demandParameters(load.missingParameters ?? []);
  else if (Object.keys(parameters).length > 0)
    throw new UsageError(
      `${script} creates a procedure, which takes values where it is called; leave --param out here and give it to ${load.callFile}.`,
    );
  const isWhole = values.sql || connection.settings.isProtected;
  return { load, connection, script, read, isWhole, yes: values.yes, json: values.json, isDryRun: values['dry-run'] };
}

function executable(folder: Folder, request: ExecutableRequest & { readonly text: string }): ExecutableLoad {
  const { platform, title } = request;
  const { value, problems } = executableLoad(folder, request);
  if (value !== null) return { ...value, findOut: findOutScript(folder, value.text, platform) };
  const [first] = problems.filter(({ severity }) => severity === 'error');
  throw new UsageError(first === undefined ? `${title} can't be made for ${platform}.` : first.message);
}

/** Without these the engine would refuse the rows, and a preview would count what no run can write. */
export function demandParameters(missing: readonly string[]): void {
  if (missing.length === 0) return;
  const [verb, columns] = missing.length === 1 ? ['has', 'a NOT NULL column'] : ['have', 'NOT NULL columns'];
  const given = missing.map((name) => `--param ${name}=VALUE`).join(' ');
  throw new UsageError(
    `${missing.join(', ')} ${verb} no value and fill${missing.length === 1 ? 's' : ''} ${columns}, so nothing was sent; give ${given}.`,
  );
}

/** SQLCMD lines are worked off before anything is shown or sent; `:r` reads inside the working folder only. */
async function expanded(text: string, folder: string, platform: PlatformName, cwd: string): Promise<ExpandedScript> {
  if (!isTsql(platform)) return { text, sections: [] };
  const read = async (file: string) => {
    const path = resolve(folder, file.replaceAll('\\', '/'));
    if (relative(cwd, path).startsWith('..')) return undefined;
    const bytes = await readFile(path).catch(() => undefined);
    const shown = relative(cwd, path).replaceAll('\\', '/');
    return bytes === undefined ? undefined : { file: shown, text: decodeBytes(bytes).text };
  };
  const { value, problems } = await expandSqlcmd(text, { platform, isOn: false, read });
  const [first] = problems;
  if (first !== undefined) throw new UsageError(first.message);
  return value;
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
