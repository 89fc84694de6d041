import type { CatalogColumn, CatalogKey, CatalogTable } from '../../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import { formatTableName, sameIdentifier } from '../../model/names.ts';
import type { Effect, Meeting, NumberedEffect, WriteEffects } from './effect.ts';
import { effectTable, quoted } from './print.ts';

/** Keys that one check names; of more it says how many. */
const namedKeys = 5;

/** The temporary table that checks write their sentences to. */
export function warningsTable(platform: PlatformName): string {
  return `${isTsql(platform) ? '#' : ''}mergewright_warnings`;
}

/** The statement that makes the table of warnings. */
export function warningsMade(platform: PlatformName): string {
  const table = warningsTable(platform);
  const type = platform === 'fabric' || platform === 'duckdb' ? 'varchar(8000)' : 'nvarchar(4000)';
  const create = platform === 'duckdb' ? 'CREATE TEMP TABLE' : 'CREATE TABLE';
  return `${create} ${table} (warning_code varchar(50), message ${type});`;
}

export function warningsRead(platform: PlatformName): string {
  return `SELECT warning_code, message FROM ${warningsTable(platform)};`;
}

/**
 * What the run would meet that counts and samples do not show: rows of a MERGE that several source rows take (error 8672 of
 * SQL Server), rows of an UPDATE that could become several things, rows that break a declared key or NOT NULL. Each is a
 * statement that writes its sentences to the table of warnings; it stands before the image takes the write.
 */
export function checksOf(
  effects: readonly NumberedEffect[],
  meeting: WriteEffects['meeting'],
  platform: PlatformName,
): readonly string[] {
  const met =
    meeting === null ? effects.map((each) => ambiguousRows(each, platform)) : [takenTwice(meeting, effects, platform)];
  const keys = checkedKeys(effects.map(([, effect]) => effect)).map((key) => doubleKeys(key, effects, platform));
  const missing = effects.map((each) => missingValues(each, platform));
  return [...met, ...keys, ...missing].filter((check) => check !== null);
}

/** The declared keys that a write may break: those that it fills or changes. */
export function checkedKeys(effects: readonly Effect[]): readonly CatalogKey[] {
  const keys = effects[0]?.table.keys ?? [];
  return keys.filter(
    ({ kind, columns }) =>
      kind !== 'inferred' &&
      columns.every((name) => effects.some(({ table }) => columnOf(table, name) !== undefined)) &&
      effects.some((effect) => {
        const given = columns.filter((name) => isGiven(effect, columnOf(effect.table, name)?.name ?? ''));
        return effect.kind === 'inserted' ? given.length === columns.length : given.length > 0;
      }),
  );
}

/** True where the write gives a column its value or its default, and not the engine a number of its own. */
function isGiven({ after, numbered }: Effect, name: string): boolean {
  return after.has(name) && !numbered.has(name);
}

function takenTwice(meeting: Meeting, effects: readonly NumberedEffect[], platform: PlatformName): string {
  const { table, stored, from, address } = meeting;
  const key = keyText(labelColumns(table), ({ name }) => stored.get(name) ?? 'NULL', platform);
  const gates = effects[0]?.[1].gates ?? [];
  const gated = gates.length === 0 ? '' : ` AND ${gates.join(' AND ')}`;
  const query = `SELECT MIN(${key}) AS key_text\n${from}\nGROUP BY ${address.join(', ')}\nHAVING COUNT(*) > 1${gated}`;
  const then = isTsql(platform)
    ? ' is taken by several rows of the source, so the MERGE fails with error 8672 and writes nothing'
    : ' is taken by several rows of the source, and the run takes any one of them';
  return toldKeys('matched_twice', table, then, query, meeting.with, platform);
}

