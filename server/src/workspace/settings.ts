import type { TableName } from '../../../protocol/catalog.ts';
import type { MergewrightJson } from '../../../protocol/mergewright-json.ts';
import type { PlatformName } from '../../../protocol/platform.ts';
import type { Severity } from '../../../protocol/problem.ts';
import type { FormName, LoadOptions, LoadSpecification, PatternName, Shape } from '../../../protocol/specification.ts';
import { runLog } from '../generate/run-log.ts';
import { defaultStyle } from '../generate/style.ts';
import type { HouseStyle } from '../generate/types.ts';
import type { InferenceSettings, StatedLoad } from '../load/infer.ts';
import type { Conventions } from '../model/conventions.ts';
import { defaultConventions } from '../model/default-conventions.ts';
import { nameFits, parseTableName } from '../model/names.ts';
import { folderOf, joinPath } from './port.ts';

/** What a `mergewright.json` says, ready for use; every field has a default. */
export interface FolderSettings {
  /** The file they come from; null for the defaults. */
  readonly file: string | null;
  readonly platform: string | null;
  readonly form: FormName | null;
  readonly shape: Shape | null;
  readonly out: string | null;
  readonly exclude: readonly string[];
  readonly inference: InferenceSettings;
  readonly parameters: Readonly<Record<string, string>>;
  readonly loadParameters: readonly StatedParameters[];
  readonly style: Partial<HouseStyle>;
  /** Where loads log their runs; null where they do not. */
  readonly runLog: TableName | null;
  readonly rules: Readonly<Record<string, Severity | 'off'>>;
}

interface StatedParameters {
  readonly load: StatedLoad;
  readonly values: Readonly<Record<string, string>>;
}

export const defaultSettings: FolderSettings = {
  file: null,
  platform: null,
  form: null,
  shape: null,
  out: null,
  exclude: [],
  inference: { conventions: defaultConventions, defaults: {}, patterns: {}, loads: [] },
  parameters: {},
  loadParameters: [],
  style: {},
  runLog: null,
  rules: {},
};

/** Makes the settings that a checked `mergewright.json` describes. */
export function settingsFrom(json: MergewrightJson, file: string): FolderSettings {
  const { runLog, ...style } = json.style ?? {};
  const loads = (json.loads ?? []).flatMap((load) => {
    const stated = statedLoad(load);
    return stated === null ? [] : [{ load: stated, values: load.parameters ?? {} }];
  });
  return {
    file,
    platform: json.platform ?? null,
    form: json.form ?? null,
    shape: json.shape ?? null,
    out: json.out ?? null,
    exclude: json.exclude ?? [],
    inference: {
      conventions: conventionsFrom(json),
      defaults: optionsFrom(json.options),
      patterns: patternsFrom(json),
      loads: loads.map(({ load }) => load),
      ...(json.form === undefined ? {} : { form: json.form }),
      ...(json.shape === undefined ? {} : { shape: json.shape }),
    },
    parameters: json.parameters ?? {},
    loadParameters: loads,
    style: withoutUndefined(style) as Partial<HouseStyle>,
    runLog: parseTableName(runLog ?? '') ?? null,
    rules: json.rules ?? {},
  };
}

/** The house style of a folder as it holds on a platform: its run log as hooks, where it states none of its own. */
export function styleOf({ style, runLog: table }: FolderSettings, platform: PlatformName | undefined): HouseStyle {
  const logged = table === null || platform === undefined ? {} : runLog(table, platform).hooks;
  return { ...defaultStyle, ...style, hooks: { ...logged, ...style.hooks } };
}

/** The folder that the settings name for generated files; null where they name none. */
export function generatedFolder({ file, out }: FolderSettings): string | null {
  return file === null || out === null ? null : joinPath(folderOf(file), out);
}

/** Values of a load's parameters: the folder's, and those of the load's own entry. An empty text is a place for a value. */
export function parameterValues(
  settings: FolderSettings,
  specification: LoadSpecification,
): Readonly<Record<string, string>> {
  const own = settings.loadParameters.find(
    ({ load }) =>
      load.pattern === specification.pattern &&
      nameFits(load.source, specification.source) &&
      nameFits(load.target, specification.target),
  );
  const values = Object.entries({ ...settings.parameters, ...own?.values });
  return Object.fromEntries(values.filter(([, value]) => value !== ''));
}

function statedLoad(load: NonNullable<MergewrightJson['loads']>[number]): StatedLoad | null {
  const source = parseTableName(load.source);
  const target = parseTableName(load.target);
  if (source === undefined || target === undefined) return null;
  const extra = Object.entries(load.extra ?? {}).flatMap(([role, text]) => {
    const name = parseTableName(text);
    return name === undefined ? [] : [[role, name] as const];
  });
  const { form, shape } = load;
  return {
    pattern: load.pattern,
    source,
    target,
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
    ...(load.platform === undefined ? {} : { platform: load.platform }),
    ...(form === undefined ? {} : { form }),
    ...(shape === undefined ? {} : { shape }),
    options: optionsFrom(load.options),
  };
}

/** The schema has checked names and types of all options. */
function optionsFrom(options: MergewrightJson['options']): LoadOptions {
  return withoutUndefined(options ?? {}) as LoadOptions;
}

function patternsFrom(json: MergewrightJson): Partial<Record<PatternName, LoadOptions>> {
  return Object.fromEntries(
    Object.entries(json.patterns ?? {}).map(([pattern, options]) => [pattern, optionsFrom(options)]),
  );
}

function conventionsFrom(json: MergewrightJson): Conventions {
  const stated = json.conventions ?? {};
  return {
    columns: merged(defaultConventions.columns, stated.columns) as Conventions['columns'],
    tables: merged(defaultConventions.tables, stated.tables),
    schemas: merged(defaultConventions.schemas, stated.schemas),
    ignoredAffixes: [...defaultConventions.ignoredAffixes, ...(stated.ignoredAffixes ?? [])],
    keySuffixes: [...defaultConventions.keySuffixes, ...(stated.keySuffixes ?? [])],
    corrections: (json.tables ?? []).map((table) => ({
      table: table.table,
      ...(table.role === undefined ? {} : { role: table.role }),
      ...(table.key === undefined ? {} : { key: table.key }),
      ...(table.columns === undefined ? {} : { columns: table.columns }),
    })),
  };
}

/** A house's own patterns go before the known families. */
function merged(
  known: Readonly<Record<string, readonly string[] | undefined>>,
  stated: Readonly<Record<string, readonly string[] | undefined>> = {},
): Readonly<Record<string, readonly string[]>> {
  const names = [...new Set([...Object.keys(stated), ...Object.keys(known)])];
  return Object.fromEntries(names.map((name) => [name, [...(stated[name] ?? []), ...(known[name] ?? [])]]));
}

function withoutUndefined(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}
