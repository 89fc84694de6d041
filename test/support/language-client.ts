import { PassThrough } from 'node:stream';
import {
  type ConfigurationItem,
  createConnection,
  createMessageConnection,
  type InitializeParams,
  type InitializeResult,
  type MessageConnection,
  ProposedFeatures,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { LanguageServer } from '../../server/src/lsp/server.ts';

interface Published {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly { readonly message: string; readonly code?: string | number }[];
}

/** A language server in this process with a client at the other end of its streams. */
export class LanguageClient {
  readonly connection: MessageConnection;
  /** For bytes that no client library would send. */
  readonly toServer = new PassThrough();
  readonly published: Published[] = [];
  readonly notifications: { readonly method: string; readonly params: unknown }[] = [];
  /** What the editor answers when it is asked for a setting. */
  setting: (item: ConfigurationItem) => unknown = () => null;
  private readonly waiting = new Set<() => void>();

  constructor() {
    const toClient = new PassThrough();
    const server = createConnection(
      ProposedFeatures.all,
      new StreamMessageReader(this.toServer),
      new StreamMessageWriter(toClient),
    );
    new LanguageServer(server).listen();
    this.connection = createMessageConnection(
      new StreamMessageReader(toClient),
      new StreamMessageWriter(this.toServer),
    );
    this.connection.onNotification((method, params) => {
      this.notifications.push({ method, params });
      if (method === 'textDocument/publishDiagnostics') this.published.push(params as unknown as Published);
      for (const check of this.waiting) check();
    });
    this.connection.onRequest((method, params) =>
      method === 'workspace/configuration'
        ? (params as unknown as { readonly items: readonly ConfigurationItem[] }).items.map((item) =>
            this.setting(item),
          )
        : null,
    );
    this.connection.listen();
  }

  async initialize(
    folder: string | null,
    capabilities: InitializeParams['capabilities'] = {},
  ): Promise<InitializeResult> {
    const workspaceFolders = folder === null ? null : [{ uri: folder, name: 'folder' }];
    const result = await this.request<InitializeResult>('initialize', {
      processId: null,
      rootUri: folder,
      workspaceFolders,
      capabilities,
    });
    this.notify('initialized', {});
    return result;
  }

  request<T>(method: string, params: unknown): Promise<T> {
    return this.connection.sendRequest<T>(method, params);
  }

  notify(method: string, params: unknown): void {
    void this.connection.sendNotification(method, params);
  }

  open(uri: string, text: string, version = 1, languageId = 'sql'): void {
    this.notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
  }

  change(uri: string, version: number, contentChanges: readonly object[]): void {
    this.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges });
  }

  /** The latest diagnostics of a document that fulfil a condition, as soon as there are some. */
  diagnostics(uri: string, condition: (published: Published) => boolean = () => true): Promise<Published> {
    return this.until(() => this.published.findLast((published) => published.uri === uri && condition(published)));
  }

  /** Waits for a notification that fulfils a condition. */
  notification<T>(method: string, condition: (params: T) => boolean = () => true): Promise<T> {
    return this.until(
      () =>
        this.notifications.findLast((each) => each.method === method && condition(each.params as T))?.params as
          | T
          | undefined,
    );
  }

  close(): void {
    this.connection.dispose();
    this.toServer.end();
  }

  private until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = look();
        if (found === undefined) return;
        this.waiting.delete(check);
        resolve(found);
      };
      this.waiting.add(check);
      check();
    });
  }
}
