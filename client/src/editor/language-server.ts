import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Position, Range } from '../../../protocol/position.ts';
import type { Log, Requests, Server } from '../ports.ts';

const documents = [
  { language: 'sql' },
  { language: 'sql', notebook: '*' },
  { language: 'python' },
  { language: 'scala' },
  { language: 'json', pattern: '**/mergewright.json' },
];

/** The language server of the extension, over stdio. The client library is loaded when the server is started. */
export class LanguageServer implements Server, vscode.Disposable {
  readonly #program: string;
  readonly #log: Log;
  #client: Promise<LanguageClient> | undefined;

  /** @param program path of `dist/server.cjs` */
  constructor(program: string, log: Log) {
    this.#program = program;
    this.#log = log;
  }

  async start(): Promise<void> {
    await this.#started();
  }

  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    const client = await this.#started();
    return client.sendRequest(method, params);
  }

  /** The innermost stretch around the position that "expand selection" of the server calls a statement. */
  async statementAt(uri: string, position: Position): Promise<Range | undefined> {
    const client = await this.#started();
    const [found] =
      (await client.sendRequest<SelectionRange[] | null>('textDocument/selectionRange', {
        textDocument: { uri },
        positions: [position],
      })) ?? [];
    return found === undefined ? undefined : statementOf(found);
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
    const { LanguageClient, TransportKind } = await import('vscode-languageclient/node');
    const run = { module: this.#program, transport: TransportKind.stdio, args: ['--stdio'] };
    const client = new LanguageClient(
      'mergewright',
      'Mergewright Language Server',
      { run, debug: run },
      {
        documentSelector: documents,
        synchronize: {
          configurationSection: 'mergewright',
          fileEvents: [
            vscode.workspace.createFileSystemWatcher('**/*.sql'),
            vscode.workspace.createFileSystemWatcher('**/mergewright.json'),
          ],
        },
        outputChannelName: 'Mergewright Language Server',
        // The server may die of its own faults: it comes back until it fails five times in three minutes.
        connectionOptions: { maxRestartCount: 4 },
      },
    );
    await client.start();
    this.#log.info('language server started');
    return client;
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
