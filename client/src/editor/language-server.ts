import type { Disposable } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Position, Range } from '../../../protocol/position.ts';
import type { ClientNotifications, ServerNotifications } from '../../../protocol/requests.ts';
import type { Log, Requests, Server } from '../ports.ts';

const documents = [
  { language: 'sql' },
  { language: 'sql', notebook: '*' },
  { language: 'python' },
  { language: 'json', pattern: '**/mergewright.json' },
];
/** Restarts within three minutes after which a dying server is left alone. */
const maxRestarts = 4;

export type DocumentStatus = ServerNotifications['mergewright/status'];
export type IndexingStatus = ServerNotifications['mergewright/indexing'];

/** The language server of the extension, over stdio. The client library is loaded when the server is started. */
export class LanguageServer implements Server, Disposable {
  readonly #program: string;
  readonly #log: Log;
  readonly #platforms = new Map<string, string>();
  readonly #statuses = new Map<string, DocumentStatus>();
  #client: Promise<LanguageClient> | undefined;
  #indexing: IndexingStatus | undefined;
  #changed: () => void = () => undefined;

  /** @param program path of `dist/server.cjs` */
  constructor(program: string, log: Log) {
    this.#program = program;
    this.#log = log;
  }

  /** @param changed is called when the server said something about a document or its index */
  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  /** What the server said last about a document's platform. */
  statusOf(uri: string): DocumentStatus | undefined {
    return this.#statuses.get(uri);
  }

  /** The index while it is being built. */
  get indexing(): IndexingStatus | undefined {
    return this.#indexing;
  }

  async start(): Promise<void> {
    await this.#started();
  }

  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    const client = await this.#started();
    return client.sendRequest(method, params);
  }

  /** Tells the platform of the connection that a document uses; null when it uses none of its own. */
  connectionChanged(uri: string, platform: string | null): void {
    if ((this.#platforms.get(uri) ?? null) === platform) return;
    if (platform === null) this.#platforms.delete(uri);
    else this.#platforms.set(uri, platform);
    void this.#client?.then((client) => this.#tell(client, { uri, platform })).catch(() => undefined);
  }

  /** The stretch around the position that "expand selection" of the server calls a statement. */
  async statementAt(uri: string, position: Position): Promise<Range | undefined> {
    const client = await this.#started();
    const found = await client.sendRequest<SelectionRange[] | null>('textDocument/selectionRange', {
      textDocument: { uri },
      positions: [position],
    });
    return found?.[0] === undefined ? undefined : statementOf(found[0]);
  }

  async restart(): Promise<void> {
    const client = await this.#started();
    await client.restart();
  }

  dispose(): void {
    void this.#client?.then((client) => client.dispose()).catch(() => undefined);
  }

  #started(): Promise<LanguageClient> {
    this.#client ??= this.#launch().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #launch(): Promise<LanguageClient> {
    const { LanguageClient, State, TransportKind } = await import('vscode-languageclient/node');
    const run = { module: this.#program, transport: TransportKind.stdio, args: ['--stdio'] };
    const client = new LanguageClient(
      'mergewright',
      'Mergewright Language Server',
      { run, debug: run },
      {
        documentSelector: documents,
        outputChannelName: 'Mergewright Language Server',
        connectionOptions: { maxRestartCount: maxRestarts },
      },
    );
    client.onNotification('mergewright/status', (status: DocumentStatus) => {
      this.#statuses.set(status.uri, status);
      this.#changed();
    });
    client.onNotification('mergewright/indexing', (indexing: IndexingStatus) => {
      this.#indexing = indexing.done < indexing.total ? indexing : undefined;
      this.#changed();
    });
    client.onDidChangeState(({ newState }) => {
      if (newState !== State.Running) return;
      this.#log.info('language server started');
      // A server that came back knows nothing of what was chosen before.
      for (const [uri, platform] of this.#platforms) this.#tell(client, { uri, platform });
    });
    await client.start();
    return client;
  }

  #tell(client: LanguageClient, params: ClientNotifications['mergewright/connection']): void {
    if (client.isRunning()) void client.sendNotification('mergewright/connection', params);
  }
}

interface SelectionRange {
  readonly range: Range;
  readonly parent?: SelectionRange;
}

/** The outermost stretch below the whole text. */
function statementOf(found: SelectionRange): Range {
  let current = found;
  while (current.parent?.parent !== undefined) current = current.parent;
  return current.range;
}
