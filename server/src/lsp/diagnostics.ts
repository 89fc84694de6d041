import type { Connection } from 'vscode-languageserver/node';
import type { Diagnostic } from '../../../protocol/problem.ts';
import { diagnosticsOf } from '../workspace/diagnostics.ts';
import type { OpenDocument } from '../workspace/documents.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { toDiagnostic } from './convert.ts';
import type { Guard } from './guard.ts';

/** Works out diagnostics once per text and catalog, and publishes them to editors that do not ask for them. */
export class DiagnosticPublisher {
  private readonly connection: Connection;
  private readonly workspace: Workspace;
  private readonly guard: Guard;
  private readonly clientUri: (uri: string) => string;
  private readonly scheduled = new Set<string>();
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
    return this.guard.run('diagnostics', [], () => {
      const { value, problems } = diagnosticsOf(document, this.workspace.folderOf(uri));
      for (const problem of problems) this.guard.note(problem.message);
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
