import { type PlatformName, parsePlatform, platformNames } from '../../protocol/platform.ts';
import type { Diagnostic, Problem, Severity } from '../../protocol/problem.ts';
import { Folder } from '../../server/src/workspace/folder.ts';
import { UsageError } from './command.ts';
import { NodeFiles } from './files.ts';

/**
 * Reads DDL files and folders. A path that leads to nothing is wrong usage, and so is a `mergewright.json` that can't be
 * used: nothing is done with half of the settings.
 *
 * @param platform every file is of it
 * @param expected files are of it where neither their folder nor their own syntax says otherwise
 */
export async function openFolder(
  paths: readonly string[],
  cwd: string,
  platform: string | undefined,
  expected?: string,
): Promise<Folder> {
  const files = new NodeFiles(cwd);
  const forced = platform === undefined ? undefined : readPlatform(platform);
  const folder = new Folder(files, '.', {
    ...(forced === undefined ? {} : { forcedPlatform: forced }),
    ...(expected === undefined ? {} : { platform: readPlatform(expected) }),
  });
  const missing = await folder.read(paths.map((path) => files.nameOf(path)));
  const [first] = missing;
  if (first !== undefined)
    throw new UsageError(
      `${first} does not exist or is empty; name a .sql file, a .dacpac, a .sqlproj or a folder that holds them.`,
    );
  const broken = folder.problems.find((problem) => problem.severity === 'error' && problem.code !== 'syntax');
  if (broken !== undefined) throw new UsageError(`${placeOf(broken)}${broken.message}`);
  return folder;
}

/** The platform's name in `sqlserver:2016`; unknown ones are wrong usage. */
export function readPlatform(text: string): PlatformName {
  const platform = parsePlatform(text);
  if (platform === undefined)
    throw new UsageError(`"${text}" is no platform; choose one of ${platformNames.join(', ')}, or sqlserver:VERSION.`);
  return platform.name;
}

/** A problem in the shape that every `problems` list of the command line has. */
export function diagnosticOf(problem: Problem): Diagnostic {
  const start = { line: 0, character: 0 };
  return {
    file: problem.file ?? '',
    range: problem.range ?? { start, end: start },
    rule: problem.code,
    hazards: hazardsOf[problem.code] ?? [],
    severity: problem.severity,
    message: problem.message,
    why: '',
    help: '',
    url: '',
    fixes: [],
  };
}

/** Hazards of the catalogue that problems of generation stand for. */
const hazardsOf: Readonly<Record<string, readonly string[]>> = { 'no-primary-key': ['P16'] };

/** One line for a terminal: place, severity, message. */
export function problemLine(problem: Problem): string {
  return `${placeOf(problem)}${problem.severity}: ${problem.message}`;
}

function placeOf(problem: Problem): string {
  if (problem.file === undefined) return '';
  return problem.range === undefined ? `${problem.file}: ` : `${problem.file}:${problem.range.start.line + 1}: `;
}

/** Exit code of findings: 1 at warning or above. */
export function exitCodeOf(severities: readonly Severity[]): number {
  return severities.some((severity) => severity === 'error' || severity === 'warning') ? 1 : 0;
}
