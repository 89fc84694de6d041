import type { PlatformName } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { Batch, BatchSection } from '../../../protocol/run.ts';
import { lineStartsOf, positionOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import type { SqlcmdLine } from '../syntax/tree.ts';

export interface SqlcmdOptions {
  readonly platform: PlatformName;
  /** Replace `$(Name)` even where the script has no `:setvar`. */
  readonly isOn: boolean;
  /** Reads a file that `:r` names, relative to the script; undefined where it is not there or outside the workspace. */
  readonly read: (path: string) => Promise<IncludedFile | undefined>;
}

export interface IncludedFile {
  /** What errors in it are said to stand in. */
  readonly file: string;
  readonly text: string;
}

/** A script as it is sent, and where its lines come from. */
export interface ExpandedScript {
  readonly text: string;
  /** Empty where no file is read: then every line is the script's own. */
  readonly sections: readonly ScriptSection[];
}

/** Lines of the sent text from `from` on, up to the next section. */
export interface ScriptSection extends BatchSection {
  /** Zero-based line of the script itself: its own, or that of the `:r`. */
  readonly scriptLine: number;
}

const deepestInclude = 16;

/**
 * A script as the SQLCMD processor would send it: variables of `:setvar` in place of `$(Name)`, files of `:r` in place of
 * their lines. Command lines become empty lines, so that errors stand where they stood. Environment variables are never
 * read; commands that reach out of the script (`:connect`, `!!` …) are refused. A script without a SQLCMD line is unchanged.
 */
export async function expandSqlcmd(text: string, options: SqlcmdOptions): Promise<Outcome<ExpandedScript>> {
  const expansion: Expansion = { options, problems: [], variables: new Map(), out: '', line: 0, sections: [] };
  await expand({ file: null, text, depth: 0, scriptLine: null }, expansion);
  const isIncluding = expansion.sections.some(({ file }) => file !== null);
  return {
    value: { text: expansion.out, sections: isIncluding ? expansion.sections : [] },
    problems: expansion.problems,
  };
}

/** Batches of an expanded script with the places of their lines. */
export function placed(batches: readonly Batch[], sections: readonly ScriptSection[]): readonly Batch[] {
  if (sections.length === 0) return batches;
  return batches.map((batch) => {
    const end = batch.line + batch.text.split('\n').length;
    const first = sections.findLast(({ from }) => from <= batch.line);
    const inside = sections.filter(({ from }) => from > batch.line && from < end);
    const own = [
      ...(first === undefined ? [] : [{ ...first, line: first.line + batch.line - first.from, from: batch.line }]),
      ...inside,
    ];
    const at = first === undefined || first.file !== null ? first?.scriptLine : first.line + batch.line - first.from;
    return {
      ...batch,
      line: at ?? batch.line,
      sections: own.map(({ from, file, line }) => ({ from: from - batch.line, file, line })),
    };
  });
}

/** A text that is being expanded. */
interface Source {
  /** Null for the script itself. */
  readonly file: string | null;
  readonly text: string;
  readonly depth: number;
  /** Line of the script's `:r` that led here; null in the script itself. */
  readonly scriptLine: number | null;
}

/** What has come of a script so far. */
interface Expansion {
  readonly options: SqlcmdOptions;
  readonly problems: Problem[];
  readonly variables: Map<string, string>;
  readonly sections: ScriptSection[];
  out: string;
  /** Number of lines that `out` has ended. */
  line: number;
}

async function expand(source: Source, expansion: Expansion): Promise<void> {
  const { options } = expansion;
  const { text, depth } = source;
  const lines = parse(text, { platform: options.platform }).batches.flatMap((batch) => batch.sqlcmd);
  const isOn = options.isOn || lines.some(({ command }) => command === 'setvar') || depth > 0;
  const starts = lineStartsOf(text);
  const add = (from: number, to: number) => {
    const piece = text.slice(from, to);
    const line = positionOf(starts, from).line;
    begin(expansion, source, line);
    append(expansion, isOn ? replaced(piece, source, line, expansion) : piece);
  };
  let done = 0;
  for (const line of lines) {
    const place = positionOf(starts, line.start).line;
    add(done, line.start);
    const included = await workOff(line, place, source, expansion);
    if (included !== undefined) await expand(included, expansion);
    done = line.end;
  }
  add(done, text.length);
}

/** What follows comes from a line of a source. */
function begin({ sections, line: from, out }: Expansion, { file, scriptLine }: Source, line: number): void {
  const isMidLine = out !== '' && !out.endsWith('\n');
  // The rest of the line of a command is the end of that line.
  const [start, first] = isMidLine ? [from + 1, line + 1] : [from, line];
  while ((sections.at(-1)?.from ?? -1) >= start) sections.pop();
  sections.push({ from: start, file, line: first, scriptLine: scriptLine ?? first });
}

function append(expansion: Expansion, text: string): void {
  expansion.out += text;
  expansion.line += text.split('\n').length - 1;
}

/** The file that takes the place of a command's line; undefined for all but `:r`. */
async function workOff(
  { command, argument }: SqlcmdLine,
  place: number,
  source: Source,
  expansion: Expansion,
): Promise<Source | undefined> {
  const { variables, options } = expansion;
  const fault = (message: string) => {
    expansion.problems.push({ code: 'sqlcmd', severity: 'error', message: `${lineText(source, place)}: ${message}` });
    return undefined;
  };
  switch (command) {
    case 'setvar': {
      const [, name, quoted, plain] = /^\s*([\w-]+)\s*(?:"((?:[^"]|"")*)"|(\S+))?\s*$/.exec(argument) ?? [];
      if (name === undefined)
        fault(':setvar needs a name and a value, the value in double quotes where it has blanks.');
      else if (quoted === undefined && plain === undefined) variables.delete(name.toLowerCase());
      else variables.set(name.toLowerCase(), quoted?.replaceAll('""', '"') ?? plain ?? '');
      return undefined;
    }
    case 'r': {
      const path = argument.trim().replace(/^"(.*)"$/, '$1');
      if (source.depth >= deepestInclude) return fault(`:r ${path} is read by a file that it reads itself.`);
      const file = await options.read(path);
      if (file === undefined) return fault(`:r ${path} is not there, or lies outside the workspace.`);
      return { ...file, depth: source.depth + 1, scriptLine: source.scriptLine ?? place };
    }
    case 'on error':
      if (!/^\s*exit\s*$/i.test(argument))
        return fault(':on error ignore is refused: a run stops at the batch that fails.');
      return undefined;
    case 'connect':
      return fault(':connect is refused: a run stays on the connection that is shown. Choose the connection instead.');
    case '!!':
      return fault('!! is refused: a script runs no programs.');
    default:
      return fault(`:${command} is not available here; remove it.`);
  }
}

function replaced(text: string, source: Source, line: number, { variables, problems }: Expansion): string {
  return text.replace(/\$\(([\w-]+)\)/g, (whole, name: string, at: number) => {
    const value = variables.get(name.toLowerCase());
    if (value !== undefined) return value;
    const place = line + text.slice(0, at).split('\n').length - 1;
    problems.push({
      code: 'sqlcmd',
      severity: 'error',
      message: `${lineText(source, place)}: $(${name}) has no value: write :setvar ${name} "…" before it. Environment variables are never read.`,
    });
    return whole;
  });
}

function lineText({ file }: Source, line: number): string {
  return file === null ? `Line ${line + 1}` : `${file}, line ${line + 1}`;
}
