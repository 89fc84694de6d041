import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Conventions } from './conventions.ts';
import { commonName, type Feed, sharedWords } from './feeds.ts';
import { addTo } from './groups.ts';
import { type InSteps, mapInSteps } from './in-steps.ts';
import { comesFromStage, matchColumns } from './matching.ts';
import { compactName } from './names.ts';
import { orderedBusinessKey } from './stage-keys.ts';

/**
 * Finds the feeds of links that have nothing in common with any stage but their load columns: a stage brings the
 * relationships of a link when it holds the business keys of all hubs that the link joins. Of several such stages those
 * count whose name speaks of the same.
 */
export function* findLinkFeeds(
  tables: readonly CatalogTable[],
  known: readonly Feed[],
  conventionsOf: (file: string) => Conventions,
): InSteps<readonly Feed[]> {
  const fed = new Set(known.map(({ target }) => target));
  const links = tables.filter((table) => isBareLink(table) && !fed.has(table));
  if (links.length === 0) return [];
  const hubs = new Map<string, CatalogTable[]>();
  const stages = new Map<string, CatalogTable[]>();
  for (const table of tables) {
    if (table.role === 'hub') for (const name of hashKeysOf(table)) addTo(hubs, name.toLowerCase(), table);
    if (table.role === 'staging') for (const { name } of table.columns) addTo(stages, compactName(name), table);
  }
  const found = yield* mapInSteps(links, (link) => feedsOf(link, hubs, stages, conventionsOf(link.file)));
  return found.flat();
}

function isBareLink({ role, columns }: CatalogTable): boolean {
  return (role === 'link' || role === 'nh-link') && !columns.some((column) => comesFromStage(column.role));
}

function hashKeysOf({ columns }: CatalogTable): readonly string[] {
  return columns.filter(({ role }) => role === 'hash-key').map(({ name }) => name);
}

function feedsOf(
  link: CatalogTable,
  hubs: ReadonlyMap<string, readonly CatalogTable[]>,
  stages: ReadonlyMap<string, readonly CatalogTable[]>,
  conventions: Conventions,
): readonly Feed[] {
  const keys = joinedKeys(link, hubs);
  const [first] = keys;
  if (first === undefined) return [];
  const possible = stages.get(compactName(first)) ?? [];
  if (possible.length > commonName) return [];
  const holders = possible.filter(
    (stage) => stage.platform === link.platform && keys.every((key) => holds(stage, key)),
  );
  const feeds = holders.map((source): Feed => {
    const shared = sharedWords(source, link);
    return {
      source,
      target: link,
      match: matchColumns(source, link, conventions),
      score: shared.length > 0 ? 1 : 0.75,
      reasons: [
        `${keys.join(' and ')} are the business keys of the hubs that ${link.name.table} joins.`,
        ...(shared.length > 0 ? [`Both names speak of "${shared.join(' ')}".`] : []),
      ],
    };
  });
  const named = feeds.filter(({ score }) => score === 1);
  return named.length > 0 ? named : feeds.length === 1 ? feeds : [];
}

/** The business keys of the hubs that a link joins, one hash key for each; [] where not all of them are known. */
function joinedKeys(link: CatalogTable, hubs: ReadonlyMap<string, readonly CatalogTable[]>): readonly string[] {
  const joined = hashKeysOf(link).flatMap((name) => {
    const [hub, ...others] = hubs.get(name.toLowerCase()) ?? [];
    return hub === undefined || others.length > 0 ? [] : [hub];
  });
  // All but the link's own key belong to hubs.
  if (joined.length < 2 || joined.length < hashKeysOf(link).length - 1) return [];
  const keys = joined.map(orderedBusinessKey);
  return keys.some((columns) => columns.length === 0) ? [] : keys.flat();
}

function holds(stage: CatalogTable, key: string): boolean {
  return stage.columns.filter(({ name }) => compactName(name) === compactName(key)).length === 1;
}
