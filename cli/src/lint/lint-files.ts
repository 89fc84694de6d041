import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Platform, parsePlatform } from '../../../protocol/platform.ts';
import type { Diagnostic, Outcome, Problem } from '../../../protocol/problem.ts';
import { applyEdits, safeEdits } from '../../../server/src/rules/engine/actions.ts';
import { lint } from '../../../server/src/rules/engine/lint.ts';
import { rules } from '../../../server/src/rules/registry.ts';
import { decodeBytes } from '../../../server/src/syntax/encoding.ts';
import { lintSettingsOf } from '../../../server/src/workspace/diagnostics.ts';
import type { Folder } from '../../../server/src/workspace/folder.ts';
import { fitsGlob, folderOf } from '../../../server/src/workspace/port.ts';
import { isPythonFile, parseFile, withPythonFixes } from '../../../server/src/workspace/python.ts';
import { regenerateIn } from '../../../server/src/workspace/regeneration.ts';
import { UsageError } from '../command.ts';
import { NodeFiles } from '../files.ts';
import type { Progress } from './progress.ts';

/** A checked file with the text that its findings point into. */
export interface LintedFile {
  readonly file: string;
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface LintRun {
  readonly files: readonly LintedFile[];
  /** Files that `--fix` wrote. */
  readonly fixed: number;
  readonly problems: readonly Problem[];
}

export interface LintOptions {
  readonly cwd: string;
  readonly fix: boolean;
  /** Forces the platform, with its version, on every file. */
  readonly platform: Platform | null;
  readonly progress: Progress;
}

/** Passes of `--fix`: a fix may make room for another one, but never for ever. */
const mostPasses = 10;

/** Checks the SQL files of some paths against the folder's tables and settings; with `fix`, writes safe fixes first. */
export async function lintFiles(paths: readonly string[], folder: Folder, options: LintOptions): Promise<LintRun> {
  const port = new NodeFiles(options.cwd);
  const names = await sqlFiles(paths, folder, port);
  const files: LintedFile[] = [];
  const problems: Problem[] = [];
  let fixed = 0;
  for (const [index, file] of names.entries()) {
    options.progress.show(index, names.length, file);
    const bytes = await port.read(file);
    if (bytes === undefined) throw new UsageError(`${file} cannot be read; check its permissions.`);
    const before = decodeBytes(bytes).text;
    const { text, outcome } = lintText(before, file, folder, options);
    if (text !== before) {
      await writeFile(resolve(options.cwd, file), text);
      fixed += 1;
    }
    files.push({ file, text, diagnostics: outcome.value });
    problems.push(...outcome.problems);
  }
  options.progress.done();
  return { files, fixed, problems };
}

function lintText(before: string, file: string, folder: Folder, options: LintOptions) {
  let text = before;
  for (let pass = 0; ; pass += 1) {
    const outcome = check(text, file, folder, options);
    if (!options.fix || pass === mostPasses) return { text, outcome };
    const edits = safeEdits(outcome.value, text);
    if (edits.length === 0) return { text, outcome };
    text = applyEdits(text, edits);
  }
}

function check(text: string, file: string, folder: Folder, options: LintOptions): Outcome<readonly Diagnostic[]> {
  const script = parseFile(file, text, folder.platformOf(file, text));
  if (script === null) return { value: [], problems: [] };
  const name = script.platform;
  const stated = options.platform ?? parsePlatform(folder.settingsOf(file).platform ?? '');
  const outcome = lint({
    script,
    file,
    platform: stated?.name === name ? stated : { name },
    rules,
    tables: folder.catalog.tables,
    objects: folder.objects,
    settings: lintSettingsOf(folder, file, text),
    regenerate: regenerateIn(folder),
  });
  return isPythonFile(file) ? { ...outcome, value: withPythonFixes(outcome.value, text) } : outcome;
}

/**
 * Every `.sql` file and every Python file with SQL below the paths that the settings do not exclude; a file named by
 * itself is always taken.
 */
async function sqlFiles(paths: readonly string[], folder: Folder, port: NodeFiles): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const name = port.nameOf(path);
    const files = await port.list(name);
    if (files.length === 0) throw new UsageError(`${path} does not exist or is empty; name a .sql file or a folder.`);
    const isSql = (file: string) =>
      /\.sql$/i.test(file) || (isPythonFile(file) && folder.definitionsOf(file) !== undefined);
    found.push(...files.filter((file) => file === name || (isSql(file) && !isExcluded(file, folder))));
  }
  return [...new Set(found)];
}

function isExcluded(file: string, folder: Folder): boolean {
  const settings = folder.settingsOf(file);
  const top = settings.file === null ? '.' : folderOf(settings.file);
  const relative = top === '.' ? file : file.slice(top.length + 1);
  return settings.exclude.some((pattern) => fitsGlob(relative, pattern));
}
