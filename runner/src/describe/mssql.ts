import type { TableName } from '../../../protocol/catalog.ts';
import type { PlatformName } from '../../../protocol/platform.ts';
import type { CellValue } from '../../../protocol/run.ts';
import type { DescribedTable, ListedTable } from '../../../protocol/runner-process.ts';
import { queryRows } from '../queries.ts';
import type { Session } from '../session.ts';
import { oneOf } from './choose.ts';

/**
 * Catalog queries of the SQL Server family, in the grammar of SQL Server 2012. They only read. Object ids are the numbers
 * that the first one gave, so that no name is ever put into a text.
 */
export const mssqlCatalog = {
  tables: `SELECT o.object_id, s.name, o.name, RTRIM(o.type), DB_NAME()
FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0 ORDER BY s.name, o.name;`,
  columns: (ids: readonly number[]) => `SELECT c.object_id, c.name,
  COALESCE(TYPE_NAME(c.system_type_id), TYPE_NAME(c.user_type_id)), CAST(c.max_length AS int), CAST(c.precision AS int), CAST(c.scale AS int),
  CAST(c.is_nullable AS int), CASE WHEN c.collation_name = CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS nvarchar(128)) THEN NULL ELSE c.collation_name END,
  CAST(i.seed_value AS nvarchar(40)), CAST(i.increment_value AS nvarchar(40)),
  k.definition, CAST(k.is_persisted AS int), d.name, d.definition,
  COLUMNPROPERTY(c.object_id, c.name, 'GeneratedAlwaysType')
FROM sys.columns AS c
LEFT JOIN sys.identity_columns AS i ON i.object_id = c.object_id AND i.column_id = c.column_id
LEFT JOIN sys.computed_columns AS k ON k.object_id = c.object_id AND k.column_id = c.column_id
LEFT JOIN sys.default_constraints AS d ON d.object_id = c.default_object_id
WHERE c.object_id IN (${ids.join(', ')}) ORDER BY c.object_id, c.column_id;`,
  keys: (
    ids: readonly number[],
  ) => `SELECT k.parent_object_id, k.name, RTRIM(k.type), x.type_desc, c.name, CAST(m.is_descending_key AS int)
FROM sys.key_constraints AS k
JOIN sys.indexes AS x ON x.object_id = k.parent_object_id AND x.index_id = k.unique_index_id
JOIN sys.index_columns AS m ON m.object_id = x.object_id AND m.index_id = x.index_id
JOIN sys.columns AS c ON c.object_id = m.object_id AND c.column_id = m.column_id
WHERE k.parent_object_id IN (${ids.join(', ')}) ORDER BY k.parent_object_id, k.type, k.name, m.key_ordinal;`,
  views: (ids: readonly number[]) =>
    `SELECT object_id, definition FROM sys.sql_modules WHERE object_id IN (${ids.join(', ')});`,
  /** Dedicated pools of Synapse only. */
  distributions: (ids: readonly number[]) => `SELECT t.object_id, t.distribution_policy_desc, c.name, x.type_desc
FROM sys.pdw_table_distribution_properties AS t
LEFT JOIN sys.pdw_column_distribution_properties AS d ON d.object_id = t.object_id AND d.distribution_ordinal = 1
LEFT JOIN sys.columns AS c ON c.object_id = d.object_id AND c.column_id = d.column_id
LEFT JOIN sys.indexes AS x ON x.object_id = t.object_id AND x.index_id IN (0, 1)
WHERE t.object_id IN (${ids.join(', ')});`,
} as const;

interface Found extends ListedTable {
  readonly id: number;
}

type Row = readonly CellValue[];

export async function listMssql(session: Session): Promise<readonly ListedTable[]> {
  return (await find(session)).map(({ database, schema, name, kind }) => ({ database, schema, name, kind }));
}

export async function describeMssql(
  session: Session,
  wanted: readonly TableName[],
): Promise<readonly DescribedTable[]> {
  const found = await find(session);
  const chosen = wanted.length === 0 ? found : wanted.map((name) => idOf(found, name));
  const ids = chosen.map(({ id }) => id);
  if (ids.length === 0) return [];
  const { platform } = session.facts;
  const columns = byTable(await queryRows(session, mssqlCatalog.columns(ids)));
  const keys = byTable(await queryRows(session, mssqlCatalog.keys(ids)));
  const views = byTable(await queryRows(session, mssqlCatalog.views(ids)));
  const distributions =
    platform === 'synapse'
      ? byTable(await queryRows(session, mssqlCatalog.distributions(ids)))
      : new Map<number, Row[]>();
  return chosen.map(({ id, database, schema, name, kind }): DescribedTable => {
    const table = { database, schema, table: name };
    if (kind === 'view') {
      const text = String(views.get(id)?.[0]?.[1] ?? `-- The definition of ${schema}.${name} may not be read.`);
      return { name: table, platform, text: `${text.trim()}\nGO\n`, notes: [] };
    }
    const ownColumns = columns.get(id) ?? [];
    const text = tableText(schema, name, ownColumns, keys.get(id) ?? [], distributions.get(id)?.[0], platform);
    return { name: table, platform, text, notes: notesOf(ownColumns) };
  });
}

