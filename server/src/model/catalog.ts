import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Problem } from '../../../protocol/problem.ts';
import { naturalPart, readMeaning } from './columns.ts';
import type { Conventions } from './conventions.ts';
import { defaultConventions } from './default-conventions.ts';
import type { FileDefinitions } from './definitions.ts';
import type { TableFacts } from './facts.ts';
import { type Feed, findFeeds, rateFeed } from './feeds.ts';
import { finish, type InSteps, mapInSteps } from './in-steps.ts';
import { findLinkFeeds } from './link-feeds.ts';
import { TableLookup } from './lookup.ts';
import { mergeInSteps } from './merging.ts';
import { formatTableName, nameFits, parseTableName, sameIdentifier } from './names.ts';
import { guessRole, type RoleGuess, spoken } from './roles.ts';
import { findStageKey, orderedBusinessKey } from './stage-keys.ts';
import { type Structure, structureOf } from './structure.ts';
import { findTwins } from './twins.ts';
import { shownTables, viewGuess } from './views.ts';

/** All tables of a folder with their meaning, and which staging table seems to fill which target. */
export interface TableCatalog {
  readonly tables: readonly CatalogTable[];
  readonly feeds: readonly Feed[];
  readonly lookup: TableLookup<CatalogTable>;
  readonly problems: readonly Problem[];
}

/** The conventions that hold where a file lies. */
export type ConventionsOf = (file: string) => Conventions;

/**
 * Builds the catalog of a folder. Roles are guessed from each table alone first; then tables that hold another one's
 * columns, hubs and settings speak, and the keys of staging tables follow from what they fill.
 */
export function buildCatalog(
  files: readonly FileDefinitions[],
  conventionsOf: ConventionsOf = () => defaultConventions,
): TableCatalog {
  return finish(buildCatalogInSteps(files, conventionsOf));
}

/** The same in small steps: ten thousand tables take seconds, and somebody may be waiting for a hover. */
export function* buildCatalogInSteps(
  files: readonly FileDefinitions[],
  conventionsOf: ConventionsOf,
): InSteps<TableCatalog> {
  const merged = yield* mergeInSteps(files);
  const conventionsFor = (structure: Structure) => conventionsOf(structure.table.file);
  const structures = yield* mapInSteps(merged.value, (facts) => structureOf(facts, conventionsOf(facts.file)));
  const byThemselves = yield* mapInSteps(structures, (structure) => guessRole(structure, conventionsFor(structure)));
  const guessOf = new Map(structures.map((structure, index) => [structure, byThemselves[index] ?? unknownRole]));
  const shown = shownTables(structures);
  const alone = structures.map((structure) =>
    viewGuess(
      guessOf.get(structure) ?? unknownRole,
      [...(shown.get(structure) ?? [])].map((table) => [table, guessOf.get(table) ?? unknownRole]),
    ),
  );
  const twins = yield* findTwins(structures, alone);
  const otherHalf = new Map([...[...twins.twinOf].map(([holder, stage]) => [stage, holder] as const), ...twins.twinOf]);
  const guesses = yield* mapInSteps(structures, (structure, index) => {
    const hints = twins.hints.get(structure);
    const guess = hints === undefined ? alone[index] : guessRole(structure, conventionsFor(structure), hints);
    return corrected(structure.table, guess ?? unknownRole, conventionsFor(structure));
  });
  const first = yield* mapInSteps(structures, (structure, index) =>
    catalogTable(
      structure,
      guesses[index] ?? unknownRole,
      naturalKeyOf(structure, otherHalf, conventionsFor(structure)),
      conventionsFor(structure),
    ),
  );
  const indexOf = new Map(first.map((table, index) => [table, index]));
  const isOf = ({ source, target }: Feed): boolean => {
    const [view, table] = [structures[indexOf.get(source) ?? -1], structures[indexOf.get(target) ?? -1]];
    return view !== undefined && table !== undefined && shown.get(view)?.has(table) === true;
  };
  // A view of the target's own rows brings nothing to it.
  const firstFeeds = (yield* findFeeds(first, conventionsOf)).filter((feed) => !isOf(feed));
  const keyed = yield* withStageKeys(first, firstFeeds, structures, guesses, conventionsOf);
  const fed = firstFeeds.map(({ source, target, match }) => {
    const now = (table: CatalogTable) => keyed[indexOf.get(table) ?? -1] ?? table;
    return { source: now(source), target: now(target), match };
  });
  const tables = yield* withTargetKeys(keyed, fed, structures, guesses, conventionsOf);
  const feeds = yield* mapInSteps(firstFeeds, (feed) => {
    const now = (table: CatalogTable) => tables[indexOf.get(table) ?? -1] ?? table;
    const [source, target] = [now(feed.source), now(feed.target)];
    if (source === feed.source && target === feed.target) return feed;
    return rateFeed(source, target, conventionsOf(target.file));
  });
  const ofLinks = yield* findLinkFeeds(tables, feeds, conventionsOf);
  return { tables, feeds: [...feeds, ...ofLinks], lookup: new TableLookup(tables), problems: merged.problems };
}

