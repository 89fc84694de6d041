/**
 * A second reader of T-SQL queries, for view bodies that our own grammar leaves open. Only what it finds counts: what it
 * refuses says nothing about the query, and nothing depends on its being there.
 */

/** The output columns of a query by name; null where they can't all be told. */
export type SecondReader = (query: string) => readonly string[] | null;

/** Loads the reader, which is large; called when the first query needs it. */
export async function loadSecondReader(): Promise<SecondReader> {
  const { Parser } = await import('node-sql-parser/build/transactsql.js');
  const parser = new Parser();
  return (query) => {
    if (query.length > longestQuery) return null;
    try {
      const parsed: unknown = parser.astify(query, { database: 'transactsql' });
      const [first, ...more]: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
      return more.length > 0 ? null : columnNames(first);
    } catch {
      return null;
    }
  };
}

/** It takes some 60 ms for a thousand characters that it refuses in the end. */
const longestQuery = 10_000;

function columnNames(tree: unknown): readonly string[] | null {
  const columns = member(tree, 'columns');
  if (member(tree, 'type') !== 'select' || !Array.isArray(columns) || columns.length === 0) return null;
  const names = columns.map((column: unknown) => {
    const expression = member(column, 'expr');
    return member(column, 'as') ?? (member(expression, 'type') === 'column_ref' ? member(expression, 'column') : null);
  });
  return names.every((name): name is string => typeof name === 'string' && name !== '' && name !== '*') ? names : null;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([name]) => name === key)?.[1] : null;
}
