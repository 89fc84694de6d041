import type { Connection } from 'vscode-languageserver/node';
import type { Diagnostic } from '../../../protocol/problem.ts';
import type { TableCatalog } from '../model/catalog.ts';
import { diagnosticsOf } from '../workspace/diagnostics.ts';
import type { OpenDocument } from '../workspace/documents.ts';
import type { FolderSettings } from '../workspace/settings.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { toDiagnostic } from './convert.ts';
import type { Guard } from './guard.ts';

interface KeptDiagnostics {
  readonly catalog: TableCatalog;
  readonly settings: FolderSettings;
  readonly value: readonly Diagnostic[];
}

/** Works out diagnostics once per text and catalog, and publishes them to editors that do not ask for them. */
export class DiagnosticPublisher {
  private readonly connection: Connection;
  private readonly workspace: Workspace;
  private readonly guard: Guard;
  private readonly clientUri: (uri: string) => string;
  private readonly scheduled = new Set<string>();
  /** Code actions ask for what was just published. */
  private readonly kept = new WeakMap<OpenDocument, KeptDiagnostics>();
  private pushing = false;

  constructor(connection: Connection, workspace: Workspace, guard: Guard, clientUri: (uri: string) => string) {
    this.connection = connection;
    this.workspace = workspace;
    this.guard = guard;
    this.clientUri = clientUri;
  }

  /** The editor does not ask for diagnostics: they are sent. */
  push(): void {
    this.pushing = true;
  }

  compute(uri: string): readonly Diagnostic[] {
    const document: OpenDocument | undefined = this.workspace.documents.get(uri);
    if (document === undefined) return [];
    const folder = this.workspace.folderOf(uri);
    const { catalog } = folder;
    const settings = folder.settingsOf(uri);
    const kept = this.kept.get(document);
    if (kept?.catalog === catalog && kept.settings === settings) return kept.value;
    return this.guard.run('diagnostics', [], () => {
      const { value, problems } = diagnosticsOf(document, folder);
      for (const problem of problems) this.guard.note(problem.message);
      this.kept.set(document, { catalog, settings, value });
      return value;
    });
  }

  /** Publishes after everything that has already arrived: ten quick edits give one publication. */
  schedule(uri: string): void {
    if (!this.pushing) return;
    if (this.scheduled.size === 0) setImmediate(() => this.publish());
    this.scheduled.add(uri);
  }

  scheduleAll(): void {
    for (const uri of this.workspace.documents.keys()) this.schedule(uri);
  }

  clear(uri: string): void {
    this.scheduled.delete(uri);
    if (this.pushing)
      this.guard.send(() => this.connection.sendDiagnostics({ uri: this.clientUri(uri), diagnostics: [] }));
  }

  private publish(): void {
    for (const uri of this.scheduled) {
      const version = this.workspace.documents.get(uri)?.version;
      const diagnostics = this.compute(uri).map(toDiagnostic);
      this.guard.send(() =>
        this.connection.sendDiagnostics({
          uri: this.clientUri(uri),
          diagnostics,
          ...(version === undefined ? {} : { version }),
        }),
      );
    }
    this.scheduled.clear();
  }
}