const unknownRole: RoleGuess = { role: 'unknown', confidence: 0, reasons: [] };

function corrected(table: TableFacts, guess: RoleGuess, conventions: Conventions): RoleGuess {
  const role = correctionFor(table, conventions)?.role;
  return role === undefined
    ? guess
    : { role, confidence: 1, reasons: [`mergewright.json says it is a ${spoken(role)} table.`] };
}

function correctionFor(table: TableFacts, conventions: Conventions) {
  return conventions.corrections.find((correction) => {
    const name = parseTableName(correction.table);
    return name !== undefined && nameFits(name, table.name);
  });
}

function naturalKeyOf(
  structure: Structure,
  otherHalf: ReadonlyMap<Structure, Structure>,
  conventions: Conventions,
): readonly string[] {
  const stated = correctionFor(structure.table, conventions)?.key;
  if (stated !== undefined) return stated;
  if (naturalPart(structure).length > 0) return [];
  const twin = otherHalf.get(structure);
  return twin === undefined ? [] : naturalPart(twin);
}

function catalogTable(
  structure: Structure,
  guess: RoleGuess,
  naturalKey: readonly string[],
  conventions: Conventions,
): CatalogTable {
  const { name, formerNames, platform, file, range, options } = structure.table;
  const formerly = formerNames === undefined ? {} : { formerNames };
  const { role, confidence, reasons } = guess;
  const correction = correctionFor(structure.table, conventions);
  const meaning = readMeaning(structure, role, naturalKey, correction?.key);
  const roles = Object.entries(correction?.columns ?? {});
  const columns = meaning.columns.map((column) => {
    const stated = roles.find(([name]) => sameIdentifier(name, column.name))?.[1];
    return stated === undefined ? column : { ...column, role: stated };
  });
  return { name, ...formerly, platform, role, confidence, reasons, file, range, columns, keys: meaning.keys, options };
}

/**
 * A stage that declares no key gets the one that its targets imply, when they agree; so hover, completion and further
 * loads know it, too.
 */
function* withStageKeys(
  tables: readonly CatalogTable[],
  feeds: readonly Feed[],
  structures: readonly Structure[],
  guesses: readonly RoleGuess[],
  conventionsOf: ConventionsOf,
): InSteps<readonly CatalogTable[]> {
  const hubs = tables.filter((table) => table.role === 'hub');
  const implied = new Map<CatalogTable, readonly (readonly string[])[]>();
  for (const feed of feeds) {
    if (feed.source.keys.length > 0) continue;
    const key = findStageKey(feed.source, feed.target, feed.match, hubs, conventionsOf(feed.target.file));
    if (key.kind === 'known') implied.set(feed.source, [...(implied.get(feed.source) ?? []), key.columns]);
    yield;
  }
  return yield* mapInSteps(tables, (table, index) => {
    const [first, ...others] = implied.get(table) ?? [];
    const structure = structures[index];
    const guess = guesses[index];
    if (first === undefined || structure === undefined || guess === undefined) return table;
    const agreed = others.every((other) => other.join('\u0000') === first.join('\u0000'));
    return agreed ? catalogTable(structure, guess, first, conventionsOf(table.file)) : table;
  });
}

/**
 * A dimension or persistent staging table whose own DDL tells no business key has the key of its stages, where they agree:
 * a surrogate key or a start of validity says nothing of which rows are versions of one thing.
 */
function* withTargetKeys(
  tables: readonly CatalogTable[],
  feeds: readonly Pick<Feed, 'source' | 'target' | 'match'>[],
  structures: readonly Structure[],
  guesses: readonly RoleGuess[],
  conventionsOf: ConventionsOf,
): InSteps<readonly CatalogTable[]> {
  const keys = new Map<CatalogTable, { readonly source: CatalogTable; readonly columns: readonly string[] }[]>();
  for (const { source, target, match: matched } of feeds) {
    if (target.role !== 'dimension' && target.role !== 'persistent-staging') continue;
    if (target.columns.some(({ role }) => role === 'business-key' || role === 'hash-key')) continue;
    const key = orderedBusinessKey(source);
    const columns = key.flatMap((name) => {
      const match = matched.columns.find(
        (column) => column.source !== null && sameIdentifier(column.source.name, name),
      );
      return match?.target.role === 'attribute' ? [match.target.name] : [];
    });
    if (key.length === 0 || columns.length < key.length) continue;
    keys.set(target, [...(keys.get(target) ?? []), { source, columns }]);
  }
  return yield* mapInSteps(tables, (table, index) => {
    const [first, ...others] = keys.get(table) ?? [];
    const structure = structures[index];
    const guess = guesses[index];
    if (first === undefined || structure === undefined || guess === undefined) return table;
    if (others.some((other) => other.columns.join('\u0000') !== first.columns.join('\u0000'))) return table;
    const named = first.columns.join(' + ');
    const reason = `${named} ${first.columns.length === 1 ? 'is its business key, as it is' : 'are its business key, as they are'} the key of ${formatTableName(first.source.name)}.`;
    const told = { ...guess, reasons: [...guess.reasons, reason] };
    return catalogTable(structure, told, first.columns, conventionsOf(table.file));
  });
}
