import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { countNames } from '../../../../protocol/counts.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import { sampleColumns } from '../../../../protocol/preview.ts';
import { originOf, valueType } from '../../load/language.ts';
import { exactText } from '../../sql/exact-decimals.ts';
import { duckdbType } from '../../sql/types.ts';
import type { Effect } from './effect.ts';

/** Changes shown for each effect. */
const samplesPerEffect = 20;

/**
 * The statements that keep an effect's rows in a temporary table of the session: stored values as b…, new ones as a…, those
 * of OUTPUT as o…. A row that is met more than once stands there once: `target_row` tells it apart, `variants` says how many
 * different rows it could become.
 */
export function keptEffect(effect: Effect, number: number, platform: PlatformName): string {
  const table = effectTable(number, platform);
  const { columns } = effect.table;
  const items = columns.flatMap((column, index) => {
    const before = effect.before.get(column.name);
    const after = effect.after.get(column.name);
    return [
      ...(before === undefined ? [] : [`${before} AS b${index}`]),
      ...(after === undefined ? [] : [`${converted(after, column, effect.table.platform, platform)} AS a${index}`]),
    ];
  });
  const outputs = effect.outputs.map((value, index) => `${value} AS o${index}`);
  const address = effect.address.length === 0 ? [] : [targetRow(effect.address)];
  const found: Kept = { select: `SELECT\n  ${[...items, ...outputs, ...address].join(',\n  ')}`, from: effect.from };
  const once = effect.mayRepeat && effect.address.length > 0 ? onceEach(found, effect, platform) : found;
  const gated: Kept =
    effect.gates.length === 0
      ? once
      : {
          select: 'SELECT *',
          from: `FROM (\n${once.select}\n${once.from}\n) AS gated\nWHERE ${effect.gates.join(' AND ')}`,
        };
  return keptQuery(table, effect.with, gated, platform);
}

/** A query in two pieces, since T-SQL's INTO stands between them. */
export interface Kept {
  readonly select: string;
  readonly from: string;
}

/** The statements that put a query's rows into a new temporary table of the session. */
export function keptQuery(table: string, head: string, { select, from }: Kept, platform: PlatformName): string {
  const into = platform === 'sqlserver' || platform === 'azuresql' ? `\nINTO ${table}` : '';
  return `${created(table, platform)}${head === '' ? '' : `${head}\n`}${select}${into}\n${from};`;
}

/** What an effect's rows are kept in. */
export function effectTable(number: number, platform: PlatformName): string {
  return `${isTsql(platform) ? '#' : ''}mergewright_preview_${number + 1}`;
}

/** Sample rows of all effects, the query for the warnings if there is one, then the counts as the last result set. */
export function keptResults(effects: readonly Effect[], warnings: string | null, platform: PlatformName): string {
  const samples = effects.map((effect, index) => sampleQuery(effect, index, platform));
  const counts = countNames.map((name) => {
    const sums = effects.flatMap(({ kind }, index) =>
      kind === name ? [`(SELECT COUNT(*) FROM ${effectTable(index, platform)})`] : [],
    );
    return `CAST(${sums.length === 0 ? 'NULL' : sums.join(' + ')} AS bigint) AS ${name}`;
  });
  return [...samples, ...(warnings === null ? [] : [warnings]), `SELECT\n  ${counts.join(',\n  ')};`].join('\n\n');
}

/** Removes a temporary table of the session if it is there. */
export function dropped(table: string, platform: PlatformName): string {
  return isTsql(platform)
    ? `IF OBJECT_ID('tempdb..${table.replaceAll("'", "''")}') IS NOT NULL DROP TABLE ${table};`
    : `DROP TABLE IF EXISTS temp.${table};`;
}

/**
 * A write converts its values to the column's type, which on the embedded engine is the one that its tables get; types that a
 * cast can't name are left as they come.
 */
