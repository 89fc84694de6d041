import { RequestType } from 'vscode-languageserver/node';
import type { InspectionRequests } from '../../../protocol/requests.ts';
import { columnMapping } from '../features/column-mapping.ts';
import { normalUri } from './files.ts';
import type { Host } from './host.ts';

type Handler<M extends keyof InspectionRequests> = (
  params: InspectionRequests[M]['params'],
) => Promise<InspectionRequests[M]['result']>;

/** Registers the requests that look at the data or the columns of one load. */
export function registerInspectionRequests(host: Host): void {
  const on = <M extends keyof InspectionRequests>(method: M, handler: Handler<M>): void => {
    host.connection.onRequest(new RequestType<InspectionRequests[M]['params'], unknown, void>(method), (params) =>
      handler(params),
    );
  };

  on('mergewright/mapping', async ({ uri, specification }) => {
    const file = normalUri(uri);
    const folder = host.workspace.folderOf(file);
    await host.ready(folder);
    host.workspace.flush();
    const { lookup } = folder.catalog;
    const source = lookup.one(specification.source);
    const target = lookup.one(specification.target);
    if (source === undefined || target === undefined) {
      const missing = source === undefined ? specification.source : specification.target;
      const message = `The folder has no DDL of ${missing.table}, or several tables of that name. Open the file with its CREATE TABLE.`;
      return { mapping: null, problems: [{ code: 'unknown-table', severity: 'error', message }] };
    }
    const { conventions } = folder.settingsOf(file).inference;
    return { mapping: columnMapping(source, target, conventions, specification.options), problems: [] };
  });
}
