import { isSpark, isTsql, type PlatformName, parsePlatform } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { ExecutableLoad } from '../../../protocol/requests.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { callFileOf } from '../generate/file-names.ts';
import { readHeader } from '../generate/header.ts';
import { bindParameters, boundValues, missingParameters, withoutBlock } from '../generate/parameters.ts';
import type { GeneratedLoad } from '../generate/types.ts';
import { readMentions } from '../model/mentions.ts';
import { formatTableName, sameIdentifier } from '../model/names.ts';
import { splitBatches } from '../syntax/batches.ts';
import { findAll, problemsOf, tableNameOf, unitsOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import { detectPlatform } from '../syntax/platform.ts';
import type { Script, Unit } from '../syntax/tree.ts';
import { dryRunRefusal } from './dry-run.ts';
import type { Folder } from './folder.ts';
import { loadOf } from './load-of.ts';
import { readsOnly } from './reads-only.ts';
import { outerTables } from './script-preview/changes.ts';
import type { KnownProcedure } from './script-preview/procedures.ts';
import { previewScript } from './script-preview/script-preview.ts';
import { placed, type ScriptSection } from './sqlcmd.ts';

export interface ExecutableRequest {
  /** The script; absent: the load is generated from the specification. */
  readonly text?: string;
  /** Absent: the one in the script's header, if it has one. */
  readonly specification?: LoadSpecification;
  /** The connection's platform. */
  readonly platform: PlatformName;
  /** Values of parameters by name. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly title: string;
  /** What `calledProcedures` finds for the text; a preview follows calls of these. */
  readonly procedures?: readonly KnownProcedure[];
  /** Where the lines of the text come from; absent where all are the script's own. */
  readonly sections?: readonly ScriptSection[];
}

/**
 * What a run or a preview of a load sends to a connection.
 *
 * A script runs as it is, but for the values of its marked parameters, wherever its platform is the connection's. On the
 * embedded engine a script of another platform runs by its specification instead: the text is generated again for the
 * engine, and only if the script still says what its specification says. A preview comes from the specification, or from the text of a script without.
 */
export function executableLoad(folder: Folder, request: ExecutableRequest): Outcome<ExecutableLoad | null> {
  const { value, problems } = loadOfRequest(folder, request);
  if (value === null) return { value, problems };
  return { value: { ...value, batches: placed(value.batches, request.sections ?? []) }, problems };
}

function loadOfRequest(folder: Folder, request: ExecutableRequest): Outcome<ExecutableLoad | null> {
  const { text } = request;
  const stated = text === undefined ? null : (readHeader(text) ?? calledSpecification(folder, request, text));
  const specification = request.specification ?? stated;
  if (specification === null) return handWritten(folder, request, text ?? '');
  const own = text === undefined ? null : ownPlatform(specification);
  const isAtHome = own !== null && runsOn(own, request.platform);
  return isAtHome && text !== undefined
    ? asWritten(folder, request, specification, text, own)
    : translated(folder, request, specification, text);
}

/** A script with a specification on its own platform. */
function asWritten(
  folder: Folder,
  request: ExecutableRequest,
  specification: LoadSpecification,
  text: string,
  platform: PlatformName,
): Outcome<ExecutableLoad | null> {
  if (onlyCreatesProcedure(text, platform)) return asCreated(folder, request, specification, text);
  const bound = bindParameters(text, request.parameters, platform);
  if (bound.problems.length > 0) return { value: null, problems: bound.problems };
  const values = { ...boundValues(text, platform), ...request.parameters };
  const { value: load, problems } = loadOf(folder, specification, values);
  const refusal = previewRefusal(load, problems, text);
  const value: ExecutableLoad = {
    title: titleOf(specification),
    specification,
    text: bound.value,
    batches: splitBatches(bound.value, platform),
    preview: refusal === null ? (load?.preview?.() ?? null) : null,
    previewRefusal: refusal,
    parameters: load?.parameters ?? [],
    missingParameters: missingParameters(bound.value, load?.parameters ?? [], platform),
    readsOnly: false,
    dryRunRefusal: dryRunRefusal(bound.value, request.platform),
  };
  return { value, problems: [] };
}

/**
 * A script that creates the procedure of its load. A run sends it as it is, since the values are given where the procedure is
 * called; a preview counts with them.
 */
function asCreated(
  folder: Folder,
  request: ExecutableRequest,
  specification: LoadSpecification,
  text: string,
): Outcome<ExecutableLoad | null> {
  const { value: load, problems } = loadOf(folder, specification, request.parameters);
  const callFile = callFileOf(specification);
  const call = load?.files.find(({ path }) => path === callFile);
  if (call !== undefined) {
    const bound = bindParameters(call.text, request.parameters, ownPlatform(specification));
    if (bound.problems.length > 0) return { value: null, problems: bound.problems };
  }
  const parameters = load?.parameters ?? [];
  // Values would stand as the procedure's defaults: the text is compared without them.
  const written = Object.keys(request.parameters).length === 0 ? load : loadOf(folder, specification).value;
  const refusal = previewRefusal(written, problems, text);
  const value: ExecutableLoad = {
    title: titleOf(specification),
    specification,
    text,
    batches: splitBatches(text, ownPlatform(specification)),
    preview: refusal === null ? (load?.preview?.() ?? null) : null,
    previewRefusal: refusal,
    parameters,
    missingParameters: parameters.flatMap(({ name, value: of, isRequired }) =>
      isRequired === true && of === null ? [name] : [],
    ),
    readsOnly: false,
    dryRunRefusal: dryRunRefusal(text, request.platform),
    callFile: callFileOf(specification, request.title),
  };
  return { value, problems: [] };
}

function onlyCreatesProcedure(text: string, platform: PlatformName): boolean {
  const kinds = unitsOf(parse(text, { platform })).map(({ statement }) => statement.kind);
  return kinds.includes('create-procedure') && !kinds.includes('execute');
}

/**
 * The specification behind a generated call of a procedure, which has no header of its own: the one in the header of the
 * procedure's file, as long as both files are what it gives.
 */
function calledSpecification(folder: Folder, request: ExecutableRequest, text: string): LoadSpecification | null {
  for (const { text: definition } of request.procedures ?? []) {
    const specification = readHeader(definition);
    const load = specification === null ? null : loadOf(folder, specification).value;
    if (load !== null && equalsRegeneration(definition, load) && equalsRegeneration(text, load)) return specification;
  }
  return null;
}

/** The load for another platform than the script's, or without a script. */
function translated(
  folder: Folder,
  request: ExecutableRequest,
  specification: LoadSpecification,
  text: string | undefined,
): Outcome<ExecutableLoad | null> {
  const own = ownPlatform(specification);
  const isForeign = !runsOn(own, request.platform);
  const wanted: LoadSpecification = isForeign
    ? { ...specification, platform: request.platform, form: 'script' }
    : { ...specification, form: specification.form === 'procedure' ? 'script' : specification.form };
  const values = { ...(text === undefined ? {} : boundValues(text, own)), ...request.parameters };
  if (text !== undefined) {
    const { value: twin, problems } = loadOf(folder, specification);
    if (twin === null) return { value: null, problems };
    if (!equalsRegeneration(text, twin)) {
      return refused(
        'changed-script',
        `This ${own} script is no longer what its specification gives, so it can't be translated for ${request.platform}; generate it again, or run it on ${own}.`,
      );
    }
  }
  const { value: load, problems } = loadOf(folder, wanted, values);
  if (load === null || problems.some(({ severity }) => severity === 'error')) return { value: null, problems };
  const main = load.batches.map((batch) => batch.text).join('\nGO\n');
  const bound = bindParameters(main, values, request.platform);
  if (bound.problems.length > 0) return { value: null, problems: bound.problems };
  const refusal = load.preview === null ? noRowEffect : null;
  const value: ExecutableLoad = {
    title: titleOf(specification),
    specification: load.specification,
    text: bound.value,
    batches: splitBatches(bound.value, request.platform),
    preview: load.preview?.() ?? null,
    previewRefusal: refusal,
    parameters: load.parameters,
    missingParameters: missingParameters(bound.value, load.parameters, request.platform),
    readsOnly: false,
    dryRunRefusal: dryRunRefusal(bound.value, request.platform),
  };
  return { value, problems };
}

/** A script of which only its text is known. */
function handWritten(folder: Folder, request: ExecutableRequest, text: string): Outcome<ExecutableLoad | null> {
  const { platform } = request;
  const guessed = detectPlatform(text) ?? (platform === 'duckdb' ? tablesPlatform(folder, text) : undefined);
  const isForeign = platform === 'duckdb' && guessed !== undefined && guessed !== 'duckdb';
  if (isForeign && splitBatches(text, guessed).length > 0) {
    return refused(
      'foreign-script',
      `This script is written for ${guessed} and has no specification in its header, so it can't run on the embedded engine; run it on a ${guessed} connection.`,
    );
  }
  const bound = bindParameters(text, request.parameters, platform);
  if (bound.problems.length > 0) return { value: null, problems: bound.problems };
  const preview = previewScript(bound.value, platform, {
    tableOf: (name) => folder.catalog.lookup.one(name),
    isView: (table) => folder.isView(table),
    procedures: request.procedures ?? [],
  });
  const value: ExecutableLoad = {
    title: request.title,
    specification: null,
    text: bound.value,
    batches: isForeign ? [] : splitBatches(bound.value, platform),
    preview: preview.plan,
    previewRefusal: preview.refusal,
    parameters: [],
    readsOnly: readsOnly(bound.value, platform),
    dryRunRefusal: dryRunRefusal(bound.value, platform),
  };
  return { value, problems: [] };
}

/**
 * The platform of the tables that a text without signs of its own names, where the text reads as that platform's and not as
 * the embedded engine's. What the engine understands stays the engine's, whatever its tables were defined for.
 */
function tablesPlatform(folder: Folder, text: string): PlatformName | undefined {
  const { lookup, tables } = folder.catalog;
  const own = parse(text, { platform: 'duckdb' });
  if (problemsOf(own).length === 0 && !writesToAlias(own, unitsOf(own))) return undefined;
  const platforms = new Set(tables.map((table) => table.platform).filter((platform) => platform !== 'duckdb'));
  return [...platforms].find((platform) => {
    const script = parse(text, { platform });
    const named = readMentions(script).map(({ name }) => lookup.one(name)?.platform);
    return problemsOf(script).length === 0 && named.includes(platform);
  });
}

/**
 * `UPDATE t … FROM x AS t` and `DELETE t FROM x AS t` pass the embedded engine's tolerant grammar, but only T-SQL takes an
 * alias of FROM as target.
 */
function writesToAlias({ text }: Script, units: readonly Unit[]): boolean {
  return units.some(({ statement, offset }) => {
    const lacksFrom = findAll(statement, 'delete').some(({ start, with: clause, target }) => {
      const head = text.slice(offset + (clause?.end ?? start), offset + target.start);
      return !/\bFROM\b/i.test(head);
    });
    const takesAlias = findAll(statement, 'update').some(({ target, from }) => {
      const name = target.kind === 'table' ? tableNameOf(target.name) : null;
      const aliases = from.flatMap(outerTables).flatMap(({ alias }) => alias?.name ?? []);
      return name !== null && name.schema === null && aliases.some((alias) => sameIdentifier(alias, name.table));
    });
    return lacksFrom || takesAlias;
  });
}

const noRowEffect = 'The load defines its target as a view, so there are no changes to preview.';

function previewRefusal(load: GeneratedLoad | null, problems: readonly Problem[], text: string): string | null {
  if (load === null) return problems[0]?.message ?? 'The load of its specification could not be made.';
  if (!equalsRegeneration(text, load))
    return 'The script is no longer what its specification gives; generate it again to preview it.';
  return load.preview === null ? noRowEffect : null;
}

/** Line ends, a byte order mark and the values of parameters do not count. */
function equalsRegeneration(text: string, load: GeneratedLoad): boolean {
  const plain = (one: string) => withoutBlock(one.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')).trimEnd();
  return load.files.some((file) => plain(file.text) === plain(text));
}

function ownPlatform(specification: LoadSpecification): PlatformName {
  return parsePlatform(specification.platform)?.name ?? 'sqlserver';
}

/** An address says SQL Server for the whole family; a script of the family runs there as it is. */
function runsOn(own: PlatformName, connection: PlatformName): boolean {
  return own === connection || (isTsql(own) && isTsql(connection)) || (isSpark(own) && isSpark(connection));
}

function titleOf({ pattern, source, target }: LoadSpecification): string {
  return `${formatTableName(target)} · ${pattern} from ${formatTableName(source)}`;
}

function refused(code: string, message: string): Outcome<null> {
  return { value: null, problems: [{ code, severity: 'error', message }] };
}
