/**
 * Load specifications from tables: which staging table fills which target by which pattern, and the options that follow
 * from their columns. What a person stated goes before what is inferred.
 */
import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { LoadCandidate } from '../../../protocol/requests.ts';
import type { TableRole } from '../../../protocol/roles.ts';
import type { FormName, LoadOptions, LoadSpecification, PatternName, Shape } from '../../../protocol/specification.ts';
import type { TableCatalog } from '../model/catalog.ts';
import type { Conventions } from '../model/conventions.ts';
import { fitOf } from '../model/matching.ts';
import { nameFits, sameIdentifier, tableKey } from '../model/names.ts';
import { type Inferred, makePair, type Pair, problemAt } from './infer/pair.ts';
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
  const problems = [...inferred.problems, ...columnProblems(pair, options)];
  if (problems.some((problem) => problem.severity === 'error')) return { value: null, problems };
  const platform = request.platform ?? request.target.platform;
  const specification: LoadSpecification = {
    version: 1,
    pattern: request.pattern,
    source: request.source.name,
    target: request.target.name,
    ...(request.extra === undefined ? {} : { extra: request.extra }),
    platform,
    form: request.form ?? 'script',
    shape: request.shape ?? defaultShape(platform),
    options,
  };
  return { value: specification, problems };
}

/** Later options go before earlier ones; hash rules and ghost rules are merged field by field. */
export function mergeOptions(...layers: readonly LoadOptions[]): LoadOptions {
  const hashRules = Object.assign({}, ...layers.map((layer) => layer.hash_rules));
  const ghost = Object.assign({}, ...layers.map((layer) => layer.ghost));
  return Object.assign(
    {},
    ...layers,
    Object.keys(hashRules).length > 0 ? { hash_rules: hashRules } : {},
    Object.keys(ghost).length > 0 ? { ghost } : {},
  );
}

/** The shape that a platform's loads have when nobody chose one (handbook, "Platforms"). */
export function defaultShape(platform: string): Shape {
  return platform === 'databricks' || platform === 'delta' ? 'merge' : 'separate';
}

/** Ties, narrowings and columns that nothing fills. */
function columnProblems(pair: Pair, options: LoadOptions): readonly Problem[] {
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
    ].map((name) => name.toLowerCase()),
  );
  return pair.match.columns.flatMap((match): readonly Problem[] => {
    const { name } = match.target;
    if (match.ties.length > 0 && !filled.has(name.toLowerCase())) {
      const ties = match.ties.map((column) => column.name);
      const message = `${name} of ${target.name.table} may come from ${ties.join(' or ')} of ${source.name.table}: say which with --set mapping={"${name}":"${ties[0]}"}.`;
      return [problemAt(target, 'ambiguous-column', message)];
    }
    if (match.source === null)
      return unfilled(pair, name, match.target.nullable || match.target.default !== null, filled);
    const accepted = options.accept_narrowing?.some((other) => sameIdentifier(other, name)) === true;
    if (accepted || options.hash_key?.[name] !== undefined || options.hashdiff?.[name] !== undefined) return [];
    if (fitOf(match.source, source, match.target, target) !== 'narrowing') return [];
    const message = `${match.source.name} of ${source.name.table} is ${match.source.type}, but ${name} of ${target.name.table} is only ${match.target.type}: widen the target column, or accept the risk with --set accept_narrowing=["${name}"].`;
    return [{ ...problemAt(target, 'narrowed-type', message), range: match.target.range }];
  });
}