export function converted(
  value: string,
  column: CatalogColumn,
  definedFor: PlatformName,
  platform: PlatformName,
): string {
  const origin = originOf(platform === 'duckdb' ? definedFor : platform);
  const type = valueType(column.type, origin);
  const { family } = type.facts;
  if (column.type === '' || (origin !== 'duckdb' && (family === 'other' || family === 'rowversion'))) return value;
  return `CAST(${value} AS ${platform === 'duckdb' && origin !== 'duckdb' ? duckdbType(type) : column.type})`;
}

export function quoted(name: string, platform: PlatformName): string {
  return isTsql(platform) ? `[${name.replaceAll(']', ']]')}]` : `"${name.replaceAll('"', '""')}"`;
}

/** The number of a row among its likes, in no order. */
export function anyNumber(platform: PlatformName): string {
  return `ROW_NUMBER() OVER (${isTsql(platform) ? 'ORDER BY (SELECT 1)' : ''})`;
}

function onceEach({ select, from }: Kept, effect: Effect, platform: PlatformName): Kept {
  const sorted = effect.table.columns.flatMap((column, index) =>
    effect.after.has(column.name) && isSortable(column, platform) ? [`a${index}`] : [],
  );
  const variant =
    sorted.length === 0 ? '1' : `DENSE_RANK() OVER (PARTITION BY target_row ORDER BY ${sorted.join(', ')})`;
  return {
    select: 'SELECT *',
    from: `FROM (
SELECT counted.*, MAX(variant) OVER (PARTITION BY target_row) AS variants
FROM (
SELECT found.*, ROW_NUMBER() OVER (PARTITION BY target_row ORDER BY target_row) AS meeting, ${variant} AS variant
FROM (
${select}
${from}
) AS found
) AS counted
) AS met
WHERE meeting = 1`,
  };
}

/** Types without an order: xml, spatial and long texts. */
function isSortable({ type }: CatalogColumn, platform: PlatformName): boolean {
  return !isTsql(platform) || !/^(xml|text|ntext|image|geography|geometry|json|vector)\b/.test(type);
}

function targetRow(address: readonly string[]): string {
  const value = address.length === 1 ? address[0] : `DENSE_RANK() OVER (ORDER BY ${address.join(', ')})`;
  return `${value} AS target_row`;
}

function sampleQuery(effect: Effect, number: number, platform: PlatformName): string {
  const { columns } = effect.table;
  const [kindName, numberName, sideName] = sampleColumns;
  const shown = columns.flatMap((column, index) =>
    (effect.before.has(column.name) || effect.after.has(column.name)) && !effect.numbered.has(column.name)
      ? [{ column, index }]
      : [],
  );
  const items = shown.map(({ column, index }) => {
    const hasBoth = effect.before.has(column.name) && effect.after.has(column.name);
    const value = hasBoth
      ? `CASE WHEN side = 'after' THEN a${index} ELSE b${index} END`
      : `${effect.after.has(column.name) ? 'a' : 'b'}${index}`;
    const exact = isTsql(platform) ? exactText(value, valueType(column.type)) : value;
    return `${exact} AS ${quoted(column.name, platform)}`;
  });
  const sides = [...(effect.kind === 'inserted' ? [] : ['before']), ...(effect.kind === 'deleted' ? [] : ['after'])];
  const head = [
    `'${effect.kind}' AS ${kindName}`,
    `position + ${number * samplesPerEffect} AS ${numberName}`,
    `side AS ${sideName}`,
  ];
  return `SELECT
  ${[...head, ...items].join(',\n  ')}
FROM (SELECT ${anyNumber(platform)} AS position, kept.* FROM ${effectTable(number, platform)} AS kept) AS numbered
CROSS JOIN (${sides.map((side) => `SELECT '${side}' AS side`).join(' UNION ALL ')}) AS sides
WHERE position <= ${samplesPerEffect};`;
}

function created(table: string, platform: PlatformName): string {
  if (platform === 'duckdb') return `CREATE TEMP TABLE ${table} AS\n`;
  return platform === 'synapse' || platform === 'fabric'
    ? `CREATE TABLE ${table}\nWITH (DISTRIBUTION = ROUND_ROBIN)\nAS\n`
    : '';
}
