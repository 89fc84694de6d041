import type { CatalogColumn } from '../../../protocol/catalog.ts';
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
  literal,
  replace,
  select,
  shown,
  source,
  table,
  upper,
} from '../load/build.ts';
import { type Expression, originOf, type Query, valueType } from '../load/language.ts';
import type { VersionedTable } from './version-columns.ts';

/** Keys that a search shows; more would be no choice. */
const shownKeys = 50;

/** The keys of a table whose text holds the search, whatever its case. */
export function keysQuery(versioned: VersionedTable, search: string): Query {
  const keys = versioned.keys.map((key) => reference(key, versioned));
  const wanted = search.replaceAll('\u0000', '').trim().toUpperCase();
  const holds = keys.map((key) => {
    const text = upper(shown(key));
    return differs(replace(text, wanted, ''), text);
  });
  return select(
    versioned.keys.map((key, index) => item(key.name, keys[index] ?? literal(null))),
    source(table(versioned.table.name), 'v'),
    {
      distinct: true,
      where: wanted === '' ? [] : [any(...holds)],
      orderBy: versioned.keys.map((key) => ascending(column(null, key.name, typeOf(key, versioned)))),
      limit: shownKeys,
    },
  );
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
