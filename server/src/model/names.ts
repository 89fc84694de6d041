import type { TableName } from '../../../protocol/catalog.ts';

/** `[Staging].[dbo].[Department]` as people write it in messages: `Staging.dbo.Department`, absent parts left out. */
export function formatTableName(name: TableName): string {
  return [name.database, name.schema, name.table].filter((part) => part !== null).join('.');
}

/**
 * Reads a table name of one to three parts, each plain or in brackets, double quotes or backticks; `db..t` has an
 * absent schema. Undefined when the text is no such name.
 */
export function parseTableName(text: string): TableName | undefined {
  const parts: (string | null)[] = [];
  const part = /\s*(?:\[((?:[^\]]|\]\])*)\]|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|([^.[\]"`\s][^.[\]"`]*?))?\s*(\.|$)/y;
  for (;;) {
    const match = part.exec(text);
    if (match === null) return undefined;
    const [, bracket, double, backtick, plain, separator] = match;
    const value =
      bracket?.replaceAll(']]', ']') ?? double?.replaceAll('""', '"') ?? backtick?.replaceAll('``', '`') ?? plain;
    parts.push(value === undefined || value === '' ? null : value);
    if (separator === '') break;
  }
  const table = parts.at(-1);
  if (parts.length > 3 || table === null || table === undefined) return undefined;
  return { database: parts.at(-3) ?? null, schema: parts.at(-2) ?? null, table };
}

/** Names are compared without regard to case, as every platform here does by default. */
export function sameIdentifier(left: string, right: string): boolean {
  return left === right || left.toLowerCase() === right.toLowerCase();
}

/** Key of a full table name in maps. */
export function tableKey(name: TableName): string {
  return [name.database ?? '', name.schema ?? '', name.table].join('\u0000').toLowerCase();
}

/** True when `asked`, perhaps with fewer parts, may mean `name`: a part that either side leaves open fits all. */
export function nameFits(asked: TableName, name: TableName): boolean {
  return (
    sameIdentifier(asked.table, name.table) &&
    (asked.schema === null || name.schema === null || sameIdentifier(asked.schema, name.schema)) &&
    (asked.database === null || name.database === null || sameIdentifier(asked.database, name.database))
  );
}

/**
 * Words of a name in lower case: `EffectiveStartDT` → effective, start, dt; `HK_CUSTOMER` → hk, customer;
 * `PSInsertDT` → ps, insert, dt.
 */
export function words(name: string): readonly string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** The name as words joined by `_`, which naming conventions are written against. */
export function snakeCase(name: string): string {
  return words(name).join('_');
}

/** The name as far as matching is concerned: letters and digits in lower case, nothing else. */
export function compactName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\d]+/gu, '');
}

/**
 * True when a name fits one of the patterns. A pattern is written in snake case; `*` stands for anything. Without
 * `*`, word borders do not matter (`hash_diff` fits HashDiff and HASHDIFF); with it, they do (`*_hk` fits CUSTOMER_HK).
 */
export function fitsPattern(name: string, patterns: readonly string[]): boolean {
  const snake = snakeCase(name);
  const compact = compactName(name);
  return patterns.some((pattern) =>
    pattern.includes('*') ? globExpression(pattern).test(snake) : compactName(pattern) === compact,
  );
}

const globs = new Map<string, RegExp>();

function globExpression(pattern: string): RegExp {
  const known = globs.get(pattern);
  if (known !== undefined) return known;
  const source = pattern
    .toLowerCase()
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  const expression = new RegExp(`^${source}$`, 'u');
  globs.set(pattern, expression);
  return expression;
}
