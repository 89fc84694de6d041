/**
 * Load specifications from tables: which staging table fills which target by which pattern, and the options that follow
 * from their columns. What a person stated goes before what is inferred.
 */
import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { FormName, LoadOptions, LoadSpecification, PatternName, Shape } from '../../../protocol/specification.ts';
import type { TableCatalog } from '../model/catalog.ts';
import type { Conventions } from '../model/conventions.ts';
import { fitOf } from '../model/matching.ts';
import { sameIdentifier } from '../model/names.ts';
import { type Inferred, makePair, type Pair, problemAt, shownName } from './infer/pair.ts';
import { inferBridge, inferEndDatingView, inferPit, inferStaged } from './infer/rebuilt.ts';
import {
  inferEffectivitySatellite,
  inferExtendedTracking,
  inferHub,
  inferLink,
  inferMultiActiveSatellite,
  inferRecordTracking,
  inferSatellite,
  inferStatusTracking,
} from './infer/vault.ts';
import {
  inferChangeFeed,
  inferCurrentColumns,
  inferInactivation,
  inferLog,
  inferOneRow,
  inferPrevious,
  inferTimestampVersions,
  inferVersions,
} from './infer/versions.ts';
import { satelliteNameColumn, trackedHashdiffColumn } from './vault/extended-tracking.ts';

/** What a person asks for; absent parts are inferred. */
export interface LoadRequest {
  readonly pattern: PatternName;
  readonly source: CatalogTable;
  readonly target: CatalogTable;
  readonly extra?: Readonly<Record<string, TableName>>;
  readonly platform?: string;
  readonly form?: FormName;
  readonly shape?: Shape;
  readonly options?: LoadOptions;
}

/** A load that a person wrote down (`loads` in mergewright.json): pattern and tables choose it, the rest is stated. */
export interface StatedLoad {
  readonly pattern: PatternName;
  readonly source: TableName;
  readonly target: TableName;
  readonly extra?: Readonly<Record<string, TableName>>;
  readonly platform?: string;
  readonly form?: FormName;
  readonly shape?: Shape;
  readonly options?: LoadOptions;
}

/** House rules for inferred loads. */
export interface InferenceSettings {
  readonly conventions: Conventions;
  /** Options for every load, and for every load of a pattern. */
  readonly defaults: LoadOptions;
  readonly patterns: Readonly<Partial<Record<PatternName, LoadOptions>>>;
  readonly loads: readonly StatedLoad[];
  /** Form and shape of loads that name none. */
  readonly form?: FormName;
  readonly shape?: Shape;
}

const inferences: Readonly<Record<PatternName, (pair: Pair) => Inferred>> = {
  satellite: inferSatellite,
  ma_satellite: inferMultiActiveSatellite,
  eff_satellite: inferEffectivitySatellite,
  status_tracking_satellite: inferStatusTracking,
  record_tracking_satellite: inferRecordTracking,
  xts: inferExtendedTracking,
  hub: inferHub,
  link: inferLink,
  nh_link: (pair) => withoutRepeats(inferLink(pair)),
  reference_table: (pair) => inferOneRow(pair, null),
  ghost_records: (pair) => withGhosts(inferSatellite(pair)),
  pit: inferPit,
  bridge: inferBridge,
  satellite_end_dating_view: inferEndDatingView,
  stage_null_keys: (pair) => inferStaged(pair, 'stage'),
  hash: (pair) => inferStaged(pair, 'hash'),
  scd0: (pair) => inferOneRow(pair, 'type0'),
  scd1: (pair) => inferOneRow(pair, 'type1'),
  scd2: (pair) => inferVersions(pair, 'scd2'),
  scd2_timestamp: inferTimestampVersions,
  scd2_cdc: inferChangeFeed,
  scd2_day: (pair) => inferVersions(pair, 'scd2_day'),
  scd3: inferPrevious,
  scd6: inferCurrentColumns,
  persistent_staging: inferLog,
  inactivation: inferInactivation,
};

function withoutRepeats(inferred: Inferred): Inferred {
  return { ...inferred, options: { ...inferred.options, duplicates: 'collapse_identical' } };
}

function withGhosts(inferred: Inferred): Inferred {
  return { ...inferred, options: { ...inferred.options, ghost: { enabled: true } } };
}

/**
 * The specification of one asked load with all options that follow from its tables; null with at least one error when
 * the tables leave something open that must not be guessed.
 */
