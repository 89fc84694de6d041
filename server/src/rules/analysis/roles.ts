import type { ColumnRole } from '../../../../protocol/roles.ts';

export function isDigestRole(role: ColumnRole | null): boolean {
  return role === 'hashdiff' || role === 'checksum' || role === 'hash-key';
}

/** Columns that a load fills by itself: no change of the business data is ever in them. */
export function isTechnicalRole(role: ColumnRole | null): boolean {
  return (
    role !== null &&
    [
      'load-date',
      'record-source',
      'load-process',
      'insert-date',
      'effective-start',
      'effective-end',
      'current-flag',
      'inactive-date',
      'technical',
      'checksum',
      'hashdiff',
      'operation',
      'sequence',
    ].includes(role)
  );
}
