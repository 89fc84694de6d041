import type { ColumnRole, TableRole } from '../../../protocol/roles.ts';

/** Column roles that names tell; the others follow from the table's structure. */
export type NamedColumnRole = Exclude<ColumnRole, 'business-key' | 'attribute'>;

/** A correction that a person wrote for one table. */
interface TableCorrection {
  /** One to three parts, as in a specification. */
  readonly table: string;
  readonly role?: TableRole;
  /** Key columns that the DDL does not declare. */
  readonly key?: readonly string[];
  readonly columns?: Readonly<Record<string, ColumnRole>>;
}

/**
 * What a house calls its columns and tables. Patterns are written in snake case with `*`, see `fitsPattern`; a column's
 * roles are tried in the order of `namedRoleOrder`, and structure counts more than a name wherever both speak.
 */
export interface Conventions {
  readonly columns: Readonly<Record<NamedColumnRole, readonly string[]>>;
  readonly tables: Readonly<Partial<Record<TableRole, readonly string[]>>>;
  /** Schema and database names, parts in any place: `stg`, `*_staging`. */
  readonly schemas: Readonly<Partial<Record<TableRole, readonly string[]>>>;
  /** Prefixes and suffixes that are ignored when staging and target columns are matched. */
  readonly ignoredAffixes: readonly string[];
  /** What stands behind the entity's name in a business key column: patient_id, department_no. */
  readonly keySuffixes: readonly string[];
  readonly corrections: readonly TableCorrection[];
}

export const namedRoleOrder: readonly NamedColumnRole[] = [
  'hashdiff',
  'hash-key',
  'inactive-date',
  'effective-start',
  'effective-end',
  'current-flag',
  'insert-date',
  'load-date',
  'record-source',
  'load-process',
  'checksum',
  'operation',
  'sequence',
  'child-key',
  'technical',
];
