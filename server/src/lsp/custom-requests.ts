import { readFile } from 'node:fs/promises';
import { RequestType } from 'vscode-languageserver/node';
import { attachedFile } from '../../../protocol/connection.ts';
import { isTsql, type PlatformName, parsePlatform } from '../../../protocol/platform.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { CsvFile, InspectionRequests, ServerRequests } from '../../../protocol/requests.ts';
import { columnMapping } from '../features/mapping.ts';
import { csvHeader } from '../generate/csv.ts';
import { type SeedFile, seedBatches } from '../generate/seed.ts';
import { formatTableName, nameFits } from '../model/names.ts';
import { decodeBytes } from '../syntax/encoding.ts';
import { calledProcedures } from '../workspace/called-procedures.ts';
import { executableLoad } from '../workspace/executable.ts';
import { findOutScript } from '../workspace/find-out.ts';
import type { Folder } from '../workspace/folder.ts';
import { namedLoadOf } from '../workspace/named-load.ts';
import { fileNameOf } from '../workspace/port.ts';
import { generatedFolder } from '../workspace/settings.ts';
import { expandSqlcmd } from '../workspace/sqlcmd.ts';
import { normalUri, uriFiles } from './files.ts';
import type { Host } from './host.ts';

type Requests = ServerRequests & InspectionRequests;
type Handler<M extends keyof Requests> = (params: Requests[M]['params']) => Promise<Requests[M]['result']>;

/** Registers the requests of `protocol/requests.ts`. They wait for the folder's first index: half a catalog misleads. */
export function registerCustomRequests(host: Host): void {
  const on = <M extends keyof Requests>(method: M, handler: Handler<M>): void => {
    host.connection.onRequest(new RequestType<Requests[M]['params'], unknown, void>(method), (params) =>
      handler(params),
    );
  };

  on('mergewright/catalog', async ({ folder: root }) => {
    const folder = await readyFolder(host, normalUri(root));
    const tables = folder.catalog.tables.map((table) => ({ ...table, file: host.clientUri(table.file) }));
    return { tables, problems: folder.problems };
  });

  on('mergewright/loads', async ({ uri, target }) => {
    const folders =
      uri === undefined
        ? host.workspace.folderRoots.map((root) => host.workspace.folderAt(root))
        : [host.workspace.folderOf(normalUri(uri))];
    const found = await Promise.all(folders.map((folder) => loadsOf(host, folder, uri)));
    return found.flat().filter((load) => target === undefined || nameFits(target, load.specification.target));
  });

  on('mergewright/generate', async ({ specification, uri }) => {
    const folder = await readyFolder(host, normalUri(uri));
    const { value, problems } = namedLoadOf(folder, specification);
    return {
      files: value?.files ?? [],
      folder: generatedFolder(folder.settingsOf(normalUri(uri))),
      specification: value?.specification ?? specification,
      problems: locate(host, problems),
    };
  });

  on('mergewright/executable', async ({ uri, platform: name, text, specification, parameters, sqlcmdVariables }) => {
    const folder = await readyFolder(host, normalUri(uri));
    const platform = parsePlatform(name)?.name;
    if (platform === undefined) {
      const message = `"${name}" is no platform of a connection.`;
      return { load: null, problems: [{ code: 'unknown-platform', severity: 'error', message }] };
    }
    const script =
      isTsql(platform) && text !== undefined
        ? await expanded(host, text, uri, folder, platform, sqlcmdVariables)
        : null;
    if (script !== null && script.problems.length > 0) return { load: null, problems: script.problems };
    const sent = script?.value.text ?? text;
    const procedures = sent === undefined ? [] : await calledProcedures(folder, sent, platform);
    const { value, problems } = executableLoad(folder, {
      platform,
      procedures,
      sections: script?.value.sections ?? [],
      parameters,
      title: fileNameOf(uri),
      ...(sent === undefined ? {} : { text: sent }),
      ...(specification === undefined ? {} : { specification }),
    });
    const load = value === null ? null : { ...value, findOut: findOutScript(folder, value.text, platform) };
    return { load, problems: locate(host, problems) };
  });

  on('mergewright/seed', async ({ folder: root, csv = [], file }) => {
    const folder = await readyFolder(host, normalUri(root));
    const problems: Problem[] = [];
    const files = await Promise.all(csv.map((each) => seedFile(folder, each, problems)));
    const attached = (database: string) => (file === undefined ? null : attachedFile(file, database));
    const tables = folder.catalog.tables.filter((table) => table.columns.length > 0);
    const { value, problems: more } = seedBatches(
      tables,
      files.filter((each) => each !== null),
      attached,
    );
    return { batches: value, problems: locate(host, [...problems, ...more]) };
  });

  on('mergewright/mapping', async ({ uri, specification }) => {
    const folder = await readyFolder(host, normalUri(uri));
    const source = folder.catalog.lookup.one(specification.source);
    const target = folder.catalog.lookup.one(specification.target);
    if (source === undefined || target === undefined) {
      const message = 'The mapping needs the definitions of both tables in this folder.';
      return { mapping: null, problems: [{ code: 'unknown-table', severity: 'error', message }] };
    }
    const { conventions } = folder.settingsOf(target.file).inference;
    return { mapping: columnMapping(source, target, specification.options, conventions), problems: [] };
  });
}

function locate(host: Host, problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) =>
    problem.file === undefined ? problem : { ...problem, file: host.clientUri(problem.file) },
  );
}

/** The folder's loads; with a document, those whose target or source it defines. */
async function loadsOf(host: Host, folder: Folder, uri: string | undefined) {
  await host.ready(folder);
  host.workspace.flush();
  await folder.refreshInSlices();
  const file = uri === undefined ? undefined : normalUri(uri);
  const isHere = (table: Parameters<typeof folder.catalog.lookup.one>[0]) =>
    folder.catalog.lookup.one(table)?.file === file;
  return folder.loads
    .filter(({ specification }) => file === undefined || isHere(specification.target) || isHere(specification.source))
    .map((load) => ({ ...load, uri: host.clientUri(load.uri) }));
}

async function readyFolder(host: Host, uri: string): Promise<Folder> {
  const folder = host.workspace.folderAt(uri.replace(/\/+$/, ''));
  await host.ready(folder);
  host.workspace.flush();
  await folder.refreshInSlices();
  return folder;
}

/** SQLCMD lines are worked off before anything is shown or sent; `:r` reads inside the script's folder of the workspace. */
function expanded(host: Host, text: string, uri: string, folder: Folder, platform: PlatformName, isOn = false) {
  const read = async (path: string) => {
    const file = URL.canParse(path.replaceAll('\\', '/'), uri) ? new URL(path.replaceAll('\\', '/'), uri).href : '';
    if (!file.startsWith(`${folder.root}/`)) return undefined;
    const bytes = await uriFiles.read(file);
    return bytes === undefined ? undefined : { file: host.clientUri(file), text: decodeBytes(bytes).text };
  };
  return expandSqlcmd(text, { platform, isOn, read });
}

async function seedFile(folder: Folder, { table: name, path }: CsvFile, problems: Problem[]): Promise<SeedFile | null> {
  const table = folder.catalog.lookup.one(name);
  const text = await readFile(path, 'utf8').catch(() => null);
  const header = text === null ? null : csvHeader(text);
  if (table !== undefined && header !== null) return { table, path, header };
  const message =
    table === undefined
      ? `${formatTableName(name)} is not one table of this folder; ${path} is left out.`
      : `${path} can't be read or has no line of column names; it is left out.`;
  problems.push({ code: 'unusable-csv', severity: 'error', message });
  return null;
}
