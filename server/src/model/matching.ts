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
  const stage = source.columns.map((column) => spellings(column, affixes));
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

type OpenMatch = Omit<ColumnMatch, 'fit'>;

function matchColumn(
  target: Spellings,
  stage: readonly Spellings[],
  mapping: Readonly<Record<string, string>>,
): OpenMatch {
  const stated = Object.entries(mapping).find(([name]) => sameIdentifier(name, target.column.name))?.[1];
  if (stated !== undefined) {
    const source = stage.find((candidate) => sameIdentifier(candidate.column.name, stated))?.column ?? null;
    return { target: target.column, source, by: source === null ? null : 'setting', ties: [] };
  }
  const levels = [
    { by: 'name', fits: (candidate: Spellings) => sameIdentifier(candidate.column.name, target.column.name) },
    { by: 'spelling', fits: (candidate: Spellings) => candidate.compact === target.compact },
    { by: 'affix', fits: (candidate: Spellings) => candidate.bare === target.bare },
  ] as const;
  for (const { by, fits } of levels) {
    const found = stage.filter(fits).map((candidate) => candidate.column);
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
