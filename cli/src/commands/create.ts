import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createTarget } from '../../../server/src/generate/create.ts';
import { defaultStyle } from '../../../server/src/generate/style.ts';
import { proposedPatterns } from '../../../server/src/load/propose.ts';
import { parseTableName } from '../../../server/src/model/names.ts';
import { type Command, UsageError } from '../command.ts';
import { findTable } from '../find-table.ts';
import { readOptions, readPattern, readTargetPlatform } from '../load-arguments.ts';
import { diagnosticOf, exitCodeOf, openFolder, problemLine } from '../open-folder.ts';
import { withPathLists } from '../path-lists.ts';
import { writeFiles } from '../write-files.ts';

export const create: Command = {
  name: 'create',
  summary: 'Writes the DDL of a fitting target for a staging table.',
  usage: [
    'mergewright create PATTERN --source T [--target T] [--ddl PATH…] [--platform P] [--set key=value]… [--out DIR] [--json]',
    `patterns: ${proposedPatterns.join(', ')}`,
  ],
  async run(args, context) {
    const { values, positionals } = parseArgs({
      args: [...withPathLists(args)],
      allowPositionals: true,
      options: {
        source: { type: 'string' },
        target: { type: 'string' },
        ddl: { type: 'string', multiple: true },
        platform: { type: 'string' },
        set: { type: 'string', multiple: true },
        out: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
    const [name, ...rest] = positionals;
    if (name === undefined || rest.length > 0) {
      throw new UsageError(
        `Name one pattern, as in: mergewright create satellite --source stg.Patient. Patterns: ${proposedPatterns.join(', ')}.`,
      );
    }
    const pattern = readPattern(name);
    const folder = await openFolder(values.ddl ?? ['.'], context.cwd, undefined);
    const source = findTable(folder, values.source, '--source');
    const target = values.target === undefined ? null : parseTableName(values.target);
    if (target === undefined)
      throw new UsageError(
        `--target ${values.target}: write a table name of one to three parts, as in rdv.SatPatient.`,
      );
    const settings = folder.settingsOf(source.file);
    const { value, problems } = createTarget({
      pattern,
      source,
      platform: readTargetPlatform(values.platform) ?? source.platform,
      options: {
        ...settings.inference.defaults,
        ...settings.inference.patterns[pattern],
        ...readOptions(values.set ?? []),
      },
      names:
        target === null ? {} : { table: target.table, ...(target.schema === null ? {} : { schema: target.schema }) },
      style: { ...defaultStyle, ...settings.style },
    });
    const files = value === null ? [] : [value];
    if (values.out !== undefined) await writeFiles(files, resolve(context.cwd, values.out));
    if (values.json) context.out(`${JSON.stringify({ files, problems: problems.map(diagnosticOf) }, null, 2)}\n`);
    else if (values.out === undefined) context.out(files.map((file) => file.text).join('\n'));
    for (const problem of problems) context.err(problemLine(problem));
    return exitCodeOf(problems.map((problem) => problem.severity));
  },
};
