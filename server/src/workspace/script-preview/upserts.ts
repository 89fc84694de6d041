import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll, lastPart, problemsOf, unitsOf } from '../../syntax/inspect.ts';
import { parse } from '../../syntax/parse.ts';
import type { Insert, NodeBase } from '../../syntax/tree.ts';
import { NotFollowed } from './effect.ts';
import { quoted } from './print.ts';
import { type Edit, edited } from './rewrite.ts';
import { columnName, positional, rowsText } from './values.ts';

/** True for `INSERT … ON CONFLICT`, `INSERT OR REPLACE` and `INSERT OR IGNORE` of the embedded engine. */
export function isUpsert(insert: Insert): boolean {
  return conflictOf(insert) !== undefined || insert.mode === 'or-replace' || insert.mode === 'or-ignore';
}

/**
 * The MERGE that does what an upsert does: of source rows with one key the engine takes the first, a row that is there is
 * updated or left, any other is new. Throws `NotFollowed` where the key or the columns are open.
 */
export function upsertAsMerge(insert: Insert, table: CatalogTable, source: (node: NodeBase) => string): string {
  const { target } = insert;
  if (target.kind !== 'table' || insert.source.kind !== 'query' || insert.byName) {
    throw new NotFollowed('an INSERT that replaces or skips is followed for plain columns only', insert.start);
  }
  // `INSERT INTO t AS x (a, b)` reads as an alias with columns.
  const listed = insert.columns.length > 0 ? insert.columns : target.columns;
  const named = listed.length > 0 ? listed.map(({ name }) => name) : positional(table, { platform: 'duckdb' });
  const columns = named.map((name) => columnName(table, name, insert));
  const conflict = readConflict(insert, source);
  const key = (conflict.key ?? onlyKey(table, insert)).map((name) => columnName(table, name, insert));
  const open = key.find((name) => !columns.includes(name));
  if (open !== undefined) throw new NotFollowed(`${open} of the key gets no value of its own`, insert.start);
  const alias = source(target.alias ?? lastPart(target.name));
  const slice = (start: number, end: number) => source({ start, end });
  const name = (column: string) => quoted(column, 'duckdb');
  const others = columns.filter((column) => !key.includes(column));
  const replacing =
    insert.mode === 'or-replace' && others.length > 0
      ? `THEN UPDATE SET ${others.map((column) => `${name(column)} = excluded.${name(column)}`).join(', ')}`
      : null;
  const updating = conflict.update === null ? replacing : updateText(conflict.update, alias, insert);
  return [
    ...(insert.with === null ? [] : [source(insert.with)]),
    `MERGE INTO ${source(target.name)} AS ${alias}`,
    `USING (SELECT DISTINCT ON (${key.map(name).join(', ')}) * FROM (`,
    rowsText(insert.source, insert.source, table, columns, { slice, platform: 'duckdb' }),
    `) AS given (${columns.map(name).join(', ')})) AS excluded`,
    `ON ${key.map((column) => `${alias}.${name(column)} = excluded.${name(column)}`).join(' AND ')}`,
    ...(updating === null ? [] : [`WHEN MATCHED ${updating}`]),
    `WHEN NOT MATCHED THEN INSERT (${columns.map(name).join(', ')})`,
    `VALUES (${columns.map((column) => `excluded.${name(column)}`).join(', ')});`,
  ].join('\n');
}

interface Conflict {
  /** Null where none is named. */
  readonly key: readonly string[] | null;
  /** `SET …` with its WHERE; null where rows that are there stay as they are. */
  readonly update: string | null;
}

function conflictOf({ conflict }: Insert) {
  return conflict ?? undefined;
}

function readConflict(insert: Insert, source: (node: NodeBase) => string): Conflict {
  const clause = conflictOf(insert);
  if (clause === undefined) return { key: null, update: null };
  const text = source(clause);
  const match = /^ON\s+CONFLICT\s*(?:\(([^()]*)\))?\s*DO\s+(?:NOTHING|UPDATE\s+(SET\b[\s\S]*))$/i.exec(text);
  if (match === null) throw new NotFollowed('ON CONFLICT is followed with a list of columns only', clause.start);
  const [, list, update] = match;
  const key = list?.split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1')) ?? null;
  return { key, update: update ?? null };
}

function onlyKey(table: CatalogTable, insert: Insert): readonly string[] {
  const [key, ...more] = table.keys.filter(({ kind }) => kind !== 'inferred');
  if (key === undefined || more.length > 0) {
    throw new NotFollowed(
      `which rows of ${table.name.table} are in conflict is not known: its DDL ${key === undefined ? 'declares no key' : 'declares several keys'}`,
      insert.start,
    );
  }
  return key.columns;
}

/** The update with the condition of its branch; names without a table mean the row that is there. */
function updateText(update: string, alias: string, insert: Insert): string {
  const text = `UPDATE ${alias} ${update}`;
  const script = parse(text, { platform: 'duckdb' });
  const [unit] = unitsOf(script);
  const statement = unit?.statement;
  if (unit === undefined || statement?.kind !== 'update' || problemsOf(script).length > 0) {
    throw new NotFollowed('ON CONFLICT DO UPDATE can’t be read', insert.start);
  }
  const values = statement.assignments.map(({ value }) => value);
  const edits = [...values, ...(statement.where === null ? [] : [statement.where])].flatMap((node) =>
    findAll(node, 'column').flatMap(({ parts, start }): readonly Edit[] =>
      parts.length === 1 && !sameIdentifier(parts[0]?.name ?? '', 'excluded')
        ? [{ start, end: start, text: `${alias}.` }]
        : [],
    ),
  );
  const slice = ({ start, end }: NodeBase) => edited(text, unit.offset, start, end, edits);
  const sets = statement.assignments.map(slice).join(', ');
  return `${statement.where === null ? '' : `AND (${slice(statement.where)}) `}THEN UPDATE SET ${sets}`;
}
