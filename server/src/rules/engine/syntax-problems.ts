import type { Diagnostic } from '../../../../protocol/problem.ts';
import { positionOf, problemsOf } from '../../syntax/inspect.ts';
import type { Script, SyntaxProblem } from '../../syntax/tree.ts';

/** Where the page of a rule is published; the extension shows the page that it ships instead. */
export function docsUrl(rule: string): string {
  return `https://mergewright.dev/rules/${rule}`;
}

/** What a rule reports with its hazard and a fix; the parser's own words for it would only repeat that. */
export function isOfRules({ message }: SyntaxProblem): boolean {
  return message.includes('a MERGE statement must end with a semicolon');
}

/** The parser's problems that no rule reports in its own words. */
export function ownProblems(script: Script): readonly SyntaxProblem[] {
  return problemsOf(script).filter((problem) => !isOfRules(problem));
}

/** What the parser found, as diagnostics of the rule `syntax`. */
export function syntaxDiagnostics(script: Script, file: string, lines: readonly number[]): Diagnostic[] {
  return ownProblems(script).map((problem) => ({
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
