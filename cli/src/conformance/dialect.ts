/** What a conformance run says to an engine besides the load: tables, rows, reading back. */
import type { NeutralColumns } from './format.ts';
import type { TextRow } from './values.ts';

/** Keys of a table, where a run asks for them to be enforced. */
export interface TableKeys {
  readonly primaryKey: readonly string[];
  readonly notNull: readonly string[];
  readonly unique: readonly (readonly string[])[];
}

export interface Dialect {
  /** The column type that holds a neutral type on this platform. */
  columnType(neutralType: string): string;
  createTable(table: string, columns: NeutralColumns, keys: TableKeys): string;
  addColumn(table: string, column: string, neutralType: string): string;
  /** Selects name and kind (`BASE TABLE` or `VIEW`) of the tables and views whose names begin so. */
  listTables(prefix: string): string;
  dropTable(table: string): string;
  dropView(view: string): string;
  /** Drops a procedure that may be there; absent where the platform has none. */
  readonly dropProcedure?: (procedure: string) => string;
  deleteRows(table: string): string;
  /** Statements that insert the rows; none for no rows. */
  insertRows(table: string, columns: NeutralColumns, rows: readonly TextRow[]): readonly string[];
  /** Selects the columns as text, in their order: every digit of numbers and times, every code point of texts. */
  selectRows(table: string, columns: NeutralColumns): string;
}

export const noKeys: TableKeys = { primaryKey: [], notNull: [], unique: [] };

/** The rows in portions, so that no statement grows without limit. */
export function portions<T>(rows: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size));
}

/** The lines between the parentheses of a CREATE TABLE. */
export function tableElements(
  columns: NeutralColumns,
  keys: TableKeys,
  quoted: (name: string) => string,
  columnType: (neutralType: string) => string,
): string {
  const list = (names: readonly string[]): string => names.map(quoted).join(', ');
  const elements = Object.entries(columns).map(
    ([name, type]) => `${quoted(name)} ${columnType(type)}${keys.notNull.includes(name) ? ' NOT NULL' : ' NULL'}`,
  );
  const constraints = [
    ...(keys.primaryKey.length > 0 ? [`PRIMARY KEY (${list(keys.primaryKey)})`] : []),
    ...keys.unique.map((names) => `UNIQUE (${list(names)})`),
  ];
  return [...elements, ...constraints].map((line) => `  ${line}`).join(',\n');
}
