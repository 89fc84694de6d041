import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { TableName } from '../../../protocol/catalog.ts';
import { optionsOfPattern } from '../../../protocol/load-options.ts';
import { isTsql, parsePlatform } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { GeneratedFile, LoadParameter } from '../../../protocol/requests.ts';
import { type LoadSpecification, type PatternName, patternNames } from '../../../protocol/specification.ts';
import { withDistinctFiles } from '../../../server/src/generate/distinct-names.ts';
import { fileNameOf } from '../../../server/src/generate/file-names.ts';
import { readHeader } from '../../../server/src/generate/header.ts';
import type { GeneratedLoad } from '../../../server/src/generate/types.ts';
import { unsupportedTarget } from '../../../server/src/generate/unsupported-target.ts';
import { inferSpecification, mergeOptions } from '../../../server/src/load/infer.ts';
import { sameIdentifier } from '../../../server/src/model/names.ts';
import type { Folder } from '../../../server/src/workspace/folder.ts';
import { brokenDefinitions, loadOf } from '../../../server/src/workspace/load-of.ts';
import { namedLoadOf, withProcedureName } from '../../../server/src/workspace/named-load.ts';
import { parameterValues } from '../../../server/src/workspace/settings.ts';
import { type Command, type CommandContext, UsageError } from '../command.ts';
import { findNamed, findTable } from '../find-table.ts';
import { readForm, readOptions, readPattern, readShape, readTargetPlatform } from '../load-arguments.ts';
import { diagnosticOf, exitCodeOf, openFolder, problemLine } from '../open-folder.ts';
import { withPathLists } from '../path-lists.ts';
import { writeFiles } from '../write-files.ts';

const options = {
  source: { type: 'string' },
  target: { type: 'string' },
  extra: { type: 'string', multiple: true },
  ddl: { type: 'string', multiple: true },
  platform: { type: 'string' },
  form: { type: 'string' },
  shape: { type: 'string' },
  set: { type: 'string', multiple: true },
  spec: { type: 'string' },
  out: { type: 'string' },
  all: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parse>['values'];

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], allowPositionals: true, options });
}

