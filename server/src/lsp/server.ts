import {
  type ClientCapabilities,
  CodeLensRefreshRequest,
  type Connection,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type InitializeResult,
  LogMessageNotification,
  MessageType,
  TextDocumentSyncKind,
  WatchKind,
} from 'vscode-languageserver/node';
import { type PlatformName, parsePlatform } from '../../../protocol/platform.ts';
import type { ClientNotifications, ServerNotifications } from '../../../protocol/requests.ts';
import { tokenModifiers, tokenTypes } from '../features/semantic-tokens.ts';
import { isPlainPython } from '../workspace/documents.ts';
import type { Folder } from '../workspace/folder.ts';
import { isReadable } from '../workspace/port.ts';
import { isPythonFile } from '../workspace/python.ts';
import { Workspace } from '../workspace/workspace.ts';
import { toProblem } from './convert.ts';
import { registerCustomRequests } from './custom-requests.ts';
import { DiagnosticPublisher } from './diagnostics.ts';
import { registerFeatures } from './features.ts';
import { normalUri, uriFiles } from './files.ts';
import { Guard } from './guard.ts';
import { registerInspectionRequests } from './inspection-requests.ts';

/** Longest stretch that the background index works before it lets requests through, in milliseconds. */
const workSlice = 6;
/** How long background work rests after a key, and at most where keys follow one another, in milliseconds. */
const restAfterKey = 30;
const longestRest = 2000;
/** An edit reaches the folder's catalog when nobody has typed for so long, in milliseconds. */
const idle = 200;

/** Wires a connection to a workspace. The only place where the language protocol and the core meet. */
export class LanguageServer {
  private readonly connection: Connection;
  private readonly workspace: Workspace;
  private readonly guard: Guard;
  private readonly diagnostics: DiagnosticPublisher;
  /** Normalised URI → the spelling that the editor uses. */
  private readonly spellings = new Map<string, string>();
  private readonly indexed = new Map<string, Promise<void>>();
  /** Settled when the settings are known; a folder is read with them, not once before and once after. */
  private configured: Promise<void> = Promise.resolve();
  private capabilities: ClientCapabilities = {};
  private roots: readonly string[] = [];
  private flushing: NodeJS.Timeout | undefined;
  private sliceStart = 0;
  private lastEdit = 0;

  constructor(connection: Connection) {
    this.connection = connection;
    this.workspace = new Workspace(uriFiles, () => this.pause());
    this.guard = new Guard((message) =>
      connection.sendNotification(LogMessageNotification.type, { type: MessageType.Error, message }),
    );
    this.diagnostics = new DiagnosticPublisher(connection, this.workspace, this.guard, (uri) => this.clientUri(uri));
    connection.onInitialize((params) => this.initialize(params));
    connection.onInitialized(() => this.initialized());
    this.registerDocuments();
    const host = {
      connection,
      workspace: this.workspace,
      guard: this.guard,
      clientUri: (uri: string) => this.clientUri(uri),
      ready: (folder: Folder) => this.indexed.get(folder.root) ?? Promise.resolve(),
      diagnosticsOf: (uri: string) => this.diagnostics.compute(uri),
      diagnosticsInSlices: (uri: string) => this.diagnostics.computeInSlices(uri),
    };
    registerFeatures(host);
    registerCustomRequests(host);
    registerInspectionRequests(host);
  }

  listen(): void {
    this.connection.listen();
  }

