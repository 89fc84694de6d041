import type { Diagnostic, TextEdit } from '../../../../protocol/problem.ts';
import { lineStartsOf, offsetOf } from '../../syntax/inspect.ts';

/** A way to switch a finding off, for editors to offer. */
export type DisableAction =
  | { readonly title: string; readonly scope: 'here' | 'file'; readonly edits: readonly TextEdit[] }
  /** To be written into the `mergewright.json` of the file's folder. */
  | { readonly title: string; readonly scope: 'folder'; readonly setting: Readonly<Record<string, 'off'>> };

/** Comments that switch a rule off for a line or a file, and the setting for its folder. The reason is for the person to fill in. */
export function disableActions(diagnostic: Diagnostic, text: string): readonly DisableAction[] {
  const { rule, file, range } = diagnostic;
  if (rule === 'syntax') return [];
  const lines = lineStartsOf(text);
  const start = lines[range.start.line] ?? 0;
  const indent = /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const at = (line: number) => ({ start: { line, character: 0 }, end: { line, character: 0 } });
  // A byte order mark stays the first character of the file.
  const first = text.startsWith('\uFEFF')
    ? { start: { line: 0, character: 1 }, end: { line: 0, character: 1 } }
    : at(0);
  return [
    {
      title: `Disable ${rule} for this line`,
      scope: 'here',
      edits: [
        {
          file,
          range: at(range.start.line),
          newText: `${indent}-- mergewright-disable-next-line ${rule}: reason${newline}`,
        },
      ],
    },
    {
      title: `Disable ${rule} in this file`,
      scope: 'file',
      edits: [{ file, range: first, newText: `-- mergewright-disable ${rule}: reason${newline}` }],
    },
    { title: `Disable ${rule} in this folder`, scope: 'folder', setting: { [rule]: 'off' } },
  ];
}

/** The edits of all safe fixes that do not overlap, in the order of the text; overlapping ones wait for the next pass. */
export function safeEdits(diagnostics: readonly Diagnostic[], text: string): readonly TextEdit[] {
  const lines = lineStartsOf(text);
  const span = (edit: TextEdit) => ({
    start: offsetOf(lines, text, edit.range.start),
    end: offsetOf(lines, text, edit.range.end),
  });
  const taken: { readonly start: number; readonly end: number; readonly edit: TextEdit }[] = [];
  for (const { fixes } of diagnostics) {
    const fix = fixes.find(({ safe }) => safe);
    if (fix === undefined || fix.edits.length === 0) continue;
    const edits = fix.edits.map((edit) => ({ ...span(edit), edit }));
    const free = edits.every((edit) => taken.every((other) => edit.start > other.end || edit.end < other.start));
    if (free) taken.push(...edits);
  }
  return taken.sort((left, right) => left.start - right.start || left.end - right.end).map(({ edit }) => edit);
}

/** A text with edits that do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const lines = lineStartsOf(text);
  const spans = edits
    .map((edit) => ({
      start: offsetOf(lines, text, edit.range.start),
      end: offsetOf(lines, text, edit.range.end),
      newText: edit.newText,
    }))
    .sort((left, right) => left.start - right.start || left.end - right.end);
  let result = '';
  let from = 0;
  for (const { start, end, newText } of spans) {
    result += text.slice(from, start) + newText;
    from = end;
  }
  return result + text.slice(from);
}