function unfilled(pair: Pair, name: string, mayStayEmpty: boolean, filled: ReadonlySet<string>): readonly Problem[] {
  if (filled.has(name.toLowerCase())) return [];
  const { source, target } = pair;
  if (mayStayEmpty) {
    const message = `${name} of ${target.name.table} has no column in ${source.name.table} and stays NULL or takes its default.`;
    return [problemAt(target, 'column-not-staged', message, 'info')];
  }
  const message = `${name} of ${target.name.table} is NOT NULL and nothing in ${source.name.table} fills it: say which column does with --set mapping={"${name}":"…"}, or make it a parameter with --set parameters={"${name}":"${name}"}.`;
  return [problemAt(target, 'unfilled-column', message)];
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

/** What fills a target of a role when nobody says more; the first is the main load. */
const patternsOfRole: Readonly<Partial<Record<TableRole, readonly PatternName[]>>> = {
  hub: ['hub'],
  link: ['link'],
  'nh-link': ['nh_link'],
  satellite: ['satellite'],
  'ma-satellite': ['ma_satellite'],
  'eff-satellite': ['eff_satellite'],
  'st-satellite': ['status_tracking_satellite'],
  'rt-satellite': ['record_tracking_satellite'],
  'persistent-staging': ['scd2_day', 'inactivation'],
  reference: ['reference_table'],
};

function patternsFor(target: CatalogTable): readonly PatternName[] {
  if (target.role !== 'dimension') return patternsOfRole[target.role] ?? [];
  return target.columns.some((column) => column.role === 'effective-start' && !column.computed) ? ['scd2'] : ['scd1'];
}

/** Every load that the folder's tables and settings suggest, in the order in which they can run. */
export function inferLoads(catalog: TableCatalog, settings: InferenceSettings): readonly LoadCandidate[] {
  const candidates = catalog.feeds.flatMap((feed) =>
    patternsFor(feed.target).flatMap((pattern) => {
      const stated = settings.loads.find((load) => isLoad(load, pattern, feed.source, feed.target));
      return candidateFor(
        { ...requestOf(stated), pattern, source: feed.source, target: feed.target },
        catalog,
        settings,
        {
          confidence: stated === undefined ? Math.min(feed.score, feed.target.confidence) : 1,
          reasons: stated === undefined ? feed.reasons : ['mergewright.json names this load.', ...feed.reasons],
        },
      );
    }),
  );
  const further = settings.loads.flatMap((load) => {
    const source = catalog.lookup.one(load.source);
    const target = catalog.lookup.one(load.target);
    if (source === undefined || target === undefined) return [];
    const known = candidates.some(({ specification }) =>
      isLoad(load, specification.pattern, { name: specification.source }, { name: specification.target }),
    );
    return known
      ? []
      : candidateFor({ ...requestOf(load), pattern: load.pattern, source, target }, catalog, settings, {
          confidence: 1,
          reasons: ['mergewright.json names this load.'],
        });
  });
  return inRunningOrder([...candidates, ...further]);
}

function isLoad(
  load: StatedLoad,
  pattern: PatternName,
  source: Pick<CatalogTable, 'name'>,
  target: Pick<CatalogTable, 'name'>,
): boolean {
  return load.pattern === pattern && nameFits(load.source, source.name) && nameFits(load.target, target.name);
}

function requestOf(load: StatedLoad | undefined): Omit<LoadRequest, 'pattern' | 'source' | 'target'> {
  if (load === undefined) return {};
  const { pattern: _, source: __, target: ___, ...rest } = load;
  return rest;
}

function candidateFor(
  request: LoadRequest,
  catalog: TableCatalog,
  settings: InferenceSettings,
  sure: Pick<LoadCandidate, 'confidence' | 'reasons'>,
): readonly LoadCandidate[] {
  const { value } = inferSpecification(request, catalog, settings);
  if (value === null) return [];
  return [
    {
      title: `${patternTitle(request.pattern)} · load from ${request.source.name.table}`,
      specification: value,
      ...sure,
      uri: request.target.file,
      range: request.target.range,
    },
  ];
}

/** A pattern as titles have it: `Satellite`, `SCD 2 by day`. */
export function patternTitle(pattern: PatternName): string {
  return patternTitles[pattern];
}

const patternTitles: Readonly<Record<PatternName, string>> = {
  satellite: 'Satellite',
  ma_satellite: 'Multi-active satellite',
  eff_satellite: 'Effectivity satellite',
  status_tracking_satellite: 'Status tracking satellite',
  record_tracking_satellite: 'Record tracking satellite',
  xts: 'Extended tracking satellite',
  hub: 'Hub',
  link: 'Link',
  nh_link: 'Non-historised link',
  reference_table: 'Reference table',
  ghost_records: 'Ghost records',
  pit: 'Point-in-time table',
  bridge: 'Bridge',
  satellite_end_dating_view: 'End-dating view',
  stage_null_keys: 'Stage with replaced keys',
  hash: 'Hash columns',
  scd0: 'SCD 0',
  scd1: 'SCD 1',
  scd2: 'SCD 2',
  scd2_timestamp: 'SCD 2 by change time',
  scd2_cdc: 'SCD 2 from a change feed',
  scd2_day: 'SCD 2 by day',
  scd3: 'SCD 3',
  scd6: 'SCD 6',
  persistent_staging: 'Persistent staging log',
  inactivation: 'Inactivation',
};

/** Parents before children, and detection of absent keys after the load that brings the present ones. */
const runningOrder: readonly PatternName[] = [
  'stage_null_keys',
  'hash',
  'persistent_staging',
  'scd2_day',
  'reference_table',
  'hub',
  'link',
  'nh_link',
  'satellite',
  'ma_satellite',
  'eff_satellite',
  'status_tracking_satellite',
  'record_tracking_satellite',
  'xts',
  'ghost_records',
  'satellite_end_dating_view',
  'pit',
  'bridge',
  'scd0',
  'scd1',
  'scd2',
  'scd2_timestamp',
  'scd2_cdc',
  'scd3',
  'scd6',
  'inactivation',
];

function inRunningOrder(candidates: readonly LoadCandidate[]): readonly LoadCandidate[] {
  const place = ({ specification }: LoadCandidate) => runningOrder.indexOf(specification.pattern);
  const byPattern = [...candidates].sort(
    (left, right) => place(left) - place(right) || right.confidence - left.confidence,
  );
  const ordered: LoadCandidate[] = [];
  let open: readonly LoadCandidate[] = byPattern;
  while (open.length > 0) {
    // A load waits until every load that writes its source has its place; a circle is broken at the first.
    const written = new Set(open.map(({ specification }) => tableKey(specification.target)));
    const ready = open.filter(({ specification }) => !written.has(tableKey(specification.source)));
    const next = new Set(ready.length > 0 ? ready : open.slice(0, 1));
    ordered.push(...next);
    open = open.filter((candidate) => !next.has(candidate));
  }
  return ordered;
}
