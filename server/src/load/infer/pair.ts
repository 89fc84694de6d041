import type { CatalogColumn, CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import { isTsql } from '../../../../protocol/platform.ts';
import type { Problem } from '../../../../protocol/problem.ts';
import type { ColumnRole } from '../../../../protocol/roles.ts';
import type { LoadOptions } from '../../../../protocol/specification.ts';
import type { Conventions } from '../../model/conventions.ts';
import { type ColumnMatch, matchColumns, type TableMatch } from '../../model/matching.ts';
import { compactName, formatTableName, sameIdentifier } from '../../model/names.ts';
import { findStageKey, orderedBusinessKey } from '../../model/stage-keys.ts';
import { typeFacts } from '../../model/types.ts';

/** Everything that the inference of one load looks at. */
export interface Pair {
  readonly source: CatalogTable;
  readonly target: CatalogTable;
  readonly match: TableMatch;
  /** Options that a person stated; inference fills in around them. */
  readonly stated: LoadOptions;
  /** All tables of the folder: hubs, satellites beside the target. */
  readonly tables: readonly CatalogTable[];
  readonly conventions: Conventions;
}

/** What the inference of a pattern gives: options that follow from the tables, and what stands against the load. */
export interface Inferred {
  readonly options: LoadOptions;
  readonly problems: readonly Problem[];
  /** Further tables that the load reads, by role. */
  readonly extra?: Readonly<Record<string, TableName>>;
}

export function makePair(
  source: CatalogTable,
  target: CatalogTable,
  stated: LoadOptions,
  tables: readonly CatalogTable[],
  conventions: Conventions,
): Pair {
  const match = matchColumns(source, target, conventions, stated.mapping ?? {});
  return { source, target, match, stated, tables, conventions };
}

/** The target's first column of a role. */
export function targetColumn(pair: Pair, role: ColumnRole): CatalogColumn | undefined {
  return pair.target.columns.find((column) => column.role === role && !column.computed);
}

export function targetColumns(pair: Pair, ...roles: readonly ColumnRole[]): readonly CatalogColumn[] {
  return pair.target.columns.filter((column) => roles.includes(column.role) && !column.computed && !column.identity);
}

export function matchOf(pair: Pair, name: string): ColumnMatch | undefined {
  return pair.match.columns.find((match) => sameIdentifier(match.target.name, name));
}

/** Stage columns that fill target columns of these roles, in the target's order. */
export function stageColumns(pair: Pair, ...roles: readonly ColumnRole[]): readonly string[] {
  return pair.match.columns.flatMap((match) =>
    roles.includes(match.target.role) && match.source !== null ? [match.source.name] : [],
  );
}

export function stageColumn(pair: Pair, role: ColumnRole): CatalogColumn | undefined {
  return pair.source.columns.find((column) => column.role === role);
}

function hasStageColumn(pair: Pair, name: string): boolean {
  return pair.source.columns.some((column) => sameIdentifier(column.name, name));
}

/**
 * Key columns of the stage: stated ones, or those that the tables imply, with a problem where neither tells. Stated
 * columns must exist.
 */
export function inferKeys(pair: Pair): { readonly keys: readonly string[]; readonly problems: readonly Problem[] } {
  const { stated } = pair;
  if (stated.keys !== undefined) {
    const missing = stated.keys.filter((name) => !hasStageColumn(pair, name));
    return { keys: stated.keys, problems: missing.map((name) => unknownColumn(pair.source, name, 'keys')) };
  }
  const key = findStageKey(pair.source, pair.target, pair.match, hubsOf(pair.tables), pair.conventions);
  if (key.kind === 'known') return { keys: key.columns, problems: [] };
  return { keys: [], problems: [{ ...problemAt(pair.source, 'no-primary-key', key.reason) }] };
}

const hubs = new WeakMap<readonly CatalogTable[], readonly CatalogTable[]>();

/** The hubs of a folder; looked for once for all its loads. */
export function hubsOf(tables: readonly CatalogTable[]): readonly CatalogTable[] {
  const known = hubs.get(tables);
  if (known !== undefined) return known;
  const found = tables.filter((table) => table.role === 'hub');
  hubs.set(tables, found);
  return found;
}

const stored = new WeakMap<readonly CatalogTable[], ReadonlyMap<string, ReadonlySet<CatalogTable>>>();

/** True when another table than these two, and no staging table, has a column of this spelling. */
export function isStoredElsewhere(pair: Pair, column: string): boolean {
  let index = stored.get(pair.tables);
  if (index === undefined) {
    const made = new Map<string, Set<CatalogTable>>();
    for (const table of pair.tables) {
      if (table.role === 'staging') continue;
      for (const { name } of table.columns) {
        const holders = made.get(compactName(name));
        if (holders === undefined) made.set(compactName(name), new Set([table]));
        else holders.add(table);
      }
    }
    index = made;
    stored.set(pair.tables, index);
  }
  const holders = index.get(compactName(column));
  if (holders === undefined) return false;
  return holders.size - Number(holders.has(pair.target)) - Number(holders.has(pair.source)) > 0;
}

/** The target columns that hold the key, in the order of the stage's key columns. */
export function inferTargetKey(pair: Pair, keys: readonly string[]): readonly string[] {
  if (pair.stated.target_key !== undefined) return pair.stated.target_key;
  const filled = keys.map((name) => pair.match.columns.find((match) => match.source?.name === name)?.target.name);
  const found = filled.flatMap((name) => (name === undefined ? [] : [name]));
  return found.length === keys.length && found.length > 0 ? found : orderedBusinessKey(pair.target);
}

/** A table's name in messages about a pair: the full one where both tables are called the same. */
export function shownName(pair: Pick<Pair, 'source' | 'target'>, table: CatalogTable): string {
  return sameIdentifier(pair.source.name.table, pair.target.name.table)
    ? formatTableName(table.name)
    : table.name.table;
}

export function problemAt(
  table: CatalogTable,
  code: string,
  message: string,
  severity: Problem['severity'] = 'error',
): Problem {
  return { code, severity, message, file: table.file, range: table.range };
}

export function unknownColumn(table: CatalogTable, name: string, option: string): Problem {
  return problemAt(
    table,
    'unknown-column',
    `${table.name.table} has no column ${name}, which "${option}" names; it has ${listed(table)}.`,
  );
}

function listed(table: CatalogTable): string {
  const names = table.columns.map((column) => column.name);
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} …` : names.join(', ');
}

/**
 * Target columns that are filled from a differently spelled stage column, and control columns that a load takes from
 * the stage. Names that differ by case only need no mapping.
 */
export function inferMapping(pair: Pair): Pick<LoadOptions, 'mapping'> {
  const entries = pair.match.columns.flatMap((match) =>
    match.source !== null && !sameIdentifier(match.source.name, match.target.name)
      ? [[match.target.name, match.source.name] as const]
      : [],
  );
  const control = (['load-date', 'record-source'] as const).flatMap((role) => {
    const target = targetColumn(pair, role);
    const source = stageColumn(pair, role);
    const open = target !== undefined && matchOf(pair, target.name)?.source === null;
    return open && source !== undefined ? [[target.name, source.name] as const] : [];
  });
  const mapping = { ...Object.fromEntries([...entries, ...control]), ...pair.stated.mapping };
  return Object.keys(mapping).length === 0 ? {} : { mapping };
}

/** Control columns that neither the stage nor the load's clock fills become parameters of the load. */
export function inferParameters(
  pair: Pair,
  mapping: Readonly<Record<string, string>> = {},
): Pick<LoadOptions, 'parameters'> {
  const open = targetColumns(pair, 'load-process', 'record-source').filter(
    (column) => matchOf(pair, column.name)?.source === null && mapping[column.name] === undefined,
  );
  const parameters = {
    ...Object.fromEntries(open.map((column) => [column.name, column.name])),
    ...pair.stated.parameters,
  };
  return Object.keys(parameters).length === 0 ? {} : { parameters };
}

/** A literal date in a column's default, as `yyyy-MM-dd HH:mm:ss`; null where the default is none or an expression. */
export function dateInDefault(column: CatalogColumn | undefined): string | null {
  const match = /['"](\d{4})-?(\d{2})-?(\d{2})(?:[ T](\d{2}:\d{2}:\d{2})[.\d]*)?['"]/.exec(column?.default ?? '');
  return match === null ? null : `${match[1]}-${match[2]}-${match[3]} ${match[4] ?? '00:00:00'}`;
}

/** Open end of a validity column: its default, else NULL, or 9999-12-31 where NULL is not allowed. */
export function openEndOf(column: CatalogColumn): string | null {
  return dateInDefault(column) ?? (column.nullable ? null : '9999-12-31 00:00:00');
}

/** Values of a current flag (current, not current); undefined for a boolean, which needs none. */
export function flagValues(pair: Pair, column: CatalogColumn): readonly [string, string] | undefined {
  const { family } = typeFacts(column.type, isTsql(pair.target.platform));
  if (family === 'boolean') return undefined;
  if (family !== 'text') return ['1', '0'];
  const pairs: readonly (readonly [string, string])[] = [
    ['Y', 'N'],
    ['T', 'F'],
    ['1', '0'],
    ['A', 'I'],
    ['yes', 'no'],
    ['true', 'false'],
  ];
  const stated = /'([^']*)'/.exec(column.default ?? '')?.[1];
  return pairs.find(([current, other]) => stated === current || stated === other) ?? ['Y', 'N'];
}
