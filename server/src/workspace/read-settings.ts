import type { Outcome, Problem } from '../../../protocol/problem.ts';
import { lineStartsOf, positionOf } from '../syntax/inspect.ts';
import { defaultSettings, type FolderSettings, settingsFrom } from './settings.ts';

/**
 * Reads a `mergewright.json`. A file that is no JSON, or says something that the schema does not know, gives the
 * defaults and one problem that names the place. The schema is loaded when the first file is read.
 */
export async function readSettings(text: string, file: string): Promise<Outcome<FolderSettings>> {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch (error) {
    return failure(
      file,
      `is no valid JSON: ${error instanceof Error ? error.message : String(error)}`,
      text,
      jsonErrorOffset(error),
    );
  }
  const { mergewrightJsonSchema } = await import('../../../protocol/mergewright-json.ts');
  const parsed = mergewrightJsonSchema.safeParse(json);
  if (parsed.success) return { value: settingsFrom(parsed.data, file), problems: [] };
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String) ?? [];
  const place = path.length === 0 ? '' : ` at ${pathText(issue?.path ?? [])}`;
  return failure(
    file,
    `${place === '' ? 'is wrong' : `is wrong${place}`}: ${issue?.message ?? 'it does not fit its schema'}`,
    text,
    offsetOfPath(text, path),
  );
}

function failure(file: string, message: string, text: string, offset: number): Outcome<FolderSettings> {
  const position = positionOf(lineStartsOf(text), offset);
  const problem: Problem = {
    code: 'settings',
    severity: 'error',
    message: `${file} ${message}; correct it there.`,
    file,
    range: { start: position, end: { line: position.line, character: position.character + 1 } },
  };
  return { value: { ...defaultSettings, file }, problems: [problem] };
}

function jsonErrorOffset(error: unknown): number {
  const match = /position (\d+)/.exec(error instanceof Error ? error.message : '');
  return match === null ? 0 : Number(match[1]);
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('');
}

/** The offset of the last named key of a path, looked for key by key; good enough to put a squiggle. */
function offsetOfPath(text: string, path: readonly string[]): number {
  let offset = 0;
  for (const part of path) {
    const found = text.indexOf(`"${part}"`, offset);
    if (found >= 0) offset = found;
  }
  return offset;
}
