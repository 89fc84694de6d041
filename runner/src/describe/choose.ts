import type { TableName } from '../../../protocol/catalog.ts';
import type { ListedTable } from '../../../protocol/runner-process.ts';

/** The one listed table that a name of one to three parts means; rejects nothing and two in words. */
export function oneOf(tables: readonly ListedTable[], wanted: TableName): ListedTable {
  const found = tables.filter(
    (table) =>
      same(table.name, wanted.table) &&
      (wanted.schema === null || same(table.schema, wanted.schema)) &&
      (wanted.database === null || (table.database !== null && same(table.database, wanted.database))),
  );
  const [first, second] = found;
  if (first === undefined) throw new Error(`The database has no table ${spoken(wanted)}; check its name and schema.`);
  if (second === undefined) return first;
  const names = found.map(({ database, schema, name }) => spoken({ database, schema, table: name }));
  throw new Error(`${spoken(wanted)} means more than one table: ${names.join(', ')}. Write more of its name.`);
}

/** Whether two names that the engine itself has listed are one, to the letter. */
export function sameName(left: TableName, right: TableName): boolean {
  return left.database === right.database && left.schema === right.schema && left.table === right.table;
}

function same(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function spoken({ database, schema, table }: TableName): string {
  return [database, schema, table].filter((part) => part !== null).join('.');
}
