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
  return spellingsOf(name).words;
}

function splitWords(name: string): readonly string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** The name as far as matching is concerned: letters and digits in lower case, nothing else. */
export function compactName(name: string): string {
  return spellingsOf(name).compact;
}

/**
 * True when a name fits one of the patterns. A pattern is written in snake case; `*` stands for anything. Without
 * `*`, word borders do not matter (`hash_diff` fits HashDiff and HASHDIFF); with it, they do (`*_hk` fits CUSTOMER_HK).
 */
export function fitsPattern(name: string, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return false;
  const { exact, glob } = compiled(patterns);
  const { snake, compact } = spellingsOf(name);
  return exact.has(compact) || glob?.test(snake) === true;
}

interface CompiledPatterns {
  readonly exact: ReadonlySet<string>;
  /** All patterns with `*` in one expression; null when there is none. */
  readonly glob: RegExp | null;
}

const compiledPatterns = new WeakMap<readonly string[], CompiledPatterns>();

function compiled(patterns: readonly string[]): CompiledPatterns {
  const known = compiledPatterns.get(patterns);
  if (known !== undefined) return known;
  const globs = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => globSource(pattern.toLowerCase()));
  const made: CompiledPatterns = {
    exact: new Set(patterns.filter((pattern) => !pattern.includes('*')).map(compactName)),
    glob: globs.length === 0 ? null : new RegExp(`^(?:${globs.join('|')})$`, 'u'),
  };
  compiledPatterns.set(patterns, made);
  return made;
}

function globSource(pattern: string): string {
  return pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, '\\$&'))
    .join('.*');
}

interface Spellings {
  readonly words: readonly string[];
  readonly snake: string;
  readonly compact: string;
}

/** Names repeat over a warehouse; each is taken apart once, until there are very many. */
const spellings = new Map<string, Spellings>();
const mostSpellings = 100_000;

function spellingsOf(name: string): Spellings {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  if (spellings.size >= mostSpellings) spellings.clear();
  const parts = splitWords(name);
  const made = { words: parts, snake: parts.join('_'), compact: parts.join('') };
  spellings.set(name, made);
  return made;
}