export const generate: Command = {
  name: 'generate',
  summary: 'Writes the load of a target table, or all loads of a folder.',
  usage: [
    'mergewright generate PATTERN --source T --target T [--ddl PATH…] [--platform P] [--form F] [--shape separate|merge]',
    '                             [--set key=value]… [--spec FILE] [--out DIR] [--json]',
    'mergewright generate --all [--ddl PATH…] [--out DIR]',
    'mergewright generate PATTERN --help',
    'P: sqlserver (2019; others as in sqlserver:2016), azuresql, synapse, fabric, duckdb. F: script, procedure, dynamic-procedure.',
    '--extra ROLE=TABLE: a further table of the load, as in key_list=stg.Keys. --ddl absent: the working folder.',
  ],
  hasOwnHelp: true,
  async run(args, context) {
    const { values, positionals } = parse(withPathLists(args));
    const [pattern, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError(`"${rest.join(' ')}" is one argument too many; name one pattern.`);
    if (values.help && pattern !== undefined) return help(readPattern(pattern), context);
    const folder = await openFolder(values.ddl ?? ['.'], context.cwd, undefined, values.platform);
    const made = values.all ? generateAll(folder, values) : [await generateOne(folder, pattern, values, context)];
    return report(made, values, context);
  },
};

/** One load: its files, or the problems that stand against it. */
interface Made {
  readonly files: readonly GeneratedFile[];
  readonly specification: LoadSpecification | null;
  readonly problems: readonly Problem[];
}

function generateAll(folder: Folder, values: Values): readonly Made[] {
  if (folder.loads.length === 0) {
    throw new UsageError(
      'No load follows from these tables; name a pattern with --source and --target, or write "loads" in mergewright.json.',
    );
  }
  const loads = folder.loads.map(({ specification }) => {
    const wanted = withProcedureName(folder, { ...specification, ...chosen(values, specification) });
    return made(folder, wanted, loadOf(folder, wanted), []);
  });
  return withDistinctFiles(loads);
}

async function generateOne(
  folder: Folder,
  name: string | undefined,
  values: Values,
  context: CommandContext,
): Promise<Made> {
  const file =
    values.spec === undefined ? null : await readSpecification(resolve(context.cwd, values.spec), values.spec);
  if (name === undefined && file === null) {
    throw new UsageError(
      `Name a pattern, as in: mergewright generate satellite --source T --target T --ddl ddl/. Patterns: ${patternNames.join(', ')}.`,
    );
  }
  const pattern = name === undefined ? (file?.pattern ?? 'satellite') : readPattern(name);
  const table = (role: 'source' | 'target') =>
    values[role] === undefined && file !== null
      ? findNamed(folder, file[role], `"${role}" of --spec ${values.spec}`)
      : findTable(folder, values[role], `--${role}`);
  const source = table('source');
  const target = table('target');
  const settings = folder.settingsOf(target.file);
  const stated = settings.inference.loads.find(
    (load) =>
      load.pattern === pattern &&
      folder.catalog.lookup.one(load.source) === source &&
      folder.catalog.lookup.one(load.target) === target,
  );
  const extra = { ...stated?.extra, ...file?.extra, ...readExtra(folder, values.extra ?? []) };
  const form = readForm(values.form) ?? file?.form ?? stated?.form ?? settings.form;
  const shape = readShape(values.shape) ?? file?.shape ?? stated?.shape ?? settings.shape;
  const platform = readTargetPlatform(values.platform) ?? file?.platform ?? stated?.platform ?? target.platform;
  const unsupported = unsupportedTarget({ pattern, platform, form: form ?? 'script' });
  if (unsupported.length > 0) return { files: [], specification: null, problems: unsupported };
  const inferred = inferSpecification(
    {
      pattern,
      source,
      target,
      platform,
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
      ...(form === null || form === undefined ? {} : { form }),
      ...(shape === null || shape === undefined ? {} : { shape }),
      options: mergeOptions(stated?.options ?? {}, file?.options ?? {}, readOptions(values.set ?? [])),
    },
    folder.catalog,
    settings.inference,
  );
  const broken = brokenDefinitions(folder, [source, target]);
  if (broken.length > 0 || inferred.value === null) {
    return {
      files: [],
      specification: null,
      problems: broken.length > 0 ? broken.slice(0, 1) : inferred.problems,
    };
  }
  const written = values.out === undefined ? [] : await writtenIn(resolve(context.cwd, values.out), inferred.value);
  return made(folder, inferred.value, namedLoadOf(folder, inferred.value, written), inferred.problems);
}

/** The load whose file has the usual name of this one's in the folder that is written to. */
async function writtenIn(out: string, specification: LoadSpecification): Promise<readonly LoadSpecification[]> {
  const text = await readFile(join(out, `${fileNameOf(specification)}.sql`), 'utf8').catch(() => '');
  const found = readHeader(text);
  return found === null ? [] : [found];
}

function made(
  folder: Folder,
  specification: LoadSpecification,
  { value, problems }: Outcome<GeneratedLoad | null>,
  before: readonly Problem[],
): Made {
  return {
    files: value?.files ?? [],
    specification: value?.specification ?? null,
    problems: [...before, ...problems, ...valuelessParameters(folder, specification, value?.parameters ?? [])],
  };
}

/** Says which parameters the load cannot go without, and where their values come from. */
function valuelessParameters(
  folder: Folder,
  specification: LoadSpecification,
  parameters: readonly LoadParameter[],
): readonly Problem[] {
  const missing = parameters.filter(({ isRequired, value }) => isRequired === true && value === null);
  if (missing.length === 0) return [];
  const names = missing.map(({ name }) => name);
  const target = folder.catalog.lookup.one(specification.target);
  const stated =
    target === undefined ? [] : Object.keys(parameterValues(folder.settingsOf(target.file), specification));
  const unused = stated.filter((key) => !parameters.some(({ name }) => sameIdentifier(name, key)));
  const message = [
    `${names.join(', ')} ${names.length === 1 ? 'has no value and fills a NOT NULL column' : 'have no value and fill NOT NULL columns'}, so no row can be written`,
    `: give ${names.map((name) => `--param ${name}=VALUE`).join(' ')} to preview and run`,
    `, or write "parameters": {${names.map((name) => `"${name}": "VALUE"`).join(', ')}} in mergewright.json.`,
    unused.length === 0 ? '' : ` Its value for ${unused.join(', ')} is for no parameter of this load.`,
  ].join('');
  const place = target === undefined ? {} : { file: target.file, range: target.range };
  return [{ code: 'parameter-without-value', severity: 'info', message, ...place }];
}

async function report(made: readonly Made[], values: Values, context: CommandContext): Promise<number> {
  const problems = made.flatMap((load) => load.problems);
  const files = made.flatMap((load) => load.files);
  for (const problem of problems) if (!values.json || problem.severity === 'error') context.err(problemLine(problem));
  if (values.out !== undefined) await writeFiles(files, resolve(context.cwd, values.out));
  if (values.json) {
    const specifications = made.map((load) => load.specification);
    const shown = values.all ? { specification: null, specifications } : { specification: specifications[0] ?? null };
    context.out(`${JSON.stringify({ files, ...shown, problems: problems.map(diagnosticOf) }, null, 2)}\n`);
  } else if (values.out !== undefined) for (const file of files) context.out(`${join(values.out, file.path)}\n`);
  else context.out(printed(made));
  return exitCodeOf(problems.map((problem) => problem.severity));
}

/** Texts for a terminal or one file: each of several under its name, and in a batch of its own where GO ends one. */
function printed(made: readonly Made[]): string {
  const texts = made.flatMap(({ files, specification }) => {
    const platform = parsePlatform(specification?.platform ?? '');
    const end = platform !== undefined && isTsql(platform.name) ? 'GO\n' : '';
    return files.map(({ path, text }) => ({ text, named: `-- File: ${path}\n${text}${end}` }));
  });
  return texts.length === 1 ? (texts[0]?.text ?? '') : texts.map(({ named }) => named).join('\n');
}

function help(pattern: PatternName, context: CommandContext): number {
  const lines = optionsOfPattern(pattern).map(([name, option]) => {
    const values = option.type.kind === 'choice' ? ` (${option.type.values.join(', ')})` : '';
    return `  ${name.padEnd(26)}${option.description}${values}`;
  });
  context.out(
    `Options of ${pattern}, for --set key=value and mergewright.json; values in JSON, texts also without quotes:\n${lines.join('\n')}\n`,
  );
  return 0;
}

function chosen(values: Values, specification: LoadSpecification): Partial<LoadSpecification> {
  const platform = readTargetPlatform(values.platform);
  const form = readForm(values.form);
  const shape = readShape(values.shape);
  return {
    ...(platform === null ? {} : { platform }),
    ...(form === null ? {} : { form }),
    ...(shape === null ? {} : { shape }),
    options: mergeOptions(specification.options, readOptions(values.set ?? [])),
  };
}

function readExtra(folder: Folder, extras: readonly string[]): Readonly<Record<string, TableName>> {
  return Object.fromEntries(
    extras.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1) throw new UsageError(`--extra ${text}: write ROLE=TABLE, as in key_list=stg.Keys.`);
      return [
        text.slice(0, equals),
        findTable(folder, text.slice(equals + 1), `--extra ${text.slice(0, equals)}`).name,
      ] as const;
    }),
  );
}

async function readSpecification(path: string, shown: string): Promise<LoadSpecification> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new UsageError(`--spec ${shown} can't be read; name a file with a load specification in JSON.`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--spec ${shown} is no valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { specificationFrom } = await import('../specification-file.ts');
  return specificationFrom(json, shown);
}