/** The engine takes one of the source rows, no one knows which. */
function ambiguousRows([number, effect]: NumberedEffect, platform: PlatformName): string | null {
  if (effect.kind === 'inserted' || effect.kind === 'deleted' || !effect.mayRepeat) return null;
  const { table } = effect;
  const key = keyText(labelColumns(table), ({ index }) => `b${index}`, platform);
  const query = `SELECT ${key} AS key_text FROM ${effectTable(number, platform)} WHERE variants > 1`;
  const then = ' meets several source rows with different values, and the run takes any one of them';
  return toldKeys('ambiguous_update', table, then, query, '', platform);
}

/** Keys that would stand more than once when the write is done: the new ones, and those that stay. */
function doubleKeys(key: CatalogKey, effects: readonly NumberedEffect[], platform: PlatformName): string | null {
  const first = effects[0]?.[1];
  if (first === undefined) return null;
  const { table, place } = first;
  const columns = columnsOf(table, key.columns);
  const sideRows = (side: 'after' | 'before', without: Effect['kind']) =>
    effects.flatMap(([number, effect]) =>
      effect.kind === without ? [] : [keyRows(effect, columns, number, side, platform)],
    );
  const fresh = sideRows('after', 'deleted');
  const gone = sideRows('before', 'inserted');
  const stays = (at: number) => `stays.${quoted(columns[at]?.name ?? '', platform)}`;
  const isAmong = (rows: readonly string[]) =>
    `EXISTS (SELECT 1 FROM (${rows.join(' UNION ALL ')}) AS among WHERE ${columns.map((_, at) => `among.k${at} = ${stays(at)}`).join(' AND ')})`;
  const kept = `SELECT ${columns.map((_, at) => `${stays(at)} AS k${at}`).join(', ')} FROM ${place} AS stays
WHERE ${isAmong(fresh)}${gone.length === 0 ? '' : ` AND NOT ${isAmong(gone)}`}`;
  const names = columns.map((_, at) => `k${at}`);
  // NULL stands once under a UNIQUE key of T-SQL, and as often as it likes elsewhere.
  const filled = isTsql(platform) ? '' : `\nWHERE ${names.map((name) => `${name} IS NOT NULL`).join(' AND ')}`;
  const label = keyText(columns, ({ at }) => `k${at}`, platform);
  const query = `SELECT MIN(${label}) AS key_text
FROM (
${[...fresh, kept].join('\nUNION ALL\n')}
) AS all_keys${filled}
GROUP BY ${names.join(', ')}
HAVING COUNT(*) > 1`;
  const declared = `${key.kind === 'unique' ? 'UNIQUE' : 'PRIMARY KEY'} (${key.columns.join(', ')})`;
  const then = key.enforced
    ? ` would stand more than once under ${declared}, so the run fails`
    : ` would stand more than once under ${declared}, which the engine does not enforce`;
  return toldKeys('duplicate_key', table, then, query, '', platform);
}

function keyRows(
  effect: Effect,
  columns: readonly NumberedColumn[],
  number: number,
  side: 'before' | 'after',
  platform: PlatformName,
): string {
  const items = columns.map(({ name, index }, at) => {
    const isNew = side === 'after' && effect.after.has(name);
    return `${isNew ? `a${index}` : effect.before.has(name) ? `b${index}` : 'NULL'} AS k${at}`;
  });
  return `SELECT ${items.join(', ')} FROM ${effectTable(number, platform)}`;
}

/** New values that are NULL in columns declared NOT NULL. */
function missingValues([number, effect]: NumberedEffect, platform: PlatformName): string | null {
  const { table } = effect;
  const demanding = table.columns.flatMap((column, index) =>
    !column.nullable && isGiven(effect, column.name) && !isLiteral(effect.after.get(column.name) ?? '')
      ? [{ name: column.name, index }]
      : [],
  );
  if (demanding.length === 0) return null;
  const names = demanding.map(({ name, index }) => `SELECT ${index} AS n, ${text(name, platform)} AS name`);
  const tests = demanding.map(({ index }) => `(n = ${index} AND a${index} IS NULL)`);
  const query = `SELECT name, COUNT(*) AS missing
FROM ${effectTable(number, platform)} CROSS JOIN (${names.join(' UNION ALL ')}) AS demanding
WHERE ${tests.join(' OR ')}
GROUP BY name`;
  const message = [
    text(`${formatTableName(table.name)}: `, platform),
    'name',
    text(' is NOT NULL and would get no value in ', platform),
    'missing',
    text(' of the rows, so the run fails.', platform),
  ];
  return told('null_value', message, `FROM (\n${query}\n) AS counted`, '', platform);
}

