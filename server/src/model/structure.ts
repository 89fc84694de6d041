import { isTsql } from '../../../protocol/platform.ts';
import type { ColumnRole } from '../../../protocol/roles.ts';
import { type Conventions, type NamedColumnRole, namedRoleOrder } from './conventions.ts';
import type { ColumnFacts, TableFacts } from './facts.ts';
import { fitsPattern, sameIdentifier, snakeName, words } from './names.ts';
import { isTemporal, mayHoldDigest, type TypeFacts, typeFacts } from './types.ts';

/** One column with what its name and type say. */
export interface StructuredColumn {
  readonly facts: ColumnFacts;
  readonly type: TypeFacts;
  readonly named: NamedColumnRole | null;
}

/** What can be seen of a table without looking at its name: its columns sorted by what they seem to be for. */
export interface Structure {
  readonly table: TableFacts;
  readonly columns: readonly StructuredColumn[];
  readonly hashKeys: readonly StructuredColumn[];
  readonly hashdiffs: readonly StructuredColumn[];
  readonly loadDates: readonly StructuredColumn[];
  readonly recordSource: StructuredColumn | null;
  readonly start: StructuredColumn | null;
  readonly end: StructuredColumn | null;
  readonly flag: StructuredColumn | null;
  readonly inactive: StructuredColumn | null;
  readonly insertDate: StructuredColumn | null;
  readonly checksum: StructuredColumn | null;
  readonly childKeys: readonly StructuredColumn[];
  readonly temporals: readonly StructuredColumn[];
  /** Identity, or the only key column when it is a number named as a key (`CustomerKey int PRIMARY KEY`). */
  readonly surrogate: StructuredColumn | null;
  /** Columns that no other part of this structure names: business keys and attributes. */
  readonly payload: readonly StructuredColumn[];
  /** The declared primary key, else the first declared unique key; [] where there is none. */
  readonly key: readonly string[];
  /** Versions can be told apart: a start with an end or a current flag. */
  readonly validity: boolean;
}

/** Reads a table's structure by names and types; which of it counts is decided by `roles.ts`. */
export function structureOf(table: TableFacts, conventions: Conventions): Structure {
  const tsql = isTsql(table.platform);
  const columns = withLoadValidity(
    withVaultSource(
      table.columns.map((facts): StructuredColumn => {
        const type = typeFacts(facts.type, tsql);
        return { facts, type, named: namedRole(facts, type, conventions) };
      }),
    ),
  );
  const having = (role: ColumnRole) =>
    columns.filter((column) => column.named === role && column.facts.period === null);
  const first = (role: ColumnRole) => having(role)[0] ?? null;
  const loadDates = having('load-date');
  const key = declaredKey(table);
  const hashKeys = columns.filter(
    (column) =>
      column.named === 'hash-key' ||
      (column.named === null && looksLikeHashKey(column, columns, key, loadDates.length > 0)),
  );
  const starts = having('effective-start');
  const start = starts.find(({ facts }) => includesName(key, facts.name)) ?? starts[0] ?? null;
  const end = first('effective-end');
  const flags = having('current-flag');
  const flag = flags.find((column) => !isCurrentValue(column, columns)) ?? flags[0] ?? null;
  const surrogate = surrogateOf(columns, key);
  const control = [
    ...hashKeys,
    ...having('hashdiff'),
    ...loadDates,
    ...having('record-source'),
    ...having('load-process'),
    ...having('inactive-date'),
    ...having('insert-date'),
    ...having('checksum'),
    ...having('technical'),
    ...(surrogate === null ? [] : [surrogate]),
    ...(start !== null && end !== null ? [start, end] : []),
    ...(flag !== null ? [flag] : []),
  ];
  return {
    table,
    columns,
    hashKeys,
    hashdiffs: having('hashdiff'),
    loadDates,
    recordSource: first('record-source'),
    start,
    end,
    flag,
    inactive: first('inactive-date'),
    insertDate: first('insert-date'),
    checksum: first('checksum'),
    childKeys: having('child-key'),
    temporals: columns.filter((column) => isTemporal(column.type)),
    surrogate,
    payload: columns.filter((column) => !control.includes(column) && !column.facts.computed),
    key,
    validity: start !== null && (end !== null || flag !== null) && bearsVersions(start, key, surrogate),
  };
}

/** `current_flag` beside `flag` is that column's current value in a type 6 dimension. */
function isCurrentValue({ facts }: StructuredColumn, columns: readonly StructuredColumn[]): boolean {
  const [mark, ...rest] = words(facts.name);
  const of = rest.join('_');
  return mark === 'current' && columns.some((column) => snakeName(column.facts.name) === of);
}

/**
 * AutomateDV's record source is a plain `SOURCE`, and that of others the same word of their language, which is a business
 * column of any table without hash key and load date.
 */
function withVaultSource(columns: readonly StructuredColumn[]): readonly StructuredColumn[] {
  const has = (role: NamedColumnRole): boolean => columns.some(({ named }) => named === role);
  if (!has('hash-key') || !has('load-date') || has('record-source')) return columns;
  return columns.map((column) =>
    column.named === null && /^(source|quelle|herkunft|bron)$/i.test(column.facts.name) && column.type.family === 'text'
      ? { ...column, named: 'record-source' }
      : column,
  );
}

