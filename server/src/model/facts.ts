import type { CatalogColumn, CatalogKey, CatalogTable, TableName } from '../../../protocol/catalog.ts';

/** A column as its DDL states it; what it is for comes later. */
export type ColumnFacts = Omit<CatalogColumn, 'role'> & {
  /** A period column of a system-versioned table. */
  readonly period: 'start' | 'end' | null;
};

/** A table as its DDL states it, before roles are worked out. */
export type TableFacts = Omit<CatalogTable, 'role' | 'confidence' | 'reasons' | 'columns' | 'keys'> & {
  readonly columns: readonly ColumnFacts[];
  /** Declared keys only. */
  readonly keys: readonly CatalogKey[];
  readonly origin: 'table' | 'external' | 'view' | 'query';
  /** The tables whose columns a view is known to show. */
  readonly reads?: readonly TableName[];
};