function isLiteral(value: string): boolean {
  return /^(-?\d+(\.\d+)?|(N|DATE |TIMESTAMP )?'[^']*')$/i.test(value);
}

function toldKeys(
  code: string,
  table: CatalogTable,
  then: string,
  query: string,
  head: string,
  platform: PlatformName,
): string {
  const message = [
    text(`${formatTableName(table.name)}: `, platform),
    'key_text',
    text(`${then} (`, platform),
    'place',
    text(' of ', platform),
    'total',
    text(').', platform),
  ];
  const counted = `SELECT key_text, ROW_NUMBER() OVER (ORDER BY key_text) AS place, COUNT(*) OVER () AS total
FROM (
${query}
) AS found`;
  return told(code, message, `FROM (\n${counted}\n) AS counted\nWHERE place <= ${namedKeys}`, head, platform);
}

function told(code: string, message: readonly string[], from: string, head: string, platform: PlatformName): string {
  const insert = `INSERT INTO ${warningsTable(platform)} (warning_code, message)`;
  const select = `SELECT '${code}', CONCAT(${message.join(', ')})\n${from};`;
  return [...(head === '' ? [] : [head]), insert, select].join('\n');
}

interface NumberedColumn {
  readonly name: string;
  readonly column: CatalogColumn;
  /** Among the table's columns. */
  readonly index: number;
}

/** What people tell a row by: the business key, else the declared key, else the first columns. */
function labelColumns(table: CatalogTable): readonly NumberedColumn[] {
  const business = table.columns.filter(({ role }) => role === 'business-key').map(({ name }) => name);
  const declared = table.keys.find(({ kind }) => kind !== 'inferred')?.columns ?? [];
  const first = table.columns.slice(0, 2).map(({ name }) => name);
  const names = [business, declared, first].find(({ length }) => length > 0) ?? [];
  return columnsOf(table, names);
}

function columnsOf(table: CatalogTable, names: readonly string[]): readonly NumberedColumn[] {
  return names.flatMap((name) => columnOf(table, name) ?? []);
}

function columnOf(table: CatalogTable, name: string): NumberedColumn | undefined {
  const index = table.columns.findIndex((column) => sameIdentifier(column.name, name));
  const column = table.columns[index];
  return column === undefined ? undefined : { name: column.name, column, index };
}

/** A key as text: `customer_no B, valid_from 2026-01-01`. */
function keyText(
  columns: readonly NumberedColumn[],
  value: (column: NumberedColumn & { readonly at: number }) => string,
  platform: PlatformName,
): string {
  const parts = columns.flatMap((column, at) => [
    text(`${at === 0 ? '' : ', '}${column.name} `, platform),
    `COALESCE(${shown(value({ ...column, at }), column.column, platform)}, 'NULL')`,
  ]);
  return `CONCAT(${parts.join(', ')})`;
}

function shown(value: string, { type }: CatalogColumn, platform: PlatformName): string {
  if (!isTsql(platform)) return `CAST(${value} AS VARCHAR)`;
  if (/^(var)?binary/.test(type)) return `CONVERT(varchar(200), ${value}, 1)`;
  return `CAST(${value} AS ${platform === 'fabric' ? 'varchar' : 'nvarchar'}(200))`;
}

function text(value: string, platform: PlatformName): string {
  return `${isTsql(platform) && platform !== 'fabric' ? 'N' : ''}'${value.replaceAll("'", "''")}'`;
}
