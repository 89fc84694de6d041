import type { TableName } from '../../../protocol/catalog.ts';
import { addTo } from './groups.ts';

/** `[Staging].[dbo].[Department]` as people write it in messages: `Staging.dbo.Department`, absent parts left out. */
export function formatTableName(name: TableName): string {
  return [name.database, name.schema, name.table].filter((part) => part !== null).join('.');
}

/**
 * Reads a table name of one to three parts, each plain or in brackets, double quotes or backticks; `db..t` has an
 * absent schema. Undefined when the text is no such name.
 */
export function parseTableName(text: string): TableName | undefined {
  const parts = nameParts(text);
  const table = parts?.at(-1);
  if (parts === undefined || parts.length > 3 || table === null || table === undefined) return undefined;
  return { database: parts.at(-3) ?? null, schema: parts.at(-2) ?? null, table };
}

/** The parts of a name, quotes undone, absent ones as null; undefined when the text is no name. */
export function nameParts(text: string): readonly (string | null)[] | undefined {
  const parts: (string | null)[] = [];
  const part = /\s*(?:\[((?:[^\]]|\]\])*)\]|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|([^.[\]"`\s][^.[\]"`]*?))?\s*(\.|$)/y;
  for (;;) {
    const match = part.exec(text);
    if (match === null) return undefined;
    const [, bracket, double, backtick, plain, separator] = match;
    const value =
      bracket?.replaceAll(']]', ']') ?? double?.replaceAll('""', '"') ?? backtick?.replaceAll('``', '`') ?? plain;
    parts.push(value === undefined || value === '' ? null : value);
    if (separator === '') return parts;
  }
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
  const snake = snakeName(name);
  return snake === '' ? [] : snake.split('_');
}

/** The words of a name with `_` between them, which is in none of them. */
export function snakeName(name: string): string {
  return spellingsOf(name).snake;
}

function splitWords(name: string): readonly string[] {
  // The spelling of most names in a warehouse, which needs none of the expressions below.
  if (/^[a-z\d_]+$/.test(name)) return name.split('_').filter((word) => word !== '');
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
  const { exact, starts, ends, glob } = compiled(patterns);
  const { snake, compact } = spellingsOf(name);
  return (
    exact.has(compact) ||
    starts.get(snake.charCodeAt(0))?.some((start) => snake.startsWith(start)) === true ||
    ends.get(snake.charCodeAt(snake.length - 1))?.some((end) => snake.endsWith(end)) === true ||
    glob?.test(snake) === true
  );
}

interface CompiledPatterns {
  readonly exact: ReadonlySet<string>;
  /** What stands before the only `*` of a pattern that ends in it, by its first character. */
  readonly starts: ReadonlyMap<number, readonly string[]>;
  /** What stands behind the only `*` of a pattern that begins with it, by its last character. */
  readonly ends: ReadonlyMap<number, readonly string[]>;
  /** All other patterns with `*` in one expression, which is far slower; null when there is none. */
  readonly glob: RegExp | null;
}

const compiledPatterns = new WeakMap<readonly string[], CompiledPatterns>();
/** By their text, since a list may stand where it is used and be made anew at each call. */
const compiledTexts = new Map<string, CompiledPatterns>();
const mostCompiled = 1000;

function compiled(patterns: readonly string[]): CompiledPatterns {
  const known = compiledPatterns.get(patterns);
  if (known !== undefined) return known;
  const text = patterns.join('\n');
  const made = compiledTexts.get(text) ?? compile(patterns);
  if (compiledTexts.size >= mostCompiled) compiledTexts.clear();
  compiledTexts.set(text, made);
  compiledPatterns.set(patterns, made);
  return made;
}

function compile(patterns: readonly string[]): CompiledPatterns {
  const exact = new Set<string>();
  const starts = new Map<number, string[]>();
  const ends = new Map<number, string[]>();
  const globs: string[] = [];
  for (const written of patterns) {
    const pattern = written.toLowerCase();
    const star = pattern.indexOf('*');
    if (star < 0) exact.add(compactName(written));
    else if (pattern !== '*' && star === pattern.length - 1) {
      const stem = pattern.slice(0, -1);
      addTo(starts, pattern.charCodeAt(0), stem);
      // `valid_from*` fits VALIDFROM, too.
      if (!stem.endsWith('_')) exact.add(compactName(stem));
    } else if (pattern !== '*' && star === 0 && !pattern.includes('*', 1)) {
      addTo(ends, pattern.charCodeAt(pattern.length - 1), pattern.slice(1));
    } else globs.push(globSource(pattern));
  }
  return { exact, starts, ends, glob: globs.length === 0 ? null : new RegExp(`^(?:${globs.join('|')})$`, 'u') };
}

function globSource(pattern: string): string {
  return pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, '\\$&'))
    .join('.*');
}

interface Spellings {
  /** The words with `_` between them, which is in none of them. */
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
  const snake = parts.join('_');
  const made = { snake, compact: parts.length < 2 ? snake : parts.join('') };
  spellings.set(name, made);
  return made;
}
