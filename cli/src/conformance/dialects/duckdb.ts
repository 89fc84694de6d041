import { type Dialect, portions, tableElements } from '../dialect.ts';

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const duckdbDialect: Dialect = {
  columnType: typeOf,
  createTable: (table, columns, keys) =>
    `CREATE TABLE ${quoted(table)} (\n${tableElements(columns, keys, quoted, typeOf)}\n);`,
  addColumn: (table, column, type) => `ALTER TABLE ${quoted(table)} ADD COLUMN ${quoted(column)} ${typeOf(type)};`,
  listTables: (prefix) =>
    `SELECT table_name, table_type FROM information_schema.tables WHERE starts_with(table_name, ${literal(prefix)});`,
  dropTable: (table) => `DROP TABLE ${quoted(table)};`,
  dropView: (view) => `DROP VIEW ${quoted(view)};`,
  deleteRows: (table) => `DELETE FROM ${quoted(table)};`,
  insertRows: (table, columns, rows) =>
    portions(rows, 500).map((portion) => {
      const lines = portion.map(
        (row) =>
          `  (${Object.entries(columns)
            .map(([name, type]) => valueText(row[name] ?? null, type))
            .join(', ')})`,
      );
      const names = Object.keys(columns).map(quoted).join(', ');
      return `INSERT INTO ${quoted(table)} (${names}) VALUES\n${lines.join(',\n')};`;
    }),
  selectRows: (table, columns) =>
    `SELECT ${Object.keys(columns)
      .map((name) => `CAST(${quoted(name)} AS VARCHAR) AS ${quoted(name)}`)
      .join(', ')} FROM ${quoted(table)};`,
};

function typeOf(neutralType: string): string {
  if (neutralType.startsWith('timestamp')) return 'TIMESTAMP';
  if (neutralType.startsWith('decimal')) return neutralType.toUpperCase();
  switch (neutralType) {
    case 'int':
      return 'INTEGER';
    case 'bigint':
      return 'BIGINT';
    case 'boolean':
      return 'BOOLEAN';
    case 'date':
      return 'DATE';
    default:
      return 'VARCHAR';
  }
}

function valueText(value: string | null, type: string): string {
  if (value === null) return 'NULL';
  return type === 'string' || type === 'text' || type === 'hash'
    ? literal(value)
    : `CAST(${literal(value)} AS ${typeOf(type)})`;
}
