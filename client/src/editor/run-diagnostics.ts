import * as vscode from 'vscode';
import type { RunError } from '../../../protocol/run.ts';
import { errorPlace } from '../runs/error-place.ts';
import type { RunProblems } from '../runs/run-controller.ts';
import { toEditorRange } from './workbench.ts';

/** Errors of runs in the Problems view; they go when the document is changed or run again. */
export class RunDiagnostics implements RunProblems, vscode.Disposable {
  /** Files that a script's `:r` lines read, whose errors stand there. */
  readonly #read = new Map<string, readonly string[]>();
  readonly #collection = vscode.languages.createDiagnosticCollection('mergewright run');
  readonly #subscription: vscode.Disposable;

  constructor() {
    this.#subscription = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.contentChanges.length > 0) this.#collection.delete(event.document.uri);
    });
  }

  show(uri: string, errors: readonly RunError[]): void {
    this.clear(uri);
    const files = new Set(errors.flatMap(({ file }) => file ?? []));
    this.#read.set(uri, [...files]);
    for (const file of [uri, ...files]) {
      const own = errors.filter((error) => (error.file ?? uri) === file);
      this.#collection.set(
        vscode.Uri.parse(file, true),
        own.map((error) => diagnosticOf(error, file)),
      );
    }
  }

  clear(uri: string): void {
    for (const file of [uri, ...(this.#read.get(uri) ?? [])]) this.#collection.delete(vscode.Uri.parse(file, true));
    this.#read.delete(uri);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#collection.dispose();
  }
}

function diagnosticOf(error: RunError, file: string): vscode.Diagnostic {
  const text = vscode.workspace.textDocuments.find((document) => document.uri.toString() === file)?.getText();
  // Of a file that nobody has open only the line is known.
  const lines = text ?? '\n'.repeat(error.line ?? 0);
  const range = toEditorRange(errorPlace(lines, error.line, error.message));
  const diagnostic = new vscode.Diagnostic(range, error.message, vscode.DiagnosticSeverity.Error);
  diagnostic.source = 'mergewright run';
  diagnostic.code = error.code;
  return diagnostic;
}
