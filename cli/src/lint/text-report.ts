import { counted } from '../../../protocol/counted.ts';
import type { Diagnostic, Severity } from '../../../protocol/problem.ts';
import type { LintedFile } from './lint-files.ts';

/** Findings for people: place and message, the line with a mark under it, why it hurts and what to do. */
export function textReport(files: readonly LintedFile[], fixed: number): string {
  const blocks = files.flatMap(({ text, diagnostics }) => {
    if (diagnostics.length === 0) return [];
    const lines = text.split(/\r\n|\r|\n/);
    return diagnostics.map((diagnostic) => block(diagnostic, lines));
  });
  return [...blocks, summary(files, fixed)].join('\n');
}

function block(diagnostic: Diagnostic, lines: readonly string[]): string {
  const { file, range, severity, rule, hazards, message, why, help, fixes } = diagnostic;
  const ids = hazards.length === 0 ? '' : ` (${hazards.join(', ')})`;
  const [fix] = fixes;
  return [
    `${file}:${range.start.line + 1}:${range.start.character + 1}: ${severity}: ${message} [${rule}]${ids}`,
    ...excerpt(diagnostic, lines),
    `  why: ${why}`,
    `  do:  ${help}`,
    ...(fix === undefined
      ? []
      : [`  fix: ${fix.title}${fix.safe ? ' (--fix does this)' : ' (changes what the script does)'}`]),
    '',
  ].join('\n');
}

/** The line of the finding's start, cut to what a terminal shows, and carets under the marked part. */
function excerpt({ range }: Diagnostic, lines: readonly string[]): readonly string[] {
  const line = lines[range.start.line] ?? '';
  const width = 110;
  const from = range.start.character > width - 20 ? range.start.character - 40 : 0;
  const shown = line.slice(from, from + width);
  const end = range.end.line === range.start.line ? range.end.character : line.length;
  const marked = Math.max(1, Math.min(end, from + width) - range.start.character);
  // Tabs stay tabs, so that the carets stand under the text whatever their width.
  const pad = line.slice(from, range.start.character).replace(/[^\t]/g, ' ');
  const number = String(range.start.line + 1);
  return [`  ${number} | ${shown}`, `  ${' '.repeat(number.length)} | ${pad}${'^'.repeat(marked)}`];
}

function summary(files: readonly LintedFile[], fixed: number): string {
  const count = (severity: Severity) =>
    files.reduce((sum, file) => sum + file.diagnostics.filter((item) => item.severity === severity).length, 0);
  const parts = (['error', 'warning', 'info', 'hint'] as const).flatMap((severity) => {
    const found = count(severity);
    return found === 0 ? [] : [`${found} ${severity}${found === 1 || severity === 'info' ? '' : 's'}`];
  });
  const written = fixed === 0 ? '' : `, ${counted(fixed, 'file')} fixed`;
  const total = `${counted(files.length, 'file')} checked`;
  return `${total}: ${parts.length === 0 ? 'nothing found' : parts.join(', ')}${written}\n`;
}
