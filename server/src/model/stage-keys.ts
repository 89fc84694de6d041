import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Conventions } from './conventions.ts';
import type { TableMatch } from './matching.ts';
import { compactName, formatTableName, sameIdentifier, words } from './names.ts';

/** The stage columns that identify a row of a target, with the reason; or why they can't be told. */
export type StageKey =
  | { readonly kind: 'known'; readonly columns: readonly string[]; readonly reason: string }
  | { readonly kind: 'open'; readonly reason: string };

/**
 * Finds the business key of a stage for one target: a declared or corrected key, the target's natural key, the key of
 * the hub that the target's hash key belongs to, a column named after the hash key, the one column that the target
 * does not store. Never guesses between several.
 */
export function findStageKey(
  source: CatalogTable,
  target: CatalogTable,
  match: TableMatch,
  hubs: readonly CatalogTable[],
  conventions: Conventions,
): StageKey {
  const declared = declaredStageKey(source);
  if (declared !== null && !isVault(target)) {
    const natural = naturalKeyInStage(target, match);
    return natural ?? declared;
  }
  return (
    naturalKeyInStage(target, match) ??
    hubKeyInStage(source, target, hubs) ??
    declared ??
    (isVault(target) ? namedKey(source, target, conventions) : null) ?? {
      kind: 'open',
      reason: `Neither ${formatTableName(source.name)} nor ${formatTableName(target.name)} declares a key; say which columns identify a row, as in --set keys=["…"] or "keys" in mergewright.json.`,
    }
  );
}

function isVault(target: CatalogTable): boolean {
  return target.columns.some((column) => column.role === 'hash-key');
}

function declaredStageKey(source: CatalogTable): Extract<StageKey, { kind: 'known' }> | null {
  // A number that the database gives to staged rows is another one in each load.
  const isCounted = (name: string) =>
    source.columns.some((column) => column.identity && sameIdentifier(column.name, name));
  const keys = source.keys.filter(({ columns }) => !columns.every(isCounted));
  const key = keys.find((candidate) => candidate.kind !== 'inferred') ?? keys[0];
  if (key === undefined) return null;
  const how = key.kind === 'inferred' ? 'is taken as the key' : 'is the declared key';
  return { kind: 'known', columns: key.columns, reason: `${key.columns.join(' + ')} ${how} of ${source.name.table}.` };
}

function naturalKeyInStage(target: CatalogTable, match: TableMatch): StageKey | null {
  const natural = orderedBusinessKey(target);
  if (natural.length === 0) return null;
  const sources = natural.map(
    (name) => match.columns.find((column) => sameIdentifier(column.target.name, name))?.source,
  );
  const found = sources.flatMap((column) => (column === null || column === undefined ? [] : [column.name]));
  if (found.length < natural.length) return null;
  return {
    kind: 'known',
    columns: found,
    reason: `${natural.join(' + ')} is the business key of ${target.name.table}.`,
  };
}

/** Business key columns in key order where a key declares one, else in column order. */
export function orderedBusinessKey(table: CatalogTable): readonly string[] {
  const business = table.columns.filter((column) => column.role === 'business-key').map((column) => column.name);
  const covering = table.keys.find((key) =>
    business.every((name) => key.columns.some((column) => sameIdentifier(column, name))),
  );
  const isBusiness = (name: string) => business.some((other) => sameIdentifier(other, name));
  return covering === undefined ? business : covering.columns.filter(isBusiness);
}

/** The satellite's hash key stands in a hub, whose business key stands in the stage. */
function hubKeyInStage(source: CatalogTable, target: CatalogTable, hubs: readonly CatalogTable[]): StageKey | null {
  const [hashKey] = target.columns.filter((column) => column.role === 'hash-key');
  if (hashKey === undefined) return null;
  for (const hub of hubs) {
    if (hub === target || !hub.columns.some((column) => sameIdentifier(column.name, hashKey.name))) continue;
    const business = orderedBusinessKey(hub);
    const found = business.flatMap((name) => {
      const same = source.columns.filter((column) => compactName(column.name) === compactName(name));
      return same.length === 1 && same[0] !== undefined ? [same[0].name] : [];
    });
    if (found.length > 0 && found.length === business.length) {
      return {
        kind: 'known',
        columns: found,
        reason: `${hashKey.name} belongs to ${hub.name.table}, whose business key is ${business.join(' + ')}.`,
      };
    }
  }
  return null;
}

const hashWords = new Set(['hk', 'hash', 'key', 'pk', 'sk', 'hkey', 'hub', 'lk', 'hsh', 'h', 'sha', 'md5', 'bin']);

/** `PatientKey` is made of patient_id: a stage column named after the hash key, or the one column left over. */
function namedKey(source: CatalogTable, target: CatalogTable, conventions: Conventions): StageKey | null {
  const [hashKey] = target.columns.filter((column) => column.role === 'hash-key');
  if (hashKey === undefined) return null;
  const base = words(hashKey.name).filter((word) => !hashWords.has(word));
  const wanted = new Set(conventions.keySuffixes.map((suffix) => base.join('') + suffix));
  const named =
    base.length === 0
      ? []
      : source.columns.filter((column) => isKeyColumn(column.role) && wanted.has(compactName(column.name)));
  const [only, ...more] = named;
  if (only !== undefined && more.length === 0) {
    return { kind: 'known', columns: [only.name], reason: `${hashKey.name} is named after ${only.name}.` };
  }
  if (more.length > 0)
    return openChoice(
      hashKey.name,
      source,
      named.map((column) => column.name),
    );
  const stored = new Set(target.columns.map((column) => compactName(column.name)));
  const left = source.columns.filter((column) => isKeyColumn(column.role) && !stored.has(compactName(column.name)));
  const [single, ...others] = left;
  if (single !== undefined && others.length === 0) {
    return {
      kind: 'known',
      columns: [single.name],
      reason: `${single.name} is the only column of ${source.name.table} that ${target.name.table} does not store.`,
    };
  }
  return others.length > 0
    ? openChoice(
        hashKey.name,
        source,
        left.map((column) => column.name),
      )
    : null;
}

function isKeyColumn(role: string): boolean {
  return role === 'attribute' || role === 'business-key';
}

function openChoice(hashKey: string, source: CatalogTable, names: readonly string[]): StageKey {
  return {
    kind: 'open',
    reason: `${hashKey} may be made of ${names.slice(0, 5).join(' or ')} of ${source.name.table}; say which, as in --set keys=["${names[0]}"] or "keys" in mergewright.json.`,
  };
}
