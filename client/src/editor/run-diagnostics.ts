import * as vscode from 'vscode';
import type { RunError } from '../../../protocol/run.ts';
import { errorPlace } from '../runs/error-place.ts';
import type { RunProblems } from '../runs/run-controller.ts';
import { toEditorRange } from './workbench.ts';

/** Errors of runs in the Problems view; they go when the document is changed or run again. */
export class RunDiagnostics implements RunProblems, vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('mergewright run');
  readonly #subscription: vscode.Disposable;

  constructor() {
    this.#subscription = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.contentChanges.length > 0) this.#collection.delete(event.document.uri);
    });
  }

  show(uri: string, errors: readonly RunError[]): void {
    const target = vscode.Uri.parse(uri, true);
    const text = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri)?.getText() ?? '';
    this.#collection.set(
      target,
      errors.map((error) => {
        const range = toEditorRange(errorPlace(text, error.line, error.message));
        const diagnostic = new vscode.Diagnostic(range, error.message, vscode.DiagnosticSeverity.Error);
        diagnostic.source = 'mergewright run';
        diagnostic.code = error.code;
        return diagnostic;
      }),
    );
  }

  clear(uri: string): void {
    this.#collection.delete(vscode.Uri.parse(uri, true));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#collection.dispose();
  }
}
