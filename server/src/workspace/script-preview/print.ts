import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { countNames } from '../../../../protocol/counts.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import { sampleColumns } from '../../../../protocol/preview.ts';
import { originOf, valueType } from '../../load/language.ts';
import { duckdbType } from '../../sql/types.ts';
import type { Effect } from './effect.ts';

/** Changes shown for each effect. */
const samplesPerEffect = 20;

/** The statements that keep an effect's rows in a temporary table of the session: stored values as b…, new ones as a…. */
export function keptEffect(effect: Effect, number: number, platform: PlatformName): string {
  const table = effectTable(number, platform);
  const { columns } = effect.table;
  const items = columns.flatMap((column, index) => {
    const before = effect.before.get(column.name);
    const after = effect.after.get(column.name);
    return [
      ...(before === undefined ? [] : [`${before} AS b${index}`]),
      ...(after === undefined ? [] : [`${cast(after, column, effect.table.platform, platform)} AS a${index}`]),
    ];
  });
  const head = effect.with === '' ? '' : `${effect.with}\n`;
  const into = platform === 'sqlserver' || platform === 'azuresql' ? `\nINTO ${table}` : '';
  const query =
    effect.address.length === 0
      ? `${head}SELECT\n  ${items.join(',\n  ')}${into}\n${effect.from};`
      : `${head}SELECT *${into}\nFROM (\nSELECT\n  ${[...items, rowNumber(effect.address)].join(',\n  ')}\n${effect.from}\n) AS met\nWHERE meeting = 1;`;
  return `${dropped(table, platform)}\n${created(table, platform)}${query}`;
}

/** Sample rows of all effects, then the counts as the last result set. */
export function keptResults(effects: readonly Effect[], platform: PlatformName): string {
  const samples = effects.map((effect, index) => sampleQuery(effect, index, platform));
  const counts = countNames.map((name) => {
    const sums = effects.flatMap(({ kind }, index) =>
      kind === name ? [`(SELECT COUNT(*) FROM ${effectTable(index, platform)})`] : [],
    );
    return `CAST(${sums.length === 0 ? 'NULL' : sums.join(' + ')} AS bigint) AS ${name}`;
  });
  return [...samples, `SELECT\n  ${counts.join(',\n  ')};`].join('\n\n');
}

/** Removes a temporary table of the session if it is there. */
export function dropped(table: string, platform: PlatformName): string {
  return isTsql(platform)
    ? `IF OBJECT_ID('tempdb..${table.replaceAll("'", "''")}') IS NOT NULL DROP TABLE ${table};`
    : `DROP TABLE IF EXISTS temp.${table};`;
}

function sampleQuery(effect: Effect, number: number, platform: PlatformName): string {
  const { columns } = effect.table;
  const [kindName, numberName, sideName] = sampleColumns;
  const shown = columns.flatMap((column, index) =>
    effect.before.has(column.name) || effect.after.has(column.name) ? [{ column, index }] : [],
  );
  const items = shown.map(({ column, index }) => {
    const hasBoth = effect.before.has(column.name) && effect.after.has(column.name);
    const value = hasBoth
      ? `CASE WHEN side = 'after' THEN a${index} ELSE b${index} END`
      : `${effect.after.has(column.name) ? 'a' : 'b'}${index}`;
    return `${value} AS ${quoted(column.name, platform)}`;
  });
  const sides = [...(effect.kind === 'inserted' ? [] : ['before']), ...(effect.kind === 'deleted' ? [] : ['after'])];
  const head = [
    `'${effect.kind}' AS ${kindName}`,
    `position + ${number * samplesPerEffect} AS ${numberName}`,
    `side AS ${sideName}`,
  ];
  const order = isTsql(platform) ? 'ORDER BY (SELECT 1)' : '';
  return `SELECT
  ${[...head, ...items].join(',\n  ')}
FROM (SELECT ROW_NUMBER() OVER (${order}) AS position, kept.* FROM ${effectTable(number, platform)} AS kept) AS numbered
CROSS JOIN (${sides.map((side) => `SELECT '${side}' AS side`).join(' UNION ALL ')}) AS sides
WHERE position <= ${samplesPerEffect};`;
}

function effectTable(number: number, platform: PlatformName): string {
  return `${isTsql(platform) ? '#' : ''}mergewright_preview_${number + 1}`;
}

function created(table: string, platform: PlatformName): string {
  if (platform === 'duckdb') return `CREATE TEMP TABLE ${table} AS\n`;
  return platform === 'synapse' || platform === 'fabric'
    ? `CREATE TABLE ${table}\nWITH (DISTRIBUTION = ROUND_ROBIN)\nAS\n`
    : '';
}

function rowNumber(address: readonly string[]): string {
  const list = address.join(', ');
  return `ROW_NUMBER() OVER (PARTITION BY ${list} ORDER BY ${list}) AS meeting`;
}

/**
 * A write converts its values to the column's type, which on the embedded engine is the one that its tables get; types that a
 * cast can't name are left as they come.
 */
function cast(value: string, column: CatalogColumn, definedFor: PlatformName, platform: PlatformName): string {
  const origin = originOf(platform === 'duckdb' ? definedFor : platform);
  const type = valueType(column.type, origin);
  const { family } = type.facts;
  if (column.type === '' || (origin !== 'duckdb' && (family === 'other' || family === 'rowversion'))) return value;
  return `CAST(${value} AS ${platform === 'duckdb' && origin !== 'duckdb' ? duckdbType(type) : column.type})`;
}

export function quoted(name: string, platform: PlatformName): string {
  return isTsql(platform) ? `[${name.replaceAll(']', ']]')}]` : `"${name.replaceAll('"', '""')}"`;
}
