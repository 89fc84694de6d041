import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import { mostOffenders } from '../../../protocol/requests.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import {
  all,
  any,
  ascending,
  column,
  compare,
  countRows,
  isNotNull,
  isNull,
  item,
  join,
  literal,
  moveTime,
  same,
  select,
  source,
  table,
  window,
} from '../load/build.ts';
import { type Expression, originOf, type Query, valueType } from '../load/language.ts';
import type { TableCatalog } from '../model/catalog.ts';
import type { Check, CheckQuery } from './check-query.ts';
import { hashChecks } from './hash-checks.ts';
import { parentOf, type VersionedTable } from './version-columns.ts';

/** Ends from here on mean "still open" in houses that write no NULL. */
export const openEnd = '4000-01-01';

/** The invariants of a table that keeps versions, in the order in which a person would look at them. */
export function dataChecks(
  versioned: VersionedTable,
  catalog: Pick<TableCatalog, 'tables' | 'lookup'>,
  loads: readonly LoadSpecification[],
): readonly Check[] {
  const intervals = versioned.end === null ? [] : intervalChecks(versioned, versioned.end);
  return [
    oneStart(versioned),
    ...intervals,
    ...equalNeighbours(versioned),
    ...orphans(versioned, catalog.tables),
    ...hashChecks(versioned, loads, catalog.lookup),
  ];
}

function oneStart(versioned: VersionedTable): CheckQuery {
  const { start, keys } = versioned;
  const columns = [...keys, start].map((part) => reference('v', part, versioned));
  return {
    name: 'one-version-per-start',
    description: `No two rows of one key begin at the same ${start.name}.`,
    query: select(
      [...keys, start]
        .map((part, index) => item(part.name, columns[index] ?? literal(null)))
        .concat(item('versions', countRows())),
      source(table(versioned.table.name), 'v'),
      { groupBy: columns, having: [compare(countRows(), '>', literal(1))], limit: mostOffenders },
    ),
  };
}

function intervalChecks(versioned: VersionedTable, end: CatalogColumn): readonly CheckQuery[] {
  const { start, keys, closingGap } = versioned;
  const isOpen = openVersion('v', end, versioned);
  const keyColumns = keys.map((part) => reference('v', part, versioned));
  const endOf = reference('n', end, versioned);
  const next = column('n', 'next_start', typeOf(start, versioned));
  const fromEnd = laterBy(endOf, closingGap);
  return [
    {
      name: 'one-open-version',
      description: 'Every key has at most one version without an end.',
      query: select(
        keys
          .map((part, index) => item(part.name, keyColumns[index] ?? literal(null)))
          .concat(item('open_versions', countRows())),
        source(table(versioned.table.name), 'v'),
        { where: [isOpen], groupBy: keyColumns, having: [compare(countRows(), '>', literal(1))], limit: mostOffenders },
      ),
    },
    {
      name: 'end-after-start',
      description: 'No version ends before it begins.',
      query: select(
        [...keys, start, end].map((part) => item(part.name, reference('v', part, versioned))),
        source(table(versioned.table.name), 'v'),
        {
          where: [compare(reference('v', end, versioned), '<', reference('v', start, versioned))],
          limit: mostOffenders,
        },
      ),
    },
    {
      name: 'no-overlap',
      description: 'No moment belongs to two versions of one key.',
      query: overNext(versioned, end, [isNotNull(next), any(isNull(endOf), compare(next, '<', endOf))]),
    },
    {
      name: 'no-gap',
      description: 'A version begins where the one before it ends.',
      query: overNext(versioned, end, [isNotNull(next), compare(next, '>', fromEnd)]),
    },
  ];
}

/** Versions with the start of the next version of their key, where the conditions hold. */
function overNext(versioned: VersionedTable, end: CatalogColumn, where: readonly Expression[]): Query {
  const { start, keys } = versioned;
  const parts = [...keys, start, end];
  const order = [ascending(reference('v', start, versioned))];
  const partition = keys.map((part) => reference('v', part, versioned));
  const inner = select(
    [
      ...parts.map((part) => item(part.name, reference('v', part, versioned))),
      item('next_start', window('lead', reference('v', start, versioned), partition, order)),
    ],
    source(table(versioned.table.name), 'v'),
  );
  return select(
    [
      ...parts.map((part) => item(part.name, reference('n', part, versioned))),
      item('next_start', column('n', 'next_start', typeOf(start, versioned))),
    ],
    source(inner, 'n'),
    { where, limit: mostOffenders },
  );
}

/** Neighbours that differ in nothing; the hashdiff speaks for all columns where there is one. */
function equalNeighbours(versioned: VersionedTable): readonly CheckQuery[] {
  const { start, keys, tracked } = versioned;
  const hashdiff = versioned.table.columns.find((part) => part.role === 'hashdiff');
  const compared = hashdiff === undefined ? tracked : [hashdiff];
  if (compared.length === 0) return [];
  const order = [ascending(reference('v', start, versioned))];
  const partition = keys.map((part) => reference('v', part, versioned));
  const before = (part: CatalogColumn) => window('lag', reference('v', part, versioned), partition, order);
  const inner = select(
    [
      ...[...keys, start, ...compared].map((part) => item(part.name, reference('v', part, versioned))),
      ...compared.map((part, index) => item(`before_${index}`, before(part))),
      item('place', window('row_number', null, partition, order)),
    ],
    source(table(versioned.table.name), 'v'),
  );
  const equal = compared.map((part, index) =>
    same(reference('n', part, versioned), column('n', `before_${index}`, typeOf(part, versioned))),
  );
  return [
    {
      name: 'no-equal-neighbours',
      description: 'Every version differs from the one before it.',
      query: select(
        [...keys, start].map((part) => item(part.name, reference('n', part, versioned))),
        source(inner, 'n'),
        {
          where: [compare(column('n', 'place', valueType('bigint')), '>', literal(1)), all(...equal)],
          limit: mostOffenders,
        },
      ),
    },
  ];
}

/** Keys of a satellite that its hub or link does not have. */
function orphans(versioned: VersionedTable, catalog: readonly CatalogTable[]): readonly CheckQuery[] {
  const found = parentOf(versioned, catalog, ['hub', 'link']);
  if (found === undefined) return [];
  const { parent, key } = found;
  const parentKey = column('p', key.name, typeOf(key, versioned));
  return [
    {
      name: 'no-orphans',
      description: `Every ${key.name} stands in ${parent.name.table}.`,
      query: select([item(key.name, reference('v', key, versioned))], source(table(versioned.table.name), 'v'), {
        distinct: true,
        joins: [join('left', table(parent.name), 'p', [compare(parentKey, '=', reference('v', key, versioned))])],
        where: [isNull(parentKey)],
        limit: mostOffenders,
      }),
    },
  ];
}

/** Whole days are moved as days, which a date column can be moved by. */
function laterBy(moment: Expression, gap: number): Expression {
  const day = 86_400_000;
  if (gap === 0) return moment;
  return gap % day === 0 ? moveTime(moment, gap / day, 'day') : moveTime(moment, gap, 'millisecond');
}

function openVersion(alias: string, end: CatalogColumn, versioned: VersionedTable): Expression {
  const place = reference(alias, end, versioned);
  return any(isNull(place), compare(place, '>=', literal(openEnd, typeOf(end, versioned))));
}

function reference(alias: string, part: CatalogColumn, versioned: VersionedTable): Expression {
  return column(alias, part.name, typeOf(part, versioned));
}

function typeOf(part: CatalogColumn, { table: { platform } }: VersionedTable) {
  return valueType(part.type, originOf(platform));
}
