import type { Diagnostic } from '../../../../protocol/problem.ts';
import { positionOf, problemsOf } from '../../syntax/inspect.ts';
import type { Script } from '../../syntax/tree.ts';

/** Where the page of a rule is published; the extension shows the page that it ships instead. */
export function docsUrl(rule: string): string {
  return `https://mergewright.dev/rules/${rule}`;
}

/** What the parser found, as diagnostics of the rule `syntax`. */
export function syntaxDiagnostics(script: Script, file: string, lines: readonly number[]): Diagnostic[] {
  return problemsOf(script).map((problem) => ({
    file,
    range: { start: positionOf(lines, problem.start), end: positionOf(lines, problem.end) },
    rule: 'syntax',
    hazards: [],
    severity: 'error',
    message: problem.message,
    why: 'The server refuses a batch with a syntax error as a whole, so none of its statements runs.',
    help: 'Correct the text at the marked place.',
    url: docsUrl('syntax'),
    fixes: [],
  }));
}
