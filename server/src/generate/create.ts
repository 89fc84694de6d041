import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import { type Platform, parsePlatform } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { GeneratedFile } from '../../../protocol/requests.ts';
import type { LoadOptions, PatternName } from '../../../protocol/specification.ts';
import { originOf, type ValueType, valueType } from '../load/language.ts';
import { type ProposalNames, type ProposedColumn, type ProposedTable, proposeTable } from '../load/propose.ts';
import { formatTableName } from '../model/names.ts';
import { type PlatformPrinter, printerFor } from '../sql/platforms.ts';
import { commaList, indent } from '../sql/text.ts';
import { storableColumns } from './column-types.ts';
import { asFileName } from './file-names.ts';
import type { HouseStyle } from './types.ts';

export interface CreateRequest {
  readonly pattern: PatternName;
  readonly source: CatalogTable;
  readonly platform: string;
  readonly options: LoadOptions;
  readonly names: ProposalNames;
  readonly style: HouseStyle;
}

/** The DDL of a fitting target for a staging table; null with an error when none can be proposed. */
export function createTarget(request: CreateRequest): Outcome<GeneratedFile | null> {
  const { source, style } = request;
  const platform = parsePlatform(request.platform);
  const printer =
    platform === undefined
      ? null
      : printerFor(platform, { comma: style.comma, quoteAlways: style.brackets === 'always' }, false);
  if (platform === undefined || printer === null) {
    const problem: Problem = {
      code: 'unsupported',
      severity: 'error',
      message: `unsupported: tables on ${request.platform}; create it for sqlserver or duckdb.`,
    };
    return { value: null, problems: [problem] };
  }
  const { value: proposed, problems } = proposeTable(request.pattern, source, request.options, request.names);
  if (proposed === null) return { value: null, problems };
  const elsewhere = otherDatabase(proposed.name, platform);
  if (elsewhere !== null) return { value: null, problems: [elsewhere] };
  const { columns, problems: unstorable } = storableColumns(proposed, source, platform);
  if (unstorable.length > 0) return { value: null, problems: [...problems, ...unstorable] };
  const text = tableText({ ...proposed, columns }, source, platform, printer, style);
  return { value: { path: `${asFileName(formatTableName(proposed.name))}.sql`, text }, problems };
}

/** Why a table can't be created under a name; null when it can. Where a statement reaches its own database only, a name says no other. */
export function otherDatabase(name: TableName, platform: Platform): Problem | null {
  if (name.database === null || (platform.name !== 'azuresql' && platform.name !== 'synapse')) return null;
  const own = formatTableName({ ...name, database: null });
  const message = `unsupported: cross-database: ${formatTableName(name)} names a database, and ${platform.name} creates tables in its own only; the nearest is ${own}, created on a connection to ${name.database}.`;
  return { code: 'unsupported', severity: 'error', message };
}

function tableText(
  table: ProposedTable,
  source: CatalogTable,
  platform: Platform,
  chosen: PlatformPrinter,
  style: HouseStyle,
): string {
  const { printer } = chosen;
  const items = [
    ...table.columns.map((column) => columnText(column, source, platform, chosen)),
    ...keyText(table, platform, chosen),
  ];
  const schema =
    chosen.family === 'duckdb' && table.name.schema !== null
      ? [`CREATE SCHEMA IF NOT EXISTS ${schemaName(table.name, printer)};`]
      : [];
  const statement = `CREATE TABLE ${printer.tableName(table.name)} (\n${indent(commaList(items, style.comma))}\n)${storageText(table, platform, chosen)};`;
  return `${[...schema, statement, ...laterKey(table, platform, chosen)].join('\n')}\n`;
}

function schemaName({ database, schema }: TableName, printer: PlatformPrinter['printer']): string {
  return [database, schema].flatMap((part) => (part === null ? [] : [printer.name(part)])).join('.');
}

function columnText(
  column: ProposedColumn,
  source: CatalogTable,
  platform: Platform,
  { family, printer }: PlatformPrinter,
): string {
  const type = valueType(column.type, column.staged ? originOf(source.platform) : 'tsql');
  const collation = family === 'tsql' && column.collation !== null ? ` COLLATE ${column.collation}` : '';
  // Fabric and a column that loads always write need no default; elsewhere it says how versions begin and end.
  const start =
    column.start === null || platform.name === 'fabric' ? '' : ` DEFAULT ${printer.textLiteral(column.start)}`;
  return `${printer.name(column.name)} ${spelled(type, printer)}${collation} ${column.nullable ? 'NULL' : 'NOT NULL'}${start}`;
}

/** Synapse knows keys that it does not enforce, Fabric only by ALTER TABLE. */
function keyText(table: ProposedTable, platform: Platform, { printer }: PlatformPrinter): readonly string[] {
  if (platform.name === 'fabric') return [];
  const columns = table.key.map((name) => printer.name(name)).join(', ');
  return [
    platform.name === 'synapse' ? `PRIMARY KEY NONCLUSTERED (${columns}) NOT ENFORCED` : `PRIMARY KEY (${columns})`,
  ];
}

function laterKey(table: ProposedTable, platform: Platform, { printer }: PlatformPrinter): readonly string[] {
  if (platform.name !== 'fabric') return [];
  const name = printer.name(`PK_${table.name.table}`.slice(0, 128));
  const columns = table.key.map((column) => printer.name(column)).join(', ');
  return [
    `ALTER TABLE ${printer.tableName(table.name)} ADD CONSTRAINT ${name} PRIMARY KEY NONCLUSTERED (${columns}) NOT ENFORCED;`,
  ];
}

function storageText(table: ProposedTable, platform: Platform, { printer }: PlatformPrinter): string {
  if (platform.name !== 'synapse') return '';
  return `\nWITH (DISTRIBUTION = HASH (${printer.name(table.distribution)}), CLUSTERED COLUMNSTORE INDEX)`;
}

/** DuckDB does not enforce the length of a text, but its DDL says what a column is for. */
function spelled(type: ValueType, printer: PlatformPrinter['printer']): string {
  const name = printer.typeName(type);
  const { family, length } = type.facts;
  const sized = name === 'VARCHAR' && family === 'text' && length !== null && Number.isFinite(length);
  return sized ? `${name}(${length})` : name;
}
