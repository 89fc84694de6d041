import type { TableName } from '../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../protocol/platform.ts';

/** A name as a person writes it in SQL: in the platform's quotes where a blank, a dot, a bracket or the like asks for them. */
export function writtenName(name: string, platform: PlatformName): string {
  if (/^[\p{L}_@#][\p{L}\p{N}_@#$]*$/u.test(name)) return name;
  if (isTsql(platform)) return `[${name.replaceAll(']', ']]')}]`;
  return platform === 'duckdb' ? `"${name.replaceAll('"', '""')}"` : `\`${name.replaceAll('`', '``')}\``;
}

/** A table name in the form that `--source` and `--target` take; an absent schema between two parts keeps its dot. */
export function writtenTableName({ database, schema, table }: TableName, platform: PlatformName): string {
  const parts = database === null ? [schema, table] : [database, schema ?? '', table];
  return parts.flatMap((part) => (part === null ? [] : [part === '' ? '' : writtenName(part, platform)])).join('.');
}