  private initialize(params: InitializeParams): InitializeResult {
    this.capabilities = params.capabilities;
    const folders = params.workspaceFolders?.map((folder) => folder.uri) ?? (params.rootUri ? [params.rootUri] : []);
    this.roots = folders.map(rootOf);
    for (const root of this.roots) this.workspace.addFolder(root);
    const pull = params.capabilities.textDocument?.diagnostic !== undefined;
    if (!pull) this.diagnostics.push();
    return {
      serverInfo: { name: 'mergewright' },
      capabilities: {
        positionEncoding: 'utf-16',
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
        documentSymbolProvider: true,
        workspaceSymbolProvider: true,
        completionProvider: { triggerCharacters: ['.', '@'] },
        signatureHelpProvider: { triggerCharacters: [' ', ','] },
        codeLensProvider: {},
        codeActionProvider: { codeActionKinds: ['quickfix', 'source.fixAll.mergewright'] },
        foldingRangeProvider: true,
        selectionRangeProvider: true,
        renameProvider: { prepareProvider: true },
        inlayHintProvider: true,
        semanticTokensProvider: {
          legend: { tokenTypes: [...tokenTypes], tokenModifiers: [...tokenModifiers] },
          full: true,
        },
        ...(pull
          ? {
              diagnosticProvider: {
                identifier: 'mergewright',
                interFileDependencies: true,
                workspaceDiagnostics: false,
              },
            }
          : {}),
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    };
  }

  private initialized(): void {
    const { workspace } = this.capabilities;
    if (workspace?.didChangeConfiguration?.dynamicRegistration === true) {
      void this.connection.client
        .register(DidChangeConfigurationNotification.type, { section: 'mergewright' })
        .catch(() => undefined);
    }
    if (workspace?.didChangeWatchedFiles?.dynamicRegistration === true) {
      const files = ['**/*.sql', '**/*.py', '**/*.dacpac', '**/*.sqlproj', '**/mergewright.json'];
      const watchers = [
        ...files.map((globPattern) => ({ globPattern, kind: WatchKind.Change })),
        // A folder that is made, moved or removed as a whole is told by its own name only.
        { globPattern: '**/*', kind: WatchKind.Create | WatchKind.Delete },
      ];
      void this.connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch(() => undefined);
    }
    if (workspace?.workspaceFolders === true) {
      this.connection.workspace.onDidChangeWorkspaceFolders((event) => {
        for (const { uri } of event.removed) this.workspace.removeFolder(rootOf(uri));
        const added = event.added.map(({ uri }) => this.workspace.addFolder(rootOf(uri)));
        this.configured = this.readConfiguration();
        for (const folder of added) this.index(folder);
      });
    }
    this.configured = this.readConfiguration();
    for (const root of this.roots) this.index(this.workspace.folderAt(root));
  }

  private registerDocuments(): void {
    const { connection, workspace, guard } = this;
    connection.onDidOpenTextDocument(({ textDocument }) => {
      guard.run('open', undefined, () => {
        const uri = this.remember(textDocument.uri);
        const document = workspace.open(uri, textDocument.languageId, textDocument.version, textDocument.text);
        if (document !== undefined) this.documentChanged(uri, true);
      });
    });
    connection.onDidChangeTextDocument(({ textDocument, contentChanges }) => {
      guard.run('change', undefined, () => {
        this.lastEdit = Date.now();
        const uri = normalUri(textDocument.uri);
        if (workspace.change(uri, textDocument.version, contentChanges) !== undefined) this.documentChanged(uri, false);
      });
    });
    connection.onDidCloseTextDocument(({ textDocument }) => {
      guard.run('close', undefined, () => {
        const uri = normalUri(textDocument.uri);
        workspace.close(uri);
        this.diagnostics.clear(uri);
        this.spellings.delete(uri);
        void workspace.fileChanged(uri);
      });
    });
    connection.onDidSaveTextDocument(({ textDocument }) => {
      void this.filesChanged([{ uri: textDocument.uri }]);
    });
    connection.onDidChangeWatchedFiles(({ changes }) => void this.filesChanged(changes));
    connection.onDidChangeConfiguration(() => void this.readConfiguration());
    connection.onNotification('mergewright/connection', (params: ClientNotifications['mergewright/connection']) => {
      guard.run('connection', undefined, () => {
        const uri = normalUri(params.uri);
        if (workspace.connect(uri, params.platform) !== undefined) this.documentChanged(uri, true);
      });
    });
  }

  private documentChanged(uri: string, tellStatus: boolean): void {
    if (tellStatus) this.tellStatus(uri);
    this.diagnostics.schedule(uri);
    clearTimeout(this.flushing);
    this.flushing = setTimeout(() => this.guard.run('catalog', undefined, () => this.catalogChanged()), idle);
  }

  /** Edits reach the catalog; what was shown by the old one is shown again where it has changed. */
  private catalogChanged(): void {
    if (!this.workspace.hasPending) return;
    this.workspace.flush();
    const changed = [
      ...new Set([...this.workspace.documents.keys()].map((uri) => this.workspace.folderOf(uri))),
    ].filter((folder) => folder.isStale);
    if (changed.length > 0) void this.refresh();
  }

  private async filesChanged(changes: readonly { readonly uri: string }[]): Promise<void> {
    let concerned = false;
    for (const change of changes) {
      const uri = normalUri(change.uri);
      // A Python file concerns the folder when SQL was or is in it, and others when they were open as SQL.
      const isSql = isReadable(uri) && !isPythonFile(uri);
      const hasSql = () => isSql || this.workspace.folderOf(uri).definitionsOf(uri) !== undefined;
      concerned ||= hasSql();
      await this.guard.wait('file', undefined, async () => {
        this.sliceStart = Date.now();
        const settingsBelow = () =>
          this.workspace.folderOf(uri).settingsFiles.filter((file) => file.startsWith(`${uri}/`));
        const before = settingsBelow();
        if (await this.workspace.fileChanged(uri)) concerned = true;
        if (uri.endsWith('/mergewright.json')) this.settingsChanged(uri);
        for (const file of new Set([...before, ...settingsBelow()])) this.settingsChanged(file);
      });
      concerned ||= hasSql();
    }
    if (concerned) await this.refresh();
  }

  /** A settings file that can't be used is marked where it is wrong, whether it is open or not. */
  private settingsChanged(uri: string): void {
    const problems = this.workspace.folderOf(uri).settingsProblemsOf(uri);
    this.guard.send(() =>
      this.connection.sendDiagnostics({ uri: this.clientUri(uri), diagnostics: problems.map(toProblem) }),
    );
    this.platformsChanged();
  }

  private platformsChanged(): void {
    for (const uri of this.workspace.documents.keys()) {
      this.workspace.reopen(uri);
      this.tellStatus(uri);
    }
  }

  /** The setting counts per folder; files of no folder have the window's. */
  private async readConfiguration(): Promise<void> {
    if (this.capabilities.workspace?.configuration !== true) return;
    await this.guard.wait('configuration', undefined, async () => {
      const places = [null, ...this.workspace.folderRoots];
      const settings: readonly unknown[] = await this.connection.workspace.getConfiguration(
        places.map((root) => ({
          section: 'mergewright',
          ...(root === null ? {} : { scopeUri: this.clientUri(root) }),
        })),
      );
      const changed = places.filter((root, place) => platformIn(settings[place]) !== this.workspace.expected(root));
      this.sliceStart = Date.now();
      for (const root of changed) await this.workspace.expectPlatform(root, platformIn(settings[places.indexOf(root)]));
      if (changed.length === 0) return;
      this.platformsChanged();
      await this.refresh();
    });
  }

  private index(folder: Folder): void {
    const work = this.guard.wait('index', undefined, async () => {
      await this.configured;
      this.sliceStart = Date.now();
      await this.workspace.readFolder(folder.root);
      for (const file of folder.settingsFiles) this.settingsChanged(file);
      this.platformsChanged();
      this.workspace.flush();
      await this.refresh();
      const total = folder.fileNames.length;
      this.tell('mergewright/indexing', { folder: this.clientUri(folder.root), done: total, total });
    });
    this.indexed.set(folder.root, work);
  }

  /**
   * Lets requests through when a slice of background work is used up. What follows a key takes several turns of the event
   * loop, and a slice before each would add up, so the work rests for a moment behind each key.
   */
  private async pause(): Promise<void> {
    if (Date.now() - this.sliceStart < workSlice) return;
    await new Promise((resolve) => setImmediate(resolve));
    const paused = Date.now();
    while (Date.now() - this.lastEdit < restAfterKey && Date.now() - paused < longestRest)
      await new Promise((resolve) => setTimeout(resolve, 5));
    this.sliceStart = Date.now();
  }

  /** Asks the editor to fetch again what depends on the folder. */
  private async refresh(): Promise<void> {
    await this.guard.wait('catalog', undefined, async () => {
      for (const root of this.workspace.folderRoots) await this.workspace.folderAt(root).refreshInSlices();
    });
    const { workspace } = this.capabilities;
    const { connection, guard } = this;
    if (workspace?.codeLens?.refreshSupport === true)
      guard.send(() => connection.sendRequest(CodeLensRefreshRequest.type));
    if (workspace?.semanticTokens?.refreshSupport === true)
      guard.send(async () => connection.languages.semanticTokens.refresh());
    if (workspace?.diagnostics?.refreshSupport === true)
      guard.send(async () => connection.languages.diagnostics.refresh());
    this.diagnostics.scheduleAll();
  }

  private tellStatus(uri: string): void {
    const document = this.workspace.documents.get(uri);
    if (document === undefined || isPlainPython(document)) return;
    const { platform, origin } = this.workspace.platformOf(uri, document.text);
    this.tell('mergewright/status', { uri: this.clientUri(uri), platform, origin, degraded: document.degraded });
  }

  private tell<M extends keyof ServerNotifications>(method: M, params: ServerNotifications[M]): void {
    this.guard.send(() => this.connection.sendNotification(method, params));
  }

  private remember(uri: string): string {
    const normal = normalUri(uri);
    if (normal !== uri) this.spellings.set(normal, uri);
    return normal;
  }

  private clientUri(uri: string): string {
    return this.spellings.get(uri) ?? uri;
  }
}

function platformIn(settings: unknown): PlatformName | null {
  const platform =
    typeof settings === 'object' && settings !== null && 'platform' in settings ? settings.platform : undefined;
  return typeof platform === 'string' ? (parsePlatform(platform)?.name ?? null) : null;
}

/** A folder's URI without a slash at its end. */
function rootOf(uri: string): string {
  return normalUri(uri).replace(/\/+$/, '');
}
