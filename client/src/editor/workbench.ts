import * as vscode from 'vscode';
import type { Range } from '../../../protocol/position.ts';
import type { OpenDocument, RuleLookup, Workbench } from '../ports.ts';

const proposalScheme = 'mergewright-proposal';

/** Documents, folders and commands of the editor. */
export class EditorWorkbench implements Workbench, RuleLookup, vscode.Disposable {
  readonly #proposals = new Map<string, string>();
  /** Says that a text under a title is another one: a document that is open is read again. */
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registrations: readonly vscode.Disposable[];
  /** The text editor that had the focus last. */
  #last = vscode.window.activeTextEditor;

  constructor() {
    this.#registrations = [
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(proposalScheme, {
        onDidChange: this.#changed.event,
        provideTextDocumentContent: (uri) => this.#proposals.get(uri.path) ?? '',
      }),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        this.#last = editor ?? this.#last;
      }),
    ];
  }

  dispose(): void {
    for (const registration of this.#registrations) registration.dispose();
  }

  active(): OpenDocument | undefined {
    // While the panel has the focus, a command means the file that the person was in, even if the panel hides it.
    const last = this.#last?.document.isClosed === false ? this.#last : undefined;
    const editor = vscode.window.activeTextEditor ?? last ?? vscode.window.visibleTextEditors[0];
    return editor === undefined ? undefined : described(editor.document, editor.selection);
  }

  async open(uri: string): Promise<OpenDocument> {
    return described(await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true)), null);
  }

  async showText(title: string, text: string, language: string): Promise<string> {
    const path = `/${title}`;
    const uri = vscode.Uri.from({ scheme: proposalScheme, path });
    this.#proposals.set(path, text);
    this.#changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, language);
    await vscode.window.showTextDocument(document, { preview: true });
    return document.uri.toString();
  }

  async reveal(uri: string, range?: Range): Promise<void> {
    await vscode.window.showTextDocument(vscode.Uri.parse(uri, true), {
      viewColumn: vscode.ViewColumn.One,
      ...(range === undefined ? {} : { selection: toEditorRange(range) }),
    });
  }

  folderOf(uri: string | undefined): string | undefined {
    const folder = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri, true));
    return (folder ?? vscode.workspace.workspaceFolders?.[0])?.uri.toString();
  }

  isTrusted(): boolean {
    return vscode.workspace.isTrusted;
  }

  async find(pattern: string): Promise<readonly string[]> {
    const found = await vscode.workspace.findFiles(pattern, '**/node_modules/**', 2000);
    return found.map((uri) => uri.toString()).sort();
  }

  async openFolder(path: string): Promise<void> {
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(path));
  }

  async openMarkdown(path: string): Promise<void> {
    await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.file(path));
  }

  setContext(name: string, value: boolean): void {
    void vscode.commands.executeCommand('setContext', name, value);
  }

  async copy(text: string): Promise<void> {
    await vscode.env.clipboard.writeText(text);
  }

  async propose(uri: string, text: string): Promise<'opened' | 'unchanged' | 'replaced' | 'kept'> {
    const target = vscode.Uri.parse(uri, true);
    const present = await openIfPresent(target);
    if (present === undefined) {
      await openUntitled(target, text);
      return 'opened';
    }
    if (present.getText() === text) {
      await vscode.window.showTextDocument(present, { viewColumn: vscode.ViewColumn.One });
      return 'unchanged';
    }
    return this.#proposeReplacement(present, text);
  }

  rulesAt(uri: string, position: { line: number; character: number }): readonly string[] {
    const place = new vscode.Position(position.line, position.character);
    return vscode.languages
      .getDiagnostics(vscode.Uri.parse(uri, true))
      .filter((diagnostic) => diagnostic.source === 'mergewright' && diagnostic.range.contains(place))
      .map((diagnostic) => String(typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code));
  }

  async #proposeReplacement(present: vscode.TextDocument, text: string): Promise<'replaced' | 'kept'> {
    const name = present.uri.path.split('/').at(-1) ?? present.uri.path;
    const proposal = vscode.Uri.from({ scheme: proposalScheme, path: present.uri.path, query: String(Date.now()) });
    this.#proposals.set(proposal.path, text);
    await vscode.commands.executeCommand('vscode.diff', present.uri, proposal, `${name}: present ↔ generated`);
    const answer = await vscode.window.showInformationMessage(
      `${name} exists and differs from the generated load. Replace its text?`,
      'Replace',
      'Keep',
    );
    this.#proposals.delete(proposal.path);
    await closeDiff(proposal);
    if (answer !== 'Replace') return 'kept';
    const edit = new vscode.WorkspaceEdit();
    edit.replace(present.uri, wholeOf(present), text);
    await vscode.workspace.applyEdit(edit);
    await vscode.window.showTextDocument(present, { viewColumn: vscode.ViewColumn.One });
    return 'replaced';
  }
}

export function toEditorRange(range: Range): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}

function described(document: vscode.TextDocument, selection: vscode.Range | null): OpenDocument {
  return {
    uri: document.uri.toString(),
    language: document.languageId,
    text: document.getText(),
    selection,
    isUntitled: document.isUntitled,
  };
}

/** The document of a file, or of an untitled document under the file's name that waits to be saved. */
async function openIfPresent(target: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  const untitled = target.with({ scheme: 'untitled' }).toString();
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === untitled);
  if (open !== undefined && !open.isClosed && open.getText() !== '') return open;
  try {
    await vscode.workspace.fs.stat(target);
  } catch {
    return undefined;
  }
  return vscode.workspace.openTextDocument(target);
}

/** The language is given last, so that the language server meets the whole text: from it, it tells the platform. */
async function openUntitled(target: vscode.Uri, text: string): Promise<void> {
  const opened = await vscode.workspace.openTextDocument(target.with({ scheme: 'untitled' }));
  const { languageId } = opened;
  const document = await vscode.languages.setTextDocumentLanguage(opened, 'plaintext');
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, wholeOf(document), text);
  await vscode.workspace.applyEdit(edit);
  const whole = await vscode.languages.setTextDocumentLanguage(document, languageId);
  await vscode.window.showTextDocument(whole, { preview: false, viewColumn: vscode.ViewColumn.One });
}

function wholeOf(document: vscode.TextDocument): vscode.Range {
  return new vscode.Range(0, 0, document.lineCount, 0);
}

async function closeDiff(proposal: vscode.Uri): Promise<void> {
  const shown = proposal.toString();
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter((tab) => tab.input instanceof vscode.TabInputTextDiff && tab.input.modified.toString() === shown);
  await vscode.window.tabGroups.close(tabs);
}
