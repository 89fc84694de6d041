import type { Platform } from '../../../../protocol/platform.ts';
import { type Dialect, portions, tableElements } from '../dialect.ts';

/**
 * T-SQL: SQL Server, Azure SQL, Synapse, Fabric. Rows are inserted by UNION ALL, which all of them take. Synapse merges
 * into hash-distributed tables only, so tables are distributed by their first column, which in cases is a key.
 */
export function tsqlDialect(platform: Platform): Dialect {
  const typeOf = (neutralType: string): string => tsqlType(neutralType, platform);
  const valueText = (value: string | null, type: string): string =>
    `CAST(${value === null ? 'NULL' : type === 'boolean' ? bit(value) : literal(value)} AS ${typeOf(type)})`;
  return {
    columnType: typeOf,
    createTable: (table, columns, keys) =>
      `CREATE TABLE ${qualified(table)} (\n${tableElements(columns, keys, quoted, typeOf)}\n)${
        platform.name === 'synapse' ? ` WITH (DISTRIBUTION = HASH(${quoted(Object.keys(columns)[0] ?? '')}), HEAP)` : ''
      };`,
    addColumn: (table, column, type) => `ALTER TABLE ${qualified(table)} ADD ${quoted(column)} ${typeOf(type)} NULL;`,
    listTables: (prefix) =>
      `SELECT TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = N'dbo' AND LEFT(TABLE_NAME, ${prefix.length}) = ${literal(prefix)};`,
    dropTable: (table) => `DROP TABLE ${qualified(table)};`,
    dropView: (view) => `DROP VIEW ${qualified(view)};`,
    dropProcedure: (procedure) =>
      `IF OBJECT_ID(${literal(qualified(procedure))}, N'P') IS NOT NULL DROP PROCEDURE ${qualified(procedure)};`,
    deleteRows: (table) => `DELETE FROM ${qualified(table)};`,
    insertRows: (table, columns, rows) =>
      portions(rows, 50).map((portion) => {
        const names = Object.keys(columns).map(quoted).join(', ');
        const selects = portion.map(
          (row) =>
            `SELECT ${Object.entries(columns)
              .map(([name, type]) => valueText(row[name] ?? null, type))
              .join(', ')}`,
        );
        return `INSERT INTO ${qualified(table)} (${names})\n${selects.join('\nUNION ALL\n')};`;
      }),
    selectRows: (table, columns) =>
      `SELECT ${Object.entries(columns)
        .map(([name, type]) => `${asText(quoted(name), type)} AS ${quoted(name)}`)
        .join(', ')} FROM ${qualified(table)};`,
  };
}

const quoted = (name: string): string => `[${name.replaceAll(']', ']]')}]`;
const qualified = (table: string): string => `[dbo].${quoted(table)}`;

const bit = (value: string): string => (value === 'true' ? '1' : '0');

/**
 * A Unicode literal. A backslash before a line break joins lines inside a T-SQL literal, so the literal is cut there;
 * pieces are joined as nvarchar(max), which no length cuts.
 */
function literal(text: string): string {
  const pieces = text.split(/(?<=\\)(?=\r|\n)/).map((piece) => `N'${piece.replaceAll("'", "''")}'`);
  return pieces.length === 1 ? (pieces[0] ?? "N''") : `CAST(N'' AS nvarchar(max)) + ${pieces.join(' + ')}`;
}

/** Fabric has no nvarchar and no `nvarchar(max)`; its varchar is UTF-8, four bytes a character at most. */
function tsqlType(neutralType: string, platform: Platform): string {
  if (neutralType.startsWith('timestamp')) return neutralType.replace('timestamp', 'datetime2');
  if (neutralType.startsWith('decimal')) return neutralType;
  switch (neutralType) {
    case 'string':
      return platform.name === 'fabric' ? 'varchar(400)' : 'nvarchar(100)';
    case 'text':
      return platform.name === 'fabric' ? 'varchar(max)' : 'nvarchar(max)';
    case 'hash':
      return 'varchar(64)';
    case 'boolean':
      return 'bit';
    default:
      return neutralType;
  }
}

function asText(column: string, type: string): string {
  if (type.startsWith('timestamp')) return `CONVERT(varchar(33), ${column}, 121)`;
  if (type.startsWith('decimal') || type === 'int' || type === 'bigint') return `CONVERT(varchar(50), ${column})`;
  if (type === 'date') return `CONVERT(varchar(10), ${column}, 23)`;
  if (type === 'boolean') return `CONVERT(varchar(1), ${column})`;
  return column;
}
