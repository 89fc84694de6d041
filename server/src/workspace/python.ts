import type { PlatformName } from '../../../protocol/platform.ts';
import type { Diagnostic, TextEdit } from '../../../protocol/problem.ts';
import type { EmbeddedScript } from '../syntax/embedded.ts';
import { lineStartsOf, offsetOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import { scriptsInPython } from '../syntax/python.ts';
import { parsePython } from '../syntax/python-script.ts';
import type { Script } from '../syntax/tree.ts';

/** Files whose SQL stands in strings and cells. */
export function isPythonFile(file: string): boolean {
  return /\.py$/i.test(file);
}

/** Python that was installed, not written here; the name counts from the folder's top. */
export function isInstalled(file: string): boolean {
  return /(?:^|\/)(?:\.?venv|site-packages|__pycache__)\//.test(file);
}

/** The SQL of a file; null for a Python file without any. */
export function parseFile(file: string, text: string, platform: PlatformName): Script | null {
  return isPythonFile(file) ? parsePython(text, platform) : parse(text, { platform });
}

/**
 * Findings of a Python file with only those fixes that leave it a Python file: what a fix replaces stands in the file as
 * it stands in the SQL, and what it writes fits into the cell or string.
 */
export function withPythonFixes(diagnostics: readonly Diagnostic[], text: string): readonly Diagnostic[] {
  if (diagnostics.every(({ fixes }) => fixes.length === 0)) return diagnostics;
  const lines = lineStartsOf(text);
  const scripts = scriptsInPython(text).filter(({ complete }) => complete);
  const placed = (edit: TextEdit): readonly TextEdit[] => {
    const start = offsetOf(lines, text, edit.range.start);
    const end = offsetOf(lines, text, edit.range.end);
    const around = scripts.find((script) => script.hostOffset(0) <= start && end <= endOf(script));
    const newText = around === undefined ? null : fitting(around, text, start, end, edit.newText);
    return newText === null ? [] : [{ ...edit, newText }];
  };
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    fixes: diagnostic.fixes
      .map((fix) => ({ ...fix, edits: fix.edits.flatMap(placed), wanted: fix.edits.length }))
      .filter(({ edits, wanted }) => edits.length === wanted)
      .map(({ wanted: _, ...fix }) => fix),
  }));
}

function endOf(script: EmbeddedScript): number {
  return script.hostOffset(script.text.length);
}

/** The new text as the host must have it; null where it can't stand there. */
function fitting(script: EmbeddedScript, host: string, start: number, end: number, newText: string): string | null {
  const replaced = host.slice(start, end);
  const quote = /^(?:"""|'''|"|')/.exec(host.slice(endOf(script)))?.[0];
  const index = indexAt(script, start);
  if (index === null || script.text.slice(index, index + replaced.length) !== replaced) return null;
  for (let next = 0; next < replaced.length; next += 1)
    if (script.hostOffset(index + next) !== start + next) return null;
  if (isCell(script, host)) {
    // The end of a cell is the line behind it.
    if (replaced.includes('\n') || index === script.text.length) return null;
    return newText.replace(/\r?\n/g, '$&# MAGIC ');
  }
  if (quote === undefined || newText.includes(quote.charAt(0)) || /[\\{}]/.test(newText)) return null;
  return quote.length === 1 && newText.includes('\n') ? null : newText;
}

function indexAt(script: EmbeddedScript, offset: number): number | null {
  for (let index = 0; index <= script.text.length; index += 1) if (script.hostOffset(index) === offset) return index;
  return null;
}

function isCell(script: EmbeddedScript, host: string): boolean {
  const start = script.hostOffset(0);
  return host.startsWith('# MAGIC', host.lastIndexOf('\n', start - 1) + 1);
}