/** Outside of a vault a load date with an end of its own says from when to when a version was the latest. */
function withLoadValidity(columns: readonly StructuredColumn[]): readonly StructuredColumn[] {
  const isNamed = (...roles: NamedColumnRole[]) => columns.some(({ named }) => named !== null && roles.includes(named));
  if (isNamed('hash-key', 'hashdiff', 'effective-start', 'effective-end')) return columns;
  const starts = columns.filter(({ named }) => named === 'load-date');
  const ends = columns.filter(({ facts, type }) => fitsPattern(facts.name, loadEnds) && isTemporal(type));
  const [start, end] = [starts[0], ends[0]];
  if (start === undefined || end === undefined || starts.length > 1 || ends.length > 1) return columns;
  return columns.map((column) => {
    if (column === start) return { ...column, named: 'effective-start' };
    return column === end ? { ...column, named: 'effective-end' } : column;
  });
}

const loadEnds = ['load_end_*', 'ledts', 'load_date_end', '*_load_end_*'];

/**
 * Contracts and employees have start dates, too: a plain name counts only where rows can't be without it, and where the
 * key lets one thing have several rows.
 */
function bearsVersions(start: StructuredColumn, key: readonly string[], surrogate: StructuredColumn | null): boolean {
  const [first = ''] = words(start.facts.name);
  const plain = /^(start|begin|from)$/.test(first) && !start.facts.name.startsWith('_');
  if (!plain || surrogate !== null || includesName(key, start.facts.name)) return true;
  return !start.facts.nullable && key.length === 0;
}

/** The declared primary key, else the first unique key, in key order. */
function declaredKey(table: TableFacts): readonly string[] {
  const primary = table.keys.find((key) => key.kind === 'primary-key');
  return (primary ?? table.keys.find((key) => key.kind === 'unique'))?.columns ?? [];
}

/** Finds a name in a list of names as the database would. */
export function includesName(names: readonly string[], name: string): boolean {
  return names.some((other) => sameIdentifier(other, name));
}

function namedRole(column: ColumnFacts, type: TypeFacts, conventions: Conventions): NamedColumnRole | null {
  if (column.period !== null) return column.period === 'start' ? 'effective-start' : 'effective-end';
  if (column.computed) return null;
  const fitting = namedRoleOrder.find(
    (role) => fitsPattern(column.name, conventions.columns[role]) && typeSuits(role, column.name, type),
  );
  return fitting ?? null;
}

/** A name counts only on a type that can bear the role: `Active datetime` is no flag, `start_dt varchar(200)` no start. */
function typeSuits(role: NamedColumnRole, name: string, type: TypeFacts): boolean {
  const { family } = type;
  if (family === 'other') return true;
  switch (role) {
    case 'hashdiff':
      return family === 'text' || family === 'binary' || family === 'integer' || family === 'uuid';
    case 'hash-key': {
      const weak = words(name).some((word) => word === 'pk' || word === 'fk' || word === 'lk');
      return weak ? mayHoldDigest(type) : family === 'text' || family === 'binary' || family === 'uuid';
    }
    case 'inactive-date':
    case 'effective-start':
    case 'effective-end':
    case 'insert-date':
    case 'load-date':
      return isTemporal(type);
    case 'current-flag':
      // DuckDB and Spark state no length for the shortest text.
      return family === 'boolean' || family === 'integer' || isShortText(type);
    case 'operation':
      return family === 'text' || family === 'integer';
    case 'sequence':
      return family !== 'text' && family !== 'boolean' && family !== 'date';
    case 'checksum':
      return family === 'integer' || family === 'text' || family === 'binary' || family === 'decimal';
    case 'record-source':
    case 'load-process':
    case 'child-key':
    case 'technical':
      return true;
  }
}

function isShortText({ family, base, length, unicode }: TypeFacts): boolean {
  const unstated = length === Number.POSITIVE_INFINITY && unicode && (base === 'varchar' || base === 'string');
  return family === 'text' && (unstated || (length ?? 0) <= 8);
}

/** A digest-sized column beside a load date that is part of the key, or is named as a key and leads the table. */
function looksLikeHashKey(
  column: StructuredColumn,
  columns: readonly StructuredColumn[],
  key: readonly string[],
  hasLoadDate: boolean,
): boolean {
  if (!hasLoadDate || !mayHoldDigest(column.type) || column.type.length === Number.POSITIVE_INFINITY) return false;
  const last = words(column.facts.name).at(-1) ?? '';
  const namedAsKey = /^(key|hash|sk|id|hub|fk|[a-z]*key|[a-z]*schl(ue|ü)ssel|[a-z]*sleutel)$/.test(last);
  if (includesName(key, column.facts.name)) return true;
  return namedAsKey && (!column.facts.nullable || columns[0] === column);
}

function surrogateOf(columns: readonly StructuredColumn[], key: readonly string[]): StructuredColumn | null {
  const identity = columns.find((column) => column.facts.identity);
  if (identity !== undefined) return identity;
  const [only, ...more] = key;
  if (only === undefined || more.length > 0) return null;
  const column = columns.find((candidate) => sameIdentifier(candidate.facts.name, only));
  if (column === undefined || column.type.family !== 'integer') return null;
  return /^(sk|key|sid|wid|surrogate|schluessel|schlüssel|sleutel)$/.test(words(only).at(-1) ?? '') ||
    /^(sk|dw)_/i.test(only)
    ? column
    : null;
}
