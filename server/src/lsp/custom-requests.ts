import { RequestType } from 'vscode-languageserver/node';
import type { ServerRequests } from '../../../protocol/requests.ts';
import { nameFits } from '../model/names.ts';
import type { Folder } from '../workspace/folder.ts';
import { normalUri } from './files.ts';
import type { Host } from './host.ts';

type Handler<M extends keyof ServerRequests> = (
  params: ServerRequests[M]['params'],
) => Promise<ServerRequests[M]['result']>;

/** Registers the requests of `protocol/requests.ts`. They wait for the folder's first index: half a catalog misleads. */
export function registerCustomRequests(host: Host): void {
  const on = <M extends keyof ServerRequests>(method: M, handler: Handler<M>): void => {
    host.connection.onRequest(new RequestType<ServerRequests[M]['params'], unknown, void>(method), (params) =>
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
}

/** The folder's loads; with a document, those whose target or source it defines. */
async function loadsOf(host: Host, folder: Folder, uri: string | undefined) {
  await host.ready(folder);
  host.workspace.flush();
  folder.refresh();
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
  folder.refresh();
  return folder;
}
