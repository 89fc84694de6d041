import type { Connection } from 'vscode-languageserver/node';
import type { Diagnostic } from '../../../protocol/problem.ts';
import type { TableCatalog } from '../model/catalog.ts';
import { finish, type InSteps } from '../model/in-steps.ts';
import { diagnosticsInSteps } from '../workspace/diagnostics.ts';
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

/** Longest stretch of work between which requests are let through, in milliseconds. */
const slice = 12;

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
  private working = false;

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

  /** At once, however long the text is. */
  compute(uri: string): readonly Diagnostic[] {
    return finish(this.begin(uri));
  }

  /** The same in slices between which other requests are answered; of the newest text, when somebody types meanwhile. */
  async computeInSlices(uri: string): Promise<readonly Diagnostic[]> {
    for (;;) {
      const document = this.workspace.documents.get(uri);
      const work = this.begin(uri);
      while (document === this.workspace.documents.get(uri)) {
        const end = performance.now() + slice;
        let next = work.next();
        while (next.done !== true && performance.now() < end) next = work.next();
        if (next.done === true) return next.value;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  private *begin(uri: string): InSteps<readonly Diagnostic[]> {
    const document: OpenDocument | undefined = this.workspace.documents.get(uri);
    if (document === undefined) return [];
    const folder = this.workspace.folderOf(uri);
    const { catalog } = folder;
    const settings = folder.settingsOf(uri);
    const kept = this.kept.get(document);
    if (kept?.catalog === catalog && kept.settings === settings) return kept.value;
    try {
      const { value, problems } = yield* diagnosticsInSteps(document, folder);
      for (const problem of problems) this.guard.note(problem.message);
      this.kept.set(document, { catalog, settings, value });
      return value;
    } catch (error) {
      this.guard.report('diagnostics', error);
      return [];
    }
  }

  /** Publishes after everything that has already arrived: ten quick edits give one publication. */
  schedule(uri: string): void {
    if (this.pushing) this.plan(uri);
  }

  /** Checks all open documents again; where the editor asks, its next question then costs nothing. */
  scheduleAll(): void {
    for (const uri of this.workspace.documents.keys()) this.plan(uri);
  }

  private plan(uri: string): void {
    this.scheduled.add(uri);
    if (this.working) return;
    this.working = true;
    setImmediate(() => void this.work());
  }

  clear(uri: string): void {
    this.scheduled.delete(uri);
    if (this.pushing)
      this.guard.send(() => this.connection.sendDiagnostics({ uri: this.clientUri(uri), diagnostics: [] }));
  }

  private async work(): Promise<void> {
    for (const uri of this.scheduled) {
      this.scheduled.delete(uri);
      const found = await this.computeInSlices(uri);
      const document = this.workspace.documents.get(uri);
      if (!this.pushing || document === undefined) continue;
      const { version } = document;
      this.guard.send(() =>
        this.connection.sendDiagnostics({
          uri: this.clientUri(uri),
          diagnostics: found.map(toDiagnostic),
          version,
        }),
      );
    }
    this.working = false;
  }
}
