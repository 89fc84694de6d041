import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import { isTsql } from '../../../protocol/platform.ts';
import type { ColumnRole } from '../../../protocol/roles.ts';
import type { Conventions } from './conventions.ts';
import { groupedBy } from './groups.ts';
import { compactName, sameIdentifier, snakeName, words } from './names.ts';
import { compareTypes, type TypeFacts, type TypeFit, typeFacts } from './types.ts';

/** What a target column is filled from. */
export interface ColumnMatch {
  readonly target: CatalogColumn;
  readonly source: CatalogColumn | null;
  /** How the names were found to agree; null without a source. */
  readonly by: 'setting' | 'name' | 'spelling' | 'affix' | null;
  /** Stage columns that fit equally well; the first of them is not taken. */
  readonly ties: readonly CatalogColumn[];
  /** Null without a source. */
  readonly fit: TypeFit | null;
}

export interface TableMatch {
  readonly columns: readonly ColumnMatch[];
  /** Stage columns that no target column takes. */
  readonly unused: readonly CatalogColumn[];
}

/**
 * Finds the stage column for every target column that a load writes: by settings, by name, by name without case,
 * blanks and underscores, by name without prefixes and table words. Ties stay open and are listed.
 */
export function matchColumns(
  source: CatalogTable,
  target: CatalogTable,
  conventions: Conventions,
  mapping: Readonly<Record<string, string>> = {},
): TableMatch {
  const affixes = new Set([...conventions.ignoredAffixes, ...words(source.name.table), ...words(target.name.table)]);
  const stage = stageIndex(source.columns, affixes);
  const columns = target.columns
    .filter((column) => !column.computed && !column.identity)
    .map((column) => matchColumn(column, stage, mapping, affixes));
  const settled = settleAffixMatches(columns);
  const used = new Set(settled.flatMap((match) => (match.source === null ? [] : [match.source])));
  return {
    columns: settled.map((match) => ({
      ...match,
      fit: match.source === null ? null : fitOf(match.source, source, match.target, target),
    })),
    unused: source.columns.filter((column) => !used.has(column)),
  };
}

/** Columns of these roles must come from the stage; the others are made by the load or may be absent there. */
export function comesFromStage(role: ColumnRole): boolean {
  return role === 'attribute' || role === 'business-key' || role === 'child-key';
}

/** How a stage column's values fit the target column. */
export function fitOf(from: CatalogColumn, source: CatalogTable, to: CatalogColumn, target: CatalogTable): TypeFit {
  const staged = typeFacts(from.type, isTsql(source.platform));
  const stored = typeFacts(to.type, isTsql(target.platform));
  return compareTypes(staged, target.platform === 'fabric' ? inUtf8(stored, staged) : stored);
}

/** A name's spelling without what naming habits add to it, for finding candidates in an index. */
export function bareSpelling(name: string, affixes: ReadonlySet<string>): string {
  const whole = snakeName(name);
  let rest = whole;
  for (let end = rest.indexOf('_'); end >= 0 && affixes.has(rest.slice(0, end)); end = rest.indexOf('_'))
    rest = rest.slice(end + 1);
  for (let from = rest.lastIndexOf('_'); from >= 0 && affixes.has(rest.slice(from + 1)); from = rest.lastIndexOf('_'))
    rest = rest.slice(0, from);
  return rest === whole ? compactName(name) : rest.replaceAll('_', '');
}

/** A stage's columns by each of the ways in which names are found to agree, in the stage's order. */
interface StageIndex {
  readonly byName: Groups;
  readonly byCompact: Groups;
  /** Affixes are those of both tables, and most columns are found without. */
  readonly byBare: () => Groups;
}

type Groups = ReadonlyMap<string, readonly CatalogColumn[]>;

/** A stage is held against many targets. */
const namesOf = new WeakMap<readonly CatalogColumn[], Pick<StageIndex, 'byName' | 'byCompact'>>();

function stageIndex(columns: readonly CatalogColumn[], affixes: ReadonlySet<string>): StageIndex {
  const names = namesOf.get(columns) ?? {
    byName: groupedBy(columns, ({ name }) => name.toLowerCase()),
    byCompact: groupedBy(columns, ({ name }) => compactName(name)),
  };
  namesOf.set(columns, names);
  let bare: Groups | undefined;
  return {
    ...names,
    byBare: () => {
      bare ??= groupedBy(columns, ({ name }) => bareSpelling(name, affixes));
      return bare;
    },
  };
}

type OpenMatch = Omit<ColumnMatch, 'fit'>;

function matchColumn(
  target: CatalogColumn,
  stage: StageIndex,
  mapping: Readonly<Record<string, string>>,
  affixes: ReadonlySet<string>,
): OpenMatch {
  const stated = Object.entries(mapping).find(([name]) => sameIdentifier(name, target.name))?.[1];
  if (stated !== undefined) {
    const source = stage.byName.get(stated.toLowerCase())?.[0] ?? null;
    return { target, source, by: source === null ? null : 'setting', ties: [] };
  }
  const levels = [
    { by: 'name', find: () => stage.byName.get(target.name.toLowerCase()) },
    { by: 'spelling', find: () => stage.byCompact.get(compactName(target.name)) },
    { by: 'affix', find: () => stage.byBare().get(bareSpelling(target.name, affixes)) },
  ] as const;
  for (const { by, find } of levels) {
    const found = find() ?? [];
    const [only, ...more] = found;
    if (only === undefined) continue;
    return more.length > 0 ? { target, source: null, by: null, ties: found } : { target, source: only, by, ties: [] };
  }
  return { target, source: null, by: null, ties: [] };
}

/** A stage column found by affix only gives way where another target column bears its name. */
function settleAffixMatches(matches: readonly OpenMatch[]): readonly OpenMatch[] {
  const taken = new Set(
    matches.flatMap((match) => (match.by === 'affix' || match.source === null ? [] : [match.source])),
  );
  return matches.map((match) => {
    const givesWay = match.by === 'affix' && match.source !== null && taken.has(match.source);
    return givesWay ? { ...match, source: null, by: null } : match;
  });
}

/** Fabric's varchar counts bytes of UTF-8: a Unicode character of two bytes elsewhere takes up to three there. */
function inUtf8(stored: TypeFacts, staged: TypeFacts): TypeFacts {
  const { family, unicode, length } = stored;
  if (family !== 'text' || unicode) return stored;
  return { ...stored, unicode: true, length: staged.unicode && length !== null ? Math.floor(length / 3) : length };
}
