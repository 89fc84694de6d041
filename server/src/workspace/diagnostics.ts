import type { Diagnostic } from '../../../protocol/problem.ts';
import { syntaxDiagnostics } from '../rules/engine/syntax-problems.ts';
import type { OpenDocument } from './documents.ts';

/** What is wrong with a document. */
export function diagnosticsOf(document: OpenDocument): readonly Diagnostic[] {
  if (document.degraded !== null) return [];
  return syntaxDiagnostics(document.script, document.uri, document.lineStarts);
}
