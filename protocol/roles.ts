/** What a table is in the warehouse. */
export const tableRoles = [
  'staging',
  'persistent-staging',
  'hub',
  'link',
  'nh-link',
  'satellite',
  'ma-satellite',
  'eff-satellite',
  'st-satellite',
  'rt-satellite',
  'xts',
  'dimension',
  'reference',
  'pit',
  'bridge',
  'unknown',
] as const;
export type TableRole = (typeof tableRoles)[number];

/** What a column is for in its table. */
export const columnRoles = [
  'business-key',
  'hash-key',
  'hashdiff',
  'load-date',
  'record-source',
  'load-process',
  'effective-start',
  'effective-end',
  'current-flag',
  'inactive-date',
  'insert-date',
  'checksum',
  'sequence',
  'operation',
  'child-key',
  'attribute',
  'technical',
] as const;
export type ColumnRole = (typeof columnRoles)[number];
