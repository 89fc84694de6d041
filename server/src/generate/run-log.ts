/** A ready run log: the table, and hooks that write a row of it when a load begins, ends or fails. */
import type { TableName } from '../../../protocol/catalog.ts';
import { countNames } from '../../../protocol/counts.ts';
import { isTsql, type PlatformName } from '../../../protocol/platform.ts';
import { indent } from '../sql/text.ts';
import type { HouseStyle } from './types.ts';

export interface RunLog {
  /** DDL of the table. */
  readonly table: string;
  readonly hooks: HouseStyle['hooks'];
}

/** `name` is the table's name as it shall stand in the statements, quoted where it must be. */
export function runLog(name: TableName, platform: PlatformName): RunLog {
  const tsql = isTsql(platform);
  const quoted = (part: string): string =>
    tsql ? `[${part.replaceAll(']', ']]')}]` : `"${part.replaceAll('"', '""')}"`;
  const table = [name.database, name.schema, name.table]
    .flatMap((part) => (part === null ? [] : [quoted(part)]))
    .join('.');
  const [text, time, now] = tsql
    ? [platform === 'fabric' ? 'varchar' : 'nvarchar', 'datetime2(6)', 'SYSUTCDATETIME()']
    : ['VARCHAR', 'TIMESTAMP', "CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP)"];
  const sized = (length: number): string => (tsql ? `${text}(${length})` : text);
  const columns = [
    `load_name ${sized(400)} NOT NULL`,
    `event ${sized(20)} NOT NULL`,
    `logged_at ${time} NOT NULL`,
    `message ${sized(2000)} NULL`,
    ...countNames.map((count) => `${count} bigint NULL`),
  ];
  const names = ['load_name', 'event', 'logged_at'];
  const row = (event: string, more: readonly (readonly [string, string])[]): string =>
    `INSERT INTO ${table} (${[...names, ...more.map(([column]) => column)].join(', ')})\nVALUES ($(load), '${event}', ${now}${more.map(([, value]) => `, ${value}`).join('')});`;
  return {
    table: `CREATE TABLE ${table} (\n${indent(columns.join(',\n'))}\n);`,
    hooks: {
      before: row('begun', []),
      after: row(
        'done',
        countNames.map((count) => [count, `$(${count})`] as const),
      ),
      ...(tsql ? { onError: row('failed', [['message', 'ERROR_MESSAGE()']]) } : {}),
    },
  };
}