export function inferSpecification(
  request: LoadRequest,
  catalog: Pick<TableCatalog, 'tables'>,
  settings: InferenceSettings,
): Outcome<LoadSpecification | null> {
  const stated = mergeOptions(settings.defaults, settings.patterns[request.pattern] ?? {}, request.options ?? {});
  const pair = makePair(request.source, request.target, stated, catalog.tables, settings.conventions);
  const inferred = inferences[request.pattern](pair);
  const options = mergeOptions(inferred.options, stated);
  const problems = [...inferred.problems, ...columnProblems(pair, options, request.pattern)];
  if (problems.some((problem) => problem.severity === 'error')) return { value: null, problems };
  const platform = request.platform ?? request.target.platform;
  const extra = { ...inferred.extra, ...request.extra };
  const specification: LoadSpecification = {
    version: 1,
    pattern: request.pattern,
    source: request.source.name,
    target: request.target.name,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    platform,
    form: request.form ?? settings.form ?? 'script',
    shape: request.shape ?? settings.shape ?? defaultShape(platform),
    options,
  };
  return { value: specification, problems };
}

/** Later options go before earlier ones; groups and maps are merged field by field. */
export function mergeOptions(...layers: readonly LoadOptions[]): LoadOptions {
  const merged = mergedByField.flatMap((name) => {
    const fields = Object.assign({}, ...layers.map((layer) => layer[name]));
    return Object.keys(fields).length > 0 ? [[name, fields] as const] : [];
  });
  return Object.assign({}, ...layers, Object.fromEntries(merged));
}

const mergedByField = ['hash_rules', 'ghost', 'mapping', 'parameters'] as const;

/** The shape that a platform's loads have when nobody chose one (handbook, "Platforms"). */
function defaultShape(platform: string): Shape {
  return platform === 'databricks' || platform === 'delta' ? 'merge' : 'separate';
}

/** Ties, narrowings and columns that nothing fills. */
function columnProblems(pair: Pair, options: LoadOptions, pattern: PatternName): readonly Problem[] {
  if (options.kind !== undefined) return [];
  const { source, target } = pair;
  const filled = new Set(
    [
      ...(options.target_key ?? []),
      ...Object.keys(options.hash_key ?? {}),
      ...Object.keys(options.hashdiff ?? {}),
      ...Object.keys(options.parameters ?? {}),
      ...Object.keys(options.mapping ?? {}),
      ...Object.values(options.previous ?? {}),
      ...Object.values(options.current_columns ?? {}),
      ...(options.order_within_batch ?? []),
      ...controlColumns(options),
      ...(pattern === 'xts' ? trackedColumns(pair.target) : []),
    ].map((name) => name.toLowerCase()),
  );
  return pair.match.columns.flatMap((match): readonly Problem[] => {
    const { name } = match.target;
    if (match.ties.length > 0 && !filled.has(name.toLowerCase())) {
      const ties = match.ties.map((column) => column.name);
      const message = `${name} of ${shownName(pair, target)} may come from ${ties.join(' or ')} of ${shownName(pair, source)}: say which with --set mapping={"${name}":"${ties[0]}"}.`;
      return [problemAt(target, 'ambiguous-column', message)];
    }
    if (match.source === null)
      return unfilled(pair, name, match.target.nullable || match.target.default !== null, filled);
    const accepted = options.accept_narrowing?.some((other) => sameIdentifier(other, name)) === true;
    if (accepted || options.hash_key?.[name] !== undefined || options.hashdiff?.[name] !== undefined) return [];
    if (fitOf(match.source, source, match.target, target) !== 'narrowing') return [];
    const message = `${match.source.name} of ${shownName(pair, source)} is ${match.source.type}, but ${name} of ${shownName(pair, target)} is only ${match.target.type}: widen the target column, or accept the risk with --set accept_narrowing=["${name}"].`;
    return [{ ...problemAt(target, 'narrowed-type', message), range: match.target.range }];
  });
}

function unfilled(pair: Pair, name: string, mayStayEmpty: boolean, filled: ReadonlySet<string>): readonly Problem[] {
  if (filled.has(name.toLowerCase())) return [];
  const { source, target } = pair;
  if (mayStayEmpty) {
    const message = `${name} of ${shownName(pair, target)} has no column in ${shownName(pair, source)} and stays NULL or takes its default.`;
    return [problemAt(target, 'column-not-staged', message, 'info')];
  }
  const message = `${name} of ${shownName(pair, target)} is NOT NULL and nothing in ${shownName(pair, source)} fills it: say which column does with --set mapping={"${name}":"…"}, or make it a parameter with --set parameters={"${name}":"${name}"}.`;
  return [problemAt(target, 'unfilled-column', message)];
}

/** An extended tracking satellite fills these for each satellite that it tracks. */
function trackedColumns(target: CatalogTable): readonly string[] {
  return [satelliteNameColumn(target), trackedHashdiffColumn(target)].flatMap((column) => column?.name ?? []);
}

function controlColumns(options: LoadOptions): readonly string[] {
  const names = [
    options.load_ts,
    options.record_source,
    options.valid_from,
    options.valid_to,
    options.is_current,
    options.inactive_at,
    options.inserted_at,
    options.updated_at,
    options.deleted_flag,
    options.deleted_at,
    options.changed_at,
    options.status_column,
    options.start,
    options.end,
    options.effective_from,
    options.op_column,
  ];
  return names.filter((name) => name !== undefined);
}
