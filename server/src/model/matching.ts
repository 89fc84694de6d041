import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import { isTsql } from '../../../protocol/platform.ts';
import type { ColumnRole } from '../../../protocol/roles.ts';
import type { Conventions } from './conventions.ts';
import { compactName, sameIdentifier, words } from './names.ts';
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
  const stage = indexOf(source.columns.map((column) => spellings(column, affixes)));
  const columns = target.columns
    .filter((column) => !column.computed && !column.identity)
    .map((column) => matchColumn(spellings(column, affixes), stage, mapping));
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
  const parts = [...words(name)];
  while (parts.length > 1 && affixes.has(parts[0] ?? '')) parts.shift();
  while (parts.length > 1 && affixes.has(parts.at(-1) ?? '')) parts.pop();
  return parts.join('');
}

interface Spellings {
  readonly column: CatalogColumn;
  readonly compact: string;
  readonly bare: string;
}

function spellings(column: CatalogColumn, affixes: ReadonlySet<string>): Spellings {
  return { column, compact: compactName(column.name), bare: bareSpelling(column.name, affixes) };
}

/** The stage's columns by each of the ways in which names are found to agree, in the stage's order. */
interface StageIndex {
  readonly byName: ReadonlyMap<string, readonly CatalogColumn[]>;
  readonly byCompact: ReadonlyMap<string, readonly CatalogColumn[]>;
  readonly byBare: ReadonlyMap<string, readonly CatalogColumn[]>;
}

function indexOf(stage: readonly Spellings[]): StageIndex {
  return {
    byName: groupedBy(stage, ({ column }) => column.name.toLowerCase()),
    byCompact: groupedBy(stage, ({ compact }) => compact),
    byBare: groupedBy(stage, ({ bare }) => bare),
  };
}

function groupedBy(
  stage: readonly Spellings[],
  keyOf: (spellings: Spellings) => string,
): ReadonlyMap<string, readonly CatalogColumn[]> {
  const groups = new Map<string, CatalogColumn[]>();
  for (const spelt of stage) {
    const key = keyOf(spelt);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [spelt.column]);
    else group.push(spelt.column);
  }
  return groups;
}

type OpenMatch = Omit<ColumnMatch, 'fit'>;

function matchColumn(target: Spellings, stage: StageIndex, mapping: Readonly<Record<string, string>>): OpenMatch {
  const stated = Object.entries(mapping).find(([name]) => sameIdentifier(name, target.column.name))?.[1];
  if (stated !== undefined) {
    const source = stage.byName.get(stated.toLowerCase())?.[0] ?? null;
    return { target: target.column, source, by: source === null ? null : 'setting', ties: [] };
  }
  const levels = [
    { by: 'name', found: stage.byName.get(target.column.name.toLowerCase()) },
    { by: 'spelling', found: stage.byCompact.get(target.compact) },
    { by: 'affix', found: stage.byBare.get(target.bare) },
  ] as const;
  for (const { by, found = [] } of levels) {
    const [only, ...more] = found;
    if (only === undefined) continue;
    return more.length > 0
      ? { target: target.column, source: null, by: null, ties: found }
      : { target: target.column, source: only, by, ties: [] };
  }
  return { target: target.column, source: null, by: null, ties: [] };
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
