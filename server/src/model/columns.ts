import type { CatalogColumn, CatalogKey } from '../../../protocol/catalog.ts';
import type { ColumnRole, TableRole } from '../../../protocol/roles.ts';
import type { ColumnFacts } from './facts.ts';
import { fitsPattern, sameIdentifier, words } from './names.ts';
import { includesName, type Structure, type StructuredColumn } from './structure.ts';

/** Roles of the columns and the keys of a table whose role is known. */
export interface Meaning {
  readonly columns: readonly CatalogColumn[];
  readonly keys: readonly CatalogKey[];
}

/**
 * Gives every column its role in a table of this role and adds the key that follows from it where none is declared.
 * `naturalKey` is the business key found elsewhere (a hub, a twin, the settings); [] when nothing is known. `stated` is
 * what of it the settings say.
 */
export function readMeaning(
  structure: Structure,
  role: TableRole,
  naturalKey: readonly string[],
  stated: readonly string[] = [],
): Meaning {
  const business = businessKey(structure, role, naturalKey);
  const columns = structure.columns.map((column) =>
    catalogColumn(column.facts, columnRole(column, structure, role, business)),
  );
  const { keys } = structure.table;
  const inferred = keys.length > 0 ? [] : inferredKey(structure, role, business);
  const told = stated.filter((name) => includesName(inferred, name));
  const added: CatalogKey[] =
    inferred.length > 0
      ? [{ kind: 'inferred', columns: inferred, enforced: false, ...(told.length > 0 ? { stated: told } : {}) }]
      : [];
  return { columns, keys: [...keys, ...added] };
}

/** Named one by one: an object made of the rest of another has a layout of its own, which a large folder pays for in memory. */
function catalogColumn(facts: ColumnFacts, role: ColumnRole): CatalogColumn {
  const { name, type, nullable, identity, computed, collation, range, file } = facts;
  const place = file === undefined ? {} : { file };
  return { name, type, nullable, role, identity, computed, default: facts.default, collation, range, ...place };
}

const satelliteRoles: readonly TableRole[] = [
  'satellite',
  'ma-satellite',
  'eff-satellite',
  'st-satellite',
  'rt-satellite',
  'xts',
];
const versioned: readonly TableRole[] = ['persistent-staging', 'dimension'];

function columnRole(
  column: StructuredColumn,
  structure: Structure,
  role: TableRole,
  business: readonly string[],
): ColumnRole {
  const { named, facts } = column;
  if (facts.period !== null) return facts.period === 'start' ? 'effective-start' : 'effective-end';
  if (facts.computed) return 'technical';
  if (structure.hashKeys.includes(column)) return 'hash-key';
  if (isDependentKey(column, structure, role)) return 'child-key';
  if (includesName(business, facts.name)) return 'business-key';
  if (column === structure.surrogate) return 'technical';
  return named !== null && namedRoleHolds(column, structure, role) ? named : 'attribute';
}

/** A name that stands for a control column somewhere is a plain attribute where the table's role has no use for it. */
function namedRoleHolds(column: StructuredColumn, structure: Structure, role: TableRole): boolean {
  switch (column.named) {
    case 'hashdiff':
    case 'hash-key':
    case 'load-date':
    case 'record-source':
    case 'load-process':
    case 'inactive-date':
    case 'technical':
      return true;
    case 'checksum':
      return role !== 'satellite' && role !== 'hub';
    case 'insert-date':
      return role !== 'staging' && role !== 'reference' && role !== 'unknown';
    case 'effective-start':
    case 'effective-end':
      if (versioned.includes(role))
        return structure.validity && (column === structure.start || column === structure.end);
      if (role === 'eff-satellite') return true;
      return /^(eff|effective|valid)$/.test(words(column.facts.name)[0] ?? '');
    case 'current-flag':
      return (versioned.includes(role) && structure.validity) || role === 'st-satellite' || role === 'eff-satellite'
        ? column === structure.flag
        : false;
    case 'sequence':
    case 'operation':
      return role === 'staging' || role === 'persistent-staging' || role === 'unknown' || role === 'st-satellite';
    case 'child-key':
      return role === 'ma-satellite' || role === 'staging';
    case null:
      return false;
  }
}

function isDependentKey(column: StructuredColumn, structure: Structure, role: TableRole): boolean {
  if (role !== 'ma-satellite') return false;
  if (column.named === 'child-key') return true;
  const technical = column.named === 'load-date' || column.named === 'hashdiff' || column.named === 'record-source';
  return includesName(structure.key, column.facts.name) && !technical;
}

function businessKey(structure: Structure, role: TableRole, naturalKey: readonly string[]): readonly string[] {
  if (satelliteRoles.includes(role) || role === 'link' || role === 'nh-link' || role === 'pit' || role === 'bridge')
    return [];
  if (role === 'hub') return structure.payload.map((column) => column.facts.name);
  if (naturalKey.length > 0) return naturalKey;
  return naturalPart(structure);
}

/**
 * The declared key without version start and surrogate; of a dimension with a surrogate key, its unique key, else the
 * columns that are named as business keys.
 */
export function naturalPart(structure: Structure): readonly string[] {
  const technical = [structure.start, structure.surrogate, ...structure.hashKeys, ...structure.loadDates].filter(
    (column) => column !== null,
  );
  const natural = (names: readonly string[]) =>
    names.filter((name) => !technical.some((column) => sameIdentifier(column.facts.name, name)));
  const candidates = structure.table.keys.map((key) => natural(key.columns));
  const declared = candidates.find((columns) => columns.length > 0);
  if (declared !== undefined) return declared;
  const named = structure.payload.filter(({ facts }) => fitsPattern(facts.name, businessKeyNames));
  return named.map(({ facts }) => facts.name);
}

const businessKeyNames = [
  'bk',
  'bk_*',
  '*_bk',
  'nk',
  'nk_*',
  '*_nk',
  '*business_key',
  '*natural_key',
  '*alternate_key',
];

function inferredKey(structure: Structure, role: TableRole, business: readonly string[]): readonly string[] {
  const names = (columns: readonly (StructuredColumn | null | undefined)[]) =>
    columns.flatMap((column) => (column === null || column === undefined ? [] : [column.facts.name]));
  const [hashKey] = structure.hashKeys;
  const [loadDate] = structure.loadDates;
  switch (role) {
    case 'satellite':
    case 'st-satellite':
    case 'rt-satellite':
      return names([hashKey, loadDate]);
    case 'ma-satellite':
      return names([hashKey, loadDate, ...structure.childKeys]);
    case 'eff-satellite':
      return names([hashKey, loadDate, structure.end]);
    case 'xts':
      return names([hashKey, loadDate, ...structure.payload, ...structure.hashdiffs]);
    case 'hub':
    case 'link':
    case 'nh-link':
      return names([hashKey]);
    case 'persistent-staging':
    case 'dimension':
      return business.length === 0 ? [] : [...business, ...(structure.validity ? names([structure.start]) : [])];
    case 'staging':
    case 'reference':
      return business;
    case 'pit':
    case 'bridge':
      return names([hashKey, structure.temporals[0]]);
    case 'unknown':
      return [];
  }
}
