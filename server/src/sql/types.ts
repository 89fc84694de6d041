/**
 * What a column type is called on another platform. A type keeps its own text where it already comes from the platform's
 * family; across families it is translated by what it means.
 */
import type { ValueType } from '../load/language.ts';

/** The type on the embedded engine, which has one text type and ignores lengths. */
export function duckdbType({ text, origin, facts }: ValueType): string {
  if (origin === 'duckdb') return text.toUpperCase();
  const { base, precision, scale } = facts;
  switch (facts.family) {
    case 'integer':
      if (base === 'tinyint') return origin === 'tsql' ? 'UTINYINT' : 'TINYINT';
      if (base === 'smallint' || base === 'short') return 'SMALLINT';
      return base === 'bigint' || base === 'long' ? 'BIGINT' : base === 'byte' ? 'TINYINT' : 'INTEGER';
    case 'decimal':
      return `DECIMAL(${precision ?? 18},${scale ?? 0})`;
    case 'float':
      return precision === 24 ? 'FLOAT' : 'DOUBLE';
    case 'binary':
    case 'rowversion':
      return 'BLOB';
    case 'date':
      return 'DATE';
    case 'time':
      return 'TIME';
    case 'timestamp':
      return base === 'datetimeoffset' || base === 'timestamp_ltz' ? 'TIMESTAMPTZ' : 'TIMESTAMP';
    case 'boolean':
      return 'BOOLEAN';
    case 'uuid':
      return 'UUID';
    case 'text':
    case 'other':
      return 'VARCHAR';
  }
}

/** The type in T-SQL. Text without a limit becomes `max`; timestamps keep their digits up to seven. */
export function tsqlType({ text, origin, facts }: ValueType): string {
  if (origin === 'tsql') return text;
  const { base, precision, scale, length } = facts;
  switch (facts.family) {
    case 'integer':
      if (base === 'hugeint' || base === 'ubigint') return 'decimal(38,0)';
      if (base === 'uinteger' || base === 'bigint' || base === 'long') return 'bigint';
      return base === 'tinyint' || base === 'utinyint' || base === 'smallint' || base === 'byte' ? 'smallint' : 'int';
    case 'decimal':
      return `decimal(${precision ?? 18},${scale ?? 0})`;
    case 'float':
      return precision === 24 ? 'real' : 'float';
    case 'binary':
    case 'rowversion':
      return length !== null && length <= 8000 ? `varbinary(${length})` : 'varbinary(max)';
    case 'date':
      return 'date';
    case 'time':
      return `time(${Math.min(scale ?? 6, 7)})`;
    case 'timestamp':
      return `${base === 'timestamptz' || base === 'timestamp_ltz' ? 'datetimeoffset' : 'datetime2'}(${Math.min(scale ?? 6, 7)})`;
    case 'boolean':
      return 'bit';
    case 'uuid':
      return 'uniqueidentifier';
    case 'text':
    case 'other':
      return length !== null && length <= 4000 ? `nvarchar(${length})` : 'nvarchar(max)';
  }
}