async function find(session: Session): Promise<readonly Found[]> {
  const rows = await queryRows(session, mssqlCatalog.tables);
  return rows.map(([id, schema, name, type, database]) => ({
    id: Number(id),
    database: String(database),
    schema: String(schema),
    name: String(name),
    kind: type === 'V' ? 'view' : 'table',
  }));
}

function idOf(found: readonly Found[], name: TableName): Found {
  const one = oneOf(found, name);
  return found.find((table) => table.schema === one.schema && table.name === one.name) ?? { ...one, id: 0 };
}

function byTable(rows: readonly Row[]): Map<number, Row[]> {
  const tables = new Map<number, Row[]>();
  for (const row of rows) {
    const id = Number(row[0]);
    tables.set(id, [...(tables.get(id) ?? []), row]);
  }
  return tables;
}

function tableText(
  schema: string,
  name: string,
  columns: readonly Row[],
  keys: readonly Row[],
  distribution: Row | undefined,
  platform: PlatformName,
): string {
  const lines = [...columns.map(columnText), ...periodText(columns), ...keyTexts(keys, platform)];
  const options = distribution === undefined ? '' : `\nWITH (${distributionText(distribution)})`;
  return `CREATE TABLE ${quoted(schema)}.${quoted(name)} (\n${lines.map((line) => `    ${line}`).join(',\n')}\n)${options};\nGO\n`;
}

function columnText(row: Row): string {
  const [
    ,
    name,
    type,
    length,
    precision,
    scale,
    nullable,
    collation,
    seed,
    step,
    computed,
    persisted,
    label,
    value,
    period,
  ] = row;
  const start = quoted(String(name));
  if (computed !== null && computed !== undefined)
    return `${start} AS ${String(computed)}${persisted === 1 ? ' PERSISTED' : ''}`;
  const parts = [
    start,
    typeText(String(type), Number(length), Number(precision), Number(scale)),
    collation === null ? '' : `COLLATE ${String(collation)}`,
    seed === null ? '' : `IDENTITY(${String(seed)},${String(step)})`,
    period === 1 ? 'GENERATED ALWAYS AS ROW START' : period === 2 ? 'GENERATED ALWAYS AS ROW END' : '',
    nullable === 0 ? 'NOT NULL' : 'NULL',
    value === null ? '' : `CONSTRAINT ${quoted(String(label))} DEFAULT ${String(value)}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function typeText(type: string, length: number, precision: number, scale: number): string {
  switch (type) {
    case 'nvarchar':
    case 'nchar':
      return `${type}(${length < 0 ? 'max' : length / 2})`;
    case 'varchar':
    case 'char':
    case 'varbinary':
    case 'binary':
      return `${type}(${length < 0 ? 'max' : length})`;
    case 'decimal':
    case 'numeric':
      return `${type}(${precision},${scale})`;
    case 'datetime2':
    case 'datetimeoffset':
    case 'time':
      return `${type}(${scale})`;
    case 'timestamp':
      return 'rowversion';
    default:
      return type;
  }
}

function periodText(columns: readonly Row[]): readonly string[] {
  const named = (kind: number) => columns.find((row) => row[14] === kind)?.[1];
  const start = named(1);
  const end = named(2);
  if (start === undefined || end === undefined) return [];
  return [`PERIOD FOR SYSTEM_TIME (${quoted(String(start))}, ${quoted(String(end))})`];
}

function keyTexts(rows: readonly Row[], platform: PlatformName): readonly string[] {
  const isInformational = platform === 'synapse' || platform === 'fabric';
  return [...new Set(rows.map((row) => String(row[1])))].map((name) => {
    const own = rows.filter((row) => row[1] === name);
    const [first] = own;
    const columns = own.map((row) => `${quoted(String(row[4]))}${row[5] === 1 ? ' DESC' : ''}`).join(', ');
    const kind = first?.[2] === 'PK' ? 'PRIMARY KEY' : 'UNIQUE';
    const index = isInformational || first?.[3] === 'NONCLUSTERED' ? 'NONCLUSTERED' : 'CLUSTERED';
    return `CONSTRAINT ${quoted(name)} ${kind} ${index} (${columns})${isInformational ? ' NOT ENFORCED' : ''}`;
  });
}

function distributionText([, policy, column, index]: Row): string {
  const distribution = policy === 'HASH' && column !== null ? `HASH(${quoted(String(column))})` : String(policy);
  const kind = index === 'CLUSTERED COLUMNSTORE' ? 'CLUSTERED COLUMNSTORE INDEX' : index === 'HEAP' ? 'HEAP' : '';
  return kind === '' ? `DISTRIBUTION = ${distribution}` : `DISTRIBUTION = ${distribution}, ${kind}`;
}

function notesOf(columns: readonly Row[]): readonly string[] {
  const isVersioned = columns.some((row) => row[14] === 1);
  return [
    'Indexes, foreign keys, checks, triggers and permissions are left out.',
    ...(isVersioned
      ? ['System versioning is left out; switch it on by ALTER TABLE … SET (SYSTEM_VERSIONING = ON).']
      : []),
  ];
}

/** A name in brackets. */
export function quoted(name: string): string {
  return `[${name.replaceAll(']', ']]')}]`;
}
