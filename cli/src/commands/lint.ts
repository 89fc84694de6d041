import { parseArgs } from 'node:util';
import { parsePlatform } from '../../../protocol/platform.ts';
import { rules } from '../../../server/src/rules/registry.ts';
import { type Command, type CommandContext, UsageError } from '../command.ts';
import { type LintRun, lintFiles } from '../lint/lint-files.ts';
import { silent, terminalProgress } from '../lint/progress.ts';
import { sarifReport } from '../lint/sarif-report.ts';
import { textReport } from '../lint/text-report.ts';
import { exitCodeOf, openFolder, problemLine, readPlatform } from '../open-folder.ts';
import { withPathLists } from '../path-lists.ts';

const options = {
  platform: { type: 'string' },
  ddl: { type: 'string', multiple: true },
  format: { type: 'string', default: 'text' },
  fix: { type: 'boolean', default: false },
} as const;

const formats = ['text', 'json', 'sarif'] as const;
type Format = (typeof formats)[number];

export const lint: Command = {
  name: 'lint',
  summary: 'Checks load scripts together with the DDL of their tables.',
  usage: ['mergewright lint PATH… [--platform P] [--ddl PATH…] [--format text|json|sarif] [--fix]'],
  async run(args, context) {
    const started = performance.now();
    const { values, positionals } = readArguments(args);
    if (positionals.length === 0)
      throw new UsageError('Name the files or folders to check, as in: mergewright lint loads/');
    const format = readFormat(values.format);
    const forced = values.platform === undefined ? null : (parsePlatform(values.platform) ?? null);
    if (values.platform !== undefined) readPlatform(values.platform);
    const folder = await openFolder([...positionals, ...(values.ddl ?? [])], context.cwd, values.platform);
    const run = await lintFiles(positionals, folder, {
      cwd: context.cwd,
      fix: values.fix,
      platform: forced,
      progress:
        format === 'text' && process.stderr.isTTY === true
          ? terminalProgress((text) => process.stderr.write(text))
          : silent,
    });
    for (const problem of run.problems) context.err(problemLine(problem));
    report(run, format, performance.now() - started, context);
    return exitCodeOf(run.files.flatMap(({ diagnostics }) => diagnostics.map(({ severity }) => severity)));
  },
};

/** `--ddl a b` takes both, unless that leaves no path to check. */
function readArguments(args: readonly string[]) {
  const spread = parseArgs({ args: [...withPathLists(args)], allowPositionals: true, options });
  return spread.positionals.length > 0 ? spread : parseArgs({ args: [...args], allowPositionals: true, options });
}

function readFormat(text: string): Format {
  const format = formats.find((name) => name === text);
  if (format === undefined) throw new UsageError(`"${text}" is no format; choose one of ${formats.join(', ')}.`);
  return format;
}

function report(run: LintRun, format: Format, elapsedMs: number, context: CommandContext): void {
  const { files, fixed } = run;
  if (format === 'text') context.out(textReport(files, fixed));
  else if (format === 'sarif') context.out(sarifReport(files, rules));
  else {
    const diagnostics = files.flatMap((file) => file.diagnostics);
    context.out(`${JSON.stringify({ diagnostics, files: files.length, elapsedMs: Math.round(elapsedMs) }, null, 2)}\n`);
  }
}
