import { RequestType } from 'vscode-languageserver/node';
import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { InspectionRequests } from '../../../protocol/requests.ts';
import { checksOf, type Inspection, inspection, versionsPlan } from '../features/inspection.ts';
import type { Folder } from '../workspace/folder.ts';
import { normalUri } from './files.ts';
import type { Host } from './host.ts';

type Handler<M extends keyof InspectionRequests> = (
  params: InspectionRequests[M]['params'],
) => Promise<InspectionRequests[M]['result']>;

/** Registers the requests that look at the data of a target. */
export function registerInspectionRequests(host: Host): void {
  const on = <M extends keyof InspectionRequests>(method: M, handler: Handler<M>): void => {
    host.connection.onRequest(new RequestType<InspectionRequests[M]['params'], unknown, void>(method), (params) =>
      handler(params),
    );
  };

  on('mergewright/versions', async ({ uri, target, platform, search, key }) => {
    const found = inspectionOf(await readyFolder(host, uri), target, platform);
    if ('message' in found) return { plan: null, problems: [found] };
    return { plan: versionsPlan(found, search, key), problems: [] };
  });

  on('mergewright/checks', async ({ uri, target, platform }) => {
    const folder = await readyFolder(host, uri);
    const found = inspectionOf(folder, target, platform);
    if ('message' in found) return { checks: [], script: '', problems: [found] };
    return { ...checksOf(found, folder.catalog), problems: [] };
  });
}

async function readyFolder(host: Host, uri: string): Promise<Folder> {
  const folder = host.workspace.folderOf(normalUri(uri));
  await host.ready(folder);
  host.workspace.flush();
  return folder;
}

function inspectionOf(folder: Folder, target: TableName, platform: string): Inspection | Problem {
  const table = tableOf(folder, target);
  if ('message' in table) return table;
  return inspection(
    table,
    folder.loads.map((load) => load.specification),
    platform,
    folder.catalog.tables,
  );
}

function tableOf(folder: Folder, name: TableName): CatalogTable | Problem {
  const table = folder.catalog.lookup.one(name);
  if (table !== undefined) return table;
  const message = `The folder has no DDL of ${name.table}, or several tables of that name. Open the file with its CREATE TABLE.`;
  return { code: 'unknown-table', severity: 'error', message };
}
