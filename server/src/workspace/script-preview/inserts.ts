import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { isTsql } from '../../../../protocol/platform.ts';
import type { Insert, Name, Query } from '../../syntax/tree.ts';
import { type Effect, imageRow, NotFollowed, type Reading, type WriteEffects } from './effect.ts';
import { outputValues } from './outputs.ts';
import {
  columnName,
  demandReads,
  knownTable,
  newRow,
  positional,
  rowsText,
  stored,
  targetTable,
  withText,
} from './values.ts';

/** The rows that an INSERT adds. */
export function insertEffect(insert: Insert, outputs: boolean, reading: Reading): WriteEffects {
  const { source, target } = insert;
  if (source.kind !== 'query')
    throw new NotFollowed('only the rows of a query or of VALUES are followed', source.start);
  if (insert.mode !== 'into' || insert.byName) {
    throw new NotFollowed('an INSERT that replaces, skips or matches by name is not followed', insert.start);
  }
  const clause = insert.clauses[0];
  if (clause !== undefined) throw new NotFollowed(`${clause.name} is not followed`, clause.start);
  demandReads([source, insert.with]);
  const table = targetTable(target, insert, reading);
  const names = insert.columns.length > 0 ? insert.columns.map(({ name }) => name) : positional(table, reading);
  const written = target.kind === 'table' ? reading.source(target.name.start, target.name.end) : '';
  const columns = names.map((name) => columnName(table, name, insert));
  const effect = addedRows(
    { table, columns, written, query: queryText(source, table, columns, reading), with: withText(insert, reading) },
    outputs,
    reading,
  );
  const row = { table, before: null, after: effect.after };
  const values = outputs ? outputValues(insert.output, row, 'insert', reading) : [];
  return { effects: [{ ...effect, outputs: values }], meeting: null };
}

export interface AddedRows {
  readonly table: CatalogTable;
  /** The columns that the query fills, in its order. */
  readonly columns: readonly string[];
  /** The table's name as the script writes it. */
  readonly written: string;
  readonly query: string;
  /** WITH clause in front, '' without one. */
  readonly with: string;
}

/** The rows that a query adds to a table. */
export function addedRows(rows: AddedRows, isReadLater: boolean, reading: Reading): Effect {
  const { table, columns, written, query } = rows;
  const image = reading.imageOf(table);
  const values = new Map(columns.map((name, index) => [name, `new_rows.v${index}`]));
  const list = columns.map((_, index) => `v${index}`);
  return {
    kind: 'inserted',
    table,
    place: image ?? written,
    with: rows.with,
    from: `FROM (\n${query}\n) AS new_rows (${list.join(', ')})`,
    address: [],
    mayRepeat: false,
    before: new Map(),
    ...newRow(table, values, image ?? written, isReadLater || image !== null, reading),
    outputs: [],
    gates: [],
  };
}

/** The rows that TRUNCATE takes away: all. */
export function emptied(name: Name, reading: Reading): Effect {
  const table = knownTable(name, reading);
  const place = reading.imageOf(table) ?? reading.source(name.start, name.end);
  return {
    kind: 'deleted',
    table,
    place,
    with: '',
    from: `FROM ${place} AS t`,
    address: reading.imageOf(table) === null ? [] : [`t.${imageRow}`],
    mayRepeat: false,
    before: stored(table, 't', reading),
    after: new Map(),
    numbered: new Set(),
    outputs: [],
    gates: [],
  };
}

/** ORDER BY has no place in a derived table of T-SQL, and no meaning for rows that are inserted. */
function queryText(query: Query, table: CatalogTable, columns: readonly string[], reading: Reading): string {
  if (query.forClause !== null) throw new NotFollowed('FOR XML and FOR JSON are not followed', query.start);
  const limits =
    query.limit !== null || query.offset !== null || (query.body.kind === 'select' && query.body.top !== null);
  const isUnordered = isTsql(reading.platform) && query.orderBy.length > 0 && !limits;
  const { start, end } = query;
  return rowsText({ start, end: isUnordered ? query.body.end : end }, query, table, columns, reading);
}
