import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { LoadCandidate } from '../../../protocol/requests.ts';
import type { TableRole } from '../../../protocol/roles.ts';
import type { PatternName } from '../../../protocol/specification.ts';
import type { TableCatalog } from '../model/catalog.ts';
import { finish, type InSteps, mapInSteps } from '../model/in-steps.ts';
import { nameFits, tableKey } from '../model/names.ts';
import { type InferenceSettings, inferSpecification, type LoadRequest, type StatedLoad } from './infer.ts';

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
export function inferLoads(
  catalog: TableCatalog,
  settingsOf: (file: string) => InferenceSettings,
  stated: readonly StatedLoad[],
): readonly LoadCandidate[] {
  return finish(inferLoadsInSteps(catalog, settingsOf, stated));
}

/** The same in small steps, for thousands of tables. */
export function* inferLoadsInSteps(
  catalog: TableCatalog,
  settingsOf: (file: string) => InferenceSettings,
  stated: readonly StatedLoad[],
): InSteps<readonly LoadCandidate[]> {
  const ofFeeds = yield* mapInSteps(catalog.feeds, (feed) =>
    patternsFor(feed.target).flatMap((pattern) => {
      const settings = settingsOf(feed.target.file);
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
  const candidates = ofFeeds.flat();
  const further = stated.flatMap((load) => {
    const source = catalog.lookup.one(load.source);
    const target = catalog.lookup.one(load.target);
    if (source === undefined || target === undefined) return [];
    const known = candidates.some(({ specification }) =>
      isLoad(load, specification.pattern, { name: specification.source }, { name: specification.target }),
    );
    return known
      ? []
      : candidateFor({ ...requestOf(load), pattern: load.pattern, source, target }, catalog, settingsOf(target.file), {
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
