import type { PlatformName } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import { lineStartsOf, positionOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import type { SqlcmdLine } from '../syntax/tree.ts';

export interface SqlcmdOptions {
  readonly platform: PlatformName;
  /** Replace `$(Name)` even where the script has no `:setvar`. */
  readonly isOn: boolean;
  /** Reads a file that `:r` names, relative to the script; undefined where it is not there or outside the workspace. */
  readonly read: (path: string) => Promise<string | undefined>;
}

const deepestInclude = 16;

/**
 * A script as the SQLCMD processor would send it: variables of `:setvar` in place of `$(Name)`, files of `:r` in place of
 * their lines. Command lines become empty lines, so that errors stand where they stood. Environment variables are never
 * read; commands that reach out of the script (`:connect`, `!!` …) are refused. A script without a SQLCMD line is unchanged.
 */
export async function expandSqlcmd(text: string, options: SqlcmdOptions): Promise<Outcome<string>> {
  const problems: Problem[] = [];
  const variables = new Map<string, string>();
  const value = await expand(text, options, variables, problems, 0);
  return { value, problems };
}

async function expand(
  text: string,
  options: SqlcmdOptions,
  variables: Map<string, string>,
  problems: Problem[],
  depth: number,
): Promise<string> {
  const lines = parse(text, { platform: options.platform }).batches.flatMap((batch) => batch.sqlcmd);
  const isOn = options.isOn || lines.some(({ command }) => command === 'setvar') || depth > 0;
  const starts = lineStartsOf(text);
  let out = '';
  let done = 0;
  for (const line of lines) {
    const place = positionOf(starts, line.start).line + 1;
    out += isOn ? replaced(text.slice(done, line.start), variables, problems) : text.slice(done, line.start);
    out += await commandText(line, place, options, variables, problems, depth);
    done = line.end;
  }
  return out + (isOn ? replaced(text.slice(done), variables, problems) : text.slice(done));
}

/** What takes the place of a command's line; nothing but for `:r`. */
async function commandText(
  { command, argument }: SqlcmdLine,
  place: number,
  options: SqlcmdOptions,
  variables: Map<string, string>,
  problems: Problem[],
  depth: number,
): Promise<string> {
  const fault = (message: string) =>
    problems.push({ code: 'sqlcmd', severity: 'error', message: `Line ${place}: ${message}` });
  switch (command) {
    case 'setvar': {
      const [, name, quoted, plain] = /^\s*([\w-]+)\s*(?:"((?:[^"]|"")*)"|(\S+))?\s*$/.exec(argument) ?? [];
      if (name === undefined)
        fault(':setvar needs a name and a value, the value in double quotes where it has blanks.');
      else if (quoted === undefined && plain === undefined) variables.delete(name.toLowerCase());
      else variables.set(name.toLowerCase(), quoted?.replaceAll('""', '"') ?? plain ?? '');
      return '';
    }
    case 'r': {
      const path = argument.trim().replace(/^"(.*)"$/, '$1');
      if (depth >= deepestInclude) {
        fault(`:r ${path} is read by a file that it reads itself.`);
        return '';
      }
      const text = await options.read(path);
      if (text === undefined) {
        fault(`:r ${path} is not there, or lies outside the workspace.`);
        return '';
      }
      return expand(text, options, variables, problems, depth + 1);
    }
    case 'on error':
      if (!/^\s*exit\s*$/i.test(argument)) fault(':on error ignore is refused: a run stops at the batch that fails.');
      return '';
    case 'connect':
      fault(':connect is refused: a run stays on the connection that is shown. Choose the connection instead.');
      return '';
    case '!!':
      fault('!! is refused: a script runs no programs.');
      return '';
    default:
      fault(`:${command} is not available here; remove it.`);
      return '';
  }
}

function replaced(text: string, variables: ReadonlyMap<string, string>, problems: Problem[]): string {
  return text.replace(/\$\(([\w-]+)\)/g, (whole, name: string) => {
    const value = variables.get(name.toLowerCase());
    if (value !== undefined) return value;
    problems.push({
      code: 'sqlcmd',
      severity: 'error',
      message: `$(${name}) has no value: write :setvar ${name} "…" before it. Environment variables are never read.`,
    });
    return whole;
  });
}
