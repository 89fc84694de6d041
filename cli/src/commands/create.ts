import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { TableName } from '../../../protocol/catalog.ts';
import { parsePlatform } from '../../../protocol/platform.ts';
import type { GeneratedFile } from '../../../protocol/requests.ts';
import { createTarget, otherDatabase } from '../../../server/src/generate/create.ts';
import { asFileName } from '../../../server/src/generate/file-names.ts';
import { runLog } from '../../../server/src/generate/run-log.ts';
import { type ProposalNames, proposedPatterns } from '../../../server/src/load/propose.ts';
import { formatTableName, parseTableName } from '../../../server/src/model/names.ts';
import { styleOf } from '../../../server/src/workspace/settings.ts';
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
    'mergewright create run-log --target T --platform P [--out DIR] [--json]',
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
    const target = values.target === undefined ? null : parseTableName(values.target);
    if (target === undefined)
      throw new UsageError(
        `--target ${values.target}: write a table name of one to three parts, as in rdv.SatPatient.`,
      );
    if (name === runLogName) {
      const log = runLogFile(target, values.platform);
      if (values.out !== undefined) await writeFiles([log], resolve(context.cwd, values.out));
      if (values.json) context.out(`${JSON.stringify({ files: [log], problems: [] }, null, 2)}\n`);
      else if (values.out === undefined) context.out(log.text);
      return 0;
    }
    const pattern = readPattern(name);
    const folder = await openFolder(values.ddl ?? ['.'], context.cwd, undefined);
    const source = findTable(folder, values.source, '--source');
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
      names: target === null ? {} : namesOf(target),
      style: styleOf(settings, undefined),
    });
    const files = value === null ? [] : [value];
    if (values.out !== undefined) await writeFiles(files, resolve(context.cwd, values.out));
    if (values.json) context.out(`${JSON.stringify({ files, problems: problems.map(diagnosticOf) }, null, 2)}\n`);
    else if (values.out === undefined) context.out(files.map((file) => file.text).join('\n'));
    for (const problem of problems) context.err(problemLine(problem));
    return exitCodeOf(problems.map((problem) => problem.severity));
  },
};

/** The parts of a name that it states. */
function namesOf({ database, schema, table }: TableName): ProposalNames {
  return { table, ...(schema === null ? {} : { schema }), ...(database === null ? {} : { database }) };
}

/** In place of a pattern: the table that `style.runLog` of mergewright.json names. */
const runLogName = 'run-log';

function runLogFile(table: TableName | null, platformText: string | undefined): GeneratedFile {
  const platform = parsePlatform(readTargetPlatform(platformText) ?? '');
  if (table === null || platform === undefined)
    throw new UsageError(
      'Name table and platform, as in: mergewright create run-log --target etl.RunLog --platform sqlserver.',
    );
  const elsewhere = otherDatabase(table, platform);
  if (elsewhere !== null) throw new UsageError(elsewhere.message);
  return { path: `${asFileName(formatTableName(table))}.sql`, text: `${runLog(table, platform.name).table}\n` };
}
