import type { CatalogColumn, CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { PlatformName } from '../../../protocol/platform.ts';
import { openEnd } from '../features/data-checks.ts';
import { printerOf } from '../features/inspection.ts';
import { column, compare, countRows, descending, item, literal, select, source, table } from '../load/build.ts';
import { columnOf, columnType } from '../load/context.ts';
import type { Query } from '../load/language.ts';
import { readMentions, writesRows } from '../model/mentions.ts';
import { formatTableName } from '../model/names.ts';
import { comment } from '../sql/text.ts';
import { parse } from '../syntax/parse.ts';
import type { Folder } from './folder.ts';

/** Times that a load writes into its rows. */
const stampRoles = ['load-date', 'insert-date', 'effective-start', 'effective-end', 'inactive-date'] as const;
/** Newest times that are listed; a run wrote one or a few of them. */
const listedTimes = 10;

/**
 * A script that only reads, and tells what a text wrote whose end nobody saw: for every table that it writes, how many rows
 * bear each of the newest times, or how many rows there are where the table has no such column. Null where the text names
 * no table that it writes, such as a call of a procedure.
 */
export function findOutScript(folder: Folder, text: string, platform: PlatformName): string | null {
  const printer = printerOf(platform);
  const tables = new Map<string, TableName>();
  for (const { name, access } of readMentions(parse(text, { platform }))) {
    if (!writesRows(access)) continue;
    const known = folder.catalog.lookup.one(name)?.name ?? name;
    tables.set(formatTableName(known).toLowerCase(), known);
  }
  if (printer === undefined || tables.size === 0) return null;
  const head = [
    'Finds out what a run wrote whose end was not seen. It only reads.',
    'A batch that the server still works on may hold these queries up until it has ended.',
  ];
  const queries = [...tables.values()].flatMap((name) => {
    const known = folder.catalog.lookup.one(name);
    return (known === undefined ? [countOf(name)] : queriesFor(known)).map(
      ({ says, query }) => `${comment(says)}\n${printer.query(query)};`,
    );
  });
  return `${head.map((line) => comment(line)).join('\n')}\n\n${queries.join('\n\n')}\n`;
}

interface Told {
  readonly says: string;
  readonly query: Query;
}

function queriesFor(known: CatalogTable): readonly Told[] {
  const stamps = stampRoles.flatMap((role) => known.columns.find((of) => of.role === role && !of.computed) ?? []);
  return stamps.length === 0 ? [countOf(known.name)] : stamps.map((of) => newestTimes(known, of));
}

function newestTimes(known: CatalogTable, of: CatalogColumn): Told {
  const stamp = columnOf('t', known, of);
  // The open end is no time at which anything was written.
  const where = of.role === 'effective-end' ? [compare(stamp, '<', literal(openEnd, columnType(known, of)))] : [];
  return {
    says: `${formatTableName(known.name)}: rows by ${of.name}, the newest first. Rows of the run's own time are there if it committed.`,
    query: select([item(of.name, stamp), item('rows_found', countRows())], source(table(known.name), 't'), {
      where,
      groupBy: [stamp],
      orderBy: [descending(column(null, of.name, columnType(known, of)))],
      limit: listedTimes,
    }),
  };
}

function countOf(name: TableName): Told {
  return {
    says: `${formatTableName(name)}: all rows; no column of it tells when a row was written.`,
    query: select([item('rows_found', countRows())], source(table(name), 't')),
  };
}
