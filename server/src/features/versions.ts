import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import type { CellValue } from '../../../protocol/run.ts';
import {
  all,
  any,
  ascending,
  column,
  compare,
  differs,
  isNull,
  item,
  join,
  literal,
  replace,
  select,
  shown,
  source,
  table,
  upper,
} from '../load/build.ts';
import { columnOf } from '../load/context.ts';
import { type Expression, originOf, type Query, types, valueType } from '../load/language.ts';
import { sameIdentifier } from '../model/names.ts';
import { parentOf, type VersionedTable } from './version-columns.ts';

/** Keys that a search shows; more would be no choice. */
const shownKeys = 50;

/** The hub that knows a satellite's keys by the names that people know. */
export interface BusinessKey {
  readonly hub: CatalogTable;
  /** The hub's column of the key in the satellite. */
  readonly key: CatalogColumn;
  readonly columns: readonly CatalogColumn[];
}

export function businessKeyOf(versioned: VersionedTable, catalog: readonly CatalogTable[]): BusinessKey | null {
  const found = parentOf(versioned, catalog, ['hub']);
  if (found === undefined) return null;
  const { parent: hub, key } = found;
  const columns = hub.columns.filter((part) => part.role === 'business-key');
  return columns.length === 0 ? null : { hub, key, columns };
}

/**
 * Why keys that are hashes can't be searched as people know them, and what to do; null where a hub has their names, where
 * the table has its own, and where the keys are no hashes.
 */
export function businessRefusalOf(versioned: VersionedTable, catalog: readonly CatalogTable[]): string | null {
  const { table: own, keys } = versioned;
  const [key] = keys.filter((part) => part.role === 'hash-key');
  if (key === undefined || own.role === 'hub' || businessKeyOf(versioned, catalog) !== null) return null;
  const link = parentOf(versioned, catalog, ['link', 'nh-link'])?.parent;
  return link === undefined
    ? `Keys are searched and shown by the hash ${key.name} alone, since no hub with this column and a business key is defined in this folder. Add the hub's CREATE TABLE to it to search by the business key.`
    : `Keys are searched and shown by the hash ${key.name} alone, since it is the key of the link ${link.name.table}, which has no business key of its own.`;
}

/**
 * The keys of a table whose text holds the search, whatever its case; the business key stands after them where a hub has
 * it, and is searched, too. A key that the hub lacks is found by itself.
 */
export function keysQuery(versioned: VersionedTable, business: BusinessKey | null, search: string): Query {
  const ownKeys = versioned.keys.map((key) => ({ name: key.name, value: reference(key, versioned) }));
  const names = (business?.columns ?? []).map((part, index) => ({
    // A satellite may store its business key under the hub's name.
    name: businessName(part, index, versioned),
    value: columnOf('h', business?.hub ?? versioned.table, part),
  }));
  const wanted = search.replaceAll('\u0000', '').trim().toUpperCase();
  const holds = [...ownKeys, ...names].map(({ value }) => {
    const text = upper(shown(value));
    return differs(replace(text, wanted, ''), text);
  });
  return select(
    [...ownKeys, ...names].map(({ name, value }) => item(name, value)),
    source(table(versioned.table.name), 'v'),
    {
      distinct: true,
      joins: business === null ? [] : [join('left', table(business.hub.name), 'h', [sameKey(versioned, business)])],
      where: wanted === '' ? [] : [any(...holds)],
      orderBy: [...names, ...ownKeys].map(({ name, value }) => ascending(column(null, name, typeOfValue(value)))),
      limit: shownKeys,
    },
  );
}

function businessName(part: CatalogColumn, index: number, { keys }: VersionedTable): string {
  return keys.some((key) => sameIdentifier(key.name, part.name)) ? `${part.name}_${index + 1}` : part.name;
}

function sameKey(versioned: VersionedTable, { hub, key }: BusinessKey): Expression {
  const hubKey = hub.columns.find((part) => sameIdentifier(part.name, key.name)) ?? key;
  return compare(columnOf('h', hub, hubKey), '=', reference(key, versioned));
}

function typeOfValue(value: Expression) {
  return 'type' in value && value.type !== null ? value.type : types.text;
}

/** The versions of one key, from the first to the last. */
export function versionsQuery(versioned: VersionedTable, key: readonly CellValue[]): Query {
  const { keys, start, end, tracked } = versioned;
  const columns = [...keys, start, ...(end === null ? [] : [end]), ...tracked];
  const isKey = keys.map((part, index): Expression => {
    const value = key[index] ?? null;
    const place = reference(part, versioned);
    return value === null ? isNull(place) : compare(place, '=', literal(value, typeOf(part, versioned)));
  });
  return select(
    columns.map((part) => item(part.name, reference(part, versioned))),
    source(table(versioned.table.name), 'v'),
    { where: [all(...isKey)], orderBy: [ascending(reference(start, versioned))] },
  );
}

function reference(part: CatalogColumn, versioned: VersionedTable): Expression {
  return column('v', part.name, typeOf(part, versioned));
}

function typeOf(part: CatalogColumn, { table: { platform } }: VersionedTable) {
  return valueType(part.type, originOf(platform));
}
