import type { PlatformName } from './platform.ts';
import type { Range } from './position.ts';
import type { Diagnostic } from './problem.ts';
import type { ColumnRole, TableRole } from './roles.ts';

/** A table's name in up to three parts; absent parts are null. Quotes and brackets are already removed. */
export interface TableName {
  readonly database: string | null;
  readonly schema: string | null;
  readonly table: string;
}

export interface CatalogColumn {
  readonly name: string;
  /** Lower case, without brackets or blanks: `decimal(10,0)`, `varchar(max)`, `timestamp`. */
  readonly type: string;
  /** Unstated nullability is true except in PRIMARY KEY, IDENTITY and period columns. */
  readonly nullable: boolean;
  readonly role: ColumnRole;
  readonly identity: boolean;
  /** Never written by a load: computed, rowversion and period columns. */
  readonly computed: boolean;
  /** Source text of the DEFAULT expression. */
  readonly default: string | null;
  readonly collation: string | null;
  readonly range: Range;
  /** The file that the range is in, where that is not the table's: ALTER TABLE may stand anywhere. */
  readonly file?: string;
}

export interface CatalogKey {
  readonly kind: 'primary-key' | 'unique' | 'inferred';
  /** In key order. */
  readonly columns: readonly string[];
  /** False for NOT ENFORCED, informational and inferred keys: they prove nothing. */
  readonly enforced: boolean;
  /** The columns of an inferred key that `mergewright.json` states; left out where it states none. */
  readonly stated?: readonly string[];
}

export interface CatalogTable {
  readonly name: TableName;
  /** Names that lead to it, too: those that it bore before a rename, and synonyms; left out where there are none. */
  readonly formerNames?: readonly TableName[];
  readonly platform: PlatformName;
  readonly role: TableRole;
  /** 0 to 1. */
  readonly confidence: number;
  /** Sentences a person can read. */
  readonly reasons: readonly string[];
  readonly file: string;
  readonly range: Range;
  readonly columns: readonly CatalogColumn[];
  readonly keys: readonly CatalogKey[];
  /** Table options by name, such as `distribution: "hash(patient_id)"`, `index: "clustered columnstore"`. */
  readonly options: Readonly<Record<string, string>>;
}

/** The JSON shape of `mergewright catalog --json`. */
export interface Catalog {
  readonly tables: readonly CatalogTable[];
  readonly problems: readonly Diagnostic[];
}
