import type { CatalogTable } from '../../../protocol/catalog.ts';
import { counted } from '../../../protocol/counted.ts';
import type { TableRole } from '../../../protocol/roles.ts';
import type { Conventions } from './conventions.ts';
import { addTo } from './groups.ts';
import { type InSteps, mapInSteps } from './in-steps.ts';
import { bareSpelling, comesFromStage, matchColumns, type TableMatch } from './matching.ts';
import { compactName, words } from './names.ts';

/** A staging table that seems to fill a target. */
export interface Feed {
  readonly source: CatalogTable;
  readonly target: CatalogTable;
  readonly match: TableMatch;
  /** 0 to 1: share of the target's own columns that the stage has, helped by a common word in the names. */
  readonly score: number;
  readonly reasons: readonly string[];
}

/** Roles that loads from staging write; point-in-time tables and bridges are rebuilt from the vault instead. */
const fedRoles: readonly TableRole[] = [
  'persistent-staging',
  'hub',
  'link',
  'nh-link',
  'satellite',
  'ma-satellite',
  'eff-satellite',
  'st-satellite',
  'rt-satellite',
  'dimension',
  'reference',
];

const leastScore = 0.6;
/** A column name that stands in more stages than this says nothing about which one is meant. */
export const commonName = 200;

/** Finds the feeds of all targets, best first for each target. */
export function* findFeeds(
  tables: readonly CatalogTable[],
  conventionsOf: (file: string) => Conventions,
): InSteps<readonly Feed[]> {
  const stages = tables.filter((table) => table.role === 'staging');
  const targets = tables.filter((table) => fedRoles.includes(table.role));
  if (stages.length === 0 || targets.length === 0) return [];
  const index = new StageIndex(stages.flatMap((stage) => conventionsOf(stage.file).ignoredAffixes));
  for (const stage of stages) {
    index.add(stage);
    yield;
  }
  const found = yield* mapInSteps(targets, (target) =>
    feedsOf(target, index.candidates(target), conventionsOf(target.file)),
  );
  return found.flat();
}

/** The feeds of one target, best first. */
function feedsOf(target: CatalogTable, stages: readonly CatalogTable[], conventions: Conventions): readonly Feed[] {
  return stages
    .map((source) => rateFeed(source, target, conventions))
    .filter((feed) => feed.score >= leastScore)
    .sort((left, right) => right.score - left.score);
}

/** Rates how well a stage fills a target. */
export function rateFeed(source: CatalogTable, target: CatalogTable, conventions: Conventions): Feed {
  const match = matchColumns(source, target, conventions);
  const own = match.columns.filter((column) => comesFromStage(column.target.role));
  const found = own.filter((column) => column.source !== null || column.ties.length > 0);
  const share = own.length === 0 ? 0.4 : found.length / own.length;
  const shared = sharedWords(source, target);
  const sharedName = shared.length > 0;
  const otherPlatform = source.platform !== target.platform;
  const score = Math.max(0, Math.min(1, share * 0.75 + (sharedName ? 0.25 : 0) - (otherPlatform ? 0.3 : 0)));
  const reasons = [
    own.length === 0
      ? `${target.name.table} has no attributes of its own.`
      : `${found.length} of ${counted(own.length, 'column')} of ${target.name.table} ${found.length === 1 ? 'stands' : 'stand'} in ${source.name.table}.`,
    ...(sharedName ? [`Both names speak of "${shared.join(' ')}".`] : []),
  ];
  return { source, target, match, score: Math.round(score * 100) / 100, reasons };
}

/** Words that say what a table is, not what it is about. */
export const kindWords: ReadonlySet<string> = new Set(
  (
    'stg stage staging src source raw dev test prod tmp temp hub h lnk link l sat s satellite dim d dimension psa ps ' +
    'persistent history hist ref reference tbl table v vw view eff ma st rt rts sts nh dv rdv bdv dw dwh edw ods load'
  ).split(' '),
);

/** Words of the entity that both names have in common; a plural `s` does not count. */
export function sharedWords(left: CatalogTable, right: CatalogTable): readonly string[] {
  const entity = (table: CatalogTable) =>
    words(table.name.table)
      .filter((word) => !kindWords.has(word) && word.length > 1)
      .map((word) => word.replace(/s$/, ''));
  const others = new Set(entity(right));
  return [...new Set(entity(left).filter((word) => others.has(word)))];
}

/** Stages by the names of their columns, so that ten thousand tables are matched without comparing all with all. */
class StageIndex {
  private readonly byColumn = new Map<string, CatalogTable[]>();
  private readonly byWord = new Map<string, CatalogTable[]>();
  private readonly affixes: ReadonlySet<string>;

  constructor(ignoredAffixes: readonly string[]) {
    this.affixes = new Set(ignoredAffixes);
  }

  add(stage: CatalogTable): void {
    for (const name of new Set(stage.columns.flatMap((column) => this.spellings(column.name)))) {
      addTo(this.byColumn, name, stage);
    }
    for (const word of new Set(words(stage.name.table))) addTo(this.byWord, word.replace(/s$/, ''), stage);
  }

  candidates(target: CatalogTable): readonly CatalogTable[] {
    const counts = new Map<CatalogTable, number>();
    const count = (stages: readonly CatalogTable[] | undefined): void => {
      if (stages === undefined || stages.length > commonName) return;
      for (const stage of stages) counts.set(stage, (counts.get(stage) ?? 0) + 1);
    };
    for (const column of target.columns) {
      if (comesFromStage(column.role)) for (const name of this.spellings(column.name)) count(this.byColumn.get(name));
    }
    for (const word of words(target.name.table)) {
      if (!kindWords.has(word)) count(this.byWord.get(word.replace(/s$/, '')));
    }
    const ranked = [...counts].sort((left, right) => right[1] - left[1]);
    return ranked.slice(0, mostCandidates).map(([stage]) => stage);
  }

  private spellings(name: string): readonly string[] {
    const [compact, bare] = [compactName(name), bareSpelling(name, this.affixes)];
    return compact === bare ? [compact] : [compact, bare];
  }
}

const mostCandidates = 24;
