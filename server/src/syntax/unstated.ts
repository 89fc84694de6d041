import type { PlatformName } from '../../../protocol/platform.ts';
import { findAll, nodesAt, problemsOf, unitsOf } from './inspect.ts';
import { parse } from './parse.ts';
import { detectPlatform, withoutCommentsAndStrings } from './platform.ts';
import type { Script, SyntaxProblem, Unit } from './tree.ts';

/** Longer texts are SQL Server's where nothing tells: each further look would cost as much as the first. */
const mostCharacters = 200_000;

/** Asked in this order where a text is no T-SQL. */
const otherPlatforms: readonly PlatformName[] = ['duckdb', 'databricks'];

/** Words that T-SQL has nowhere, or not behind those before them; what a slip of the hand makes is none of these. */
const foreign: readonly RegExp[] = [
  /(?<=\bcreate\s+)or\s+replace\b/iy,
  /(?<=\bcreate\s+(?:or\s+replace\s+)?)temp(?:orary)?\b/iy,
  /(?<=\b(?:create|alter|drop)\s+(?:table|view|schema|index|sequence|type)\s+)if\s+(?:not\s+)?exists\b/iy,
  /(?<=\b(?:add|rename)\s+)column\b(?=\s+["\w])/iy,
  /\brename\s+(?:to|column)\b/iy,
  /(?:\bcomment\s+|(?<=\bcomment\s+))on\s+(?:table|view|column|schema|index|sequence|type|function|macro|catalog|database)\b/iy,
  /\bnulls\s+(?:first|last)\b/iy,
  /\busing\s*\(/iy,
  /\bnatural\s+(?:(?:left|right|full|inner)\s+)?(?:outer\s+)?join\b/iy,
  /(?<=\bdelete\s+from\s+[\w."]+\s+)using\b/iy,
  /(?<=\binterval\s+)\d+\s+(?:year|quarter|month|week|day|hour|minute|second)s?\b/iy,
  /(?<=\binterval\s+(?:'[^']{0,40}'|\d+)\s+)(?:year|quarter|month|week|day|hour|minute|second|millisecond|microsecond)s?\b/iy,
  /(?:cascade|restrict)\b(?<=\bdrop\s+\w+\s+[^;]{0,1000}[\w"]\s+\w+)/iy,
  /\b(?:returning|ilike|lateral)\b/iy,
  /(?<=\b(?:qualify|with\s+recursive)\s+)\w/iy,
  /(?<=\balter\s+column\s+"?\w+"?\s+)(?:set|drop|type)\b/iy,
  /(?<=\balter\s+column\s+"?\w+"?\s+(?:set|drop|type|set\s+data)\s+)(?:not|default|type|[a-z]\w*)\b/iy,
  /\blimit\s+(?:\d|all\b)/iy,
  /(?<=\bfilter\s*)\(\s*where\b/iy,
  /(?<=(?:^|;)\s*)values\s*\(/iy,
  /\bcurrent_time\b/iy,
  /(?<=\b(?:date|time|timestamp)\s+)'\d/iy,
  /(?<=\bcurrent_(?:timestamp|date|time|user)\s*)\(/iy,
  /(?<=\b(?:extract|substring|position|overlay)\s*\([^()]*)\b(?:from|in|for|placing)\b/iy,
  /(?<=\(\s*)distinct\b/iy,
  /\bdouble\b(?!\s+precision\b)/iy,
  /`/y,
  /(?<=\w\s+(?:struct|map)\s*\()\w/iy,
  /(?<=\btimestamp\s+)with(?:out)?\s+time\s+zone\b/iy,
  /(?<=\bgenerated\s+always\s+as\s*)\(/iy,
  /(?<=\bas\s+)from\b/iy,
  /(?<=\bin\s*)\[\s*(?:\d|')/iy,
  /(?<=\b(?:from|join)\s+)'[^'\n]{0,400}\.(?:csv|tsv|parquet|json|jsonl|ndjson)\b/iy,
  /(?<=\binsert\s+into\s+[\w."]+\s+)(?:by\s+(?:name|position)|replace\s+(?:where|using)|from|table)\b/iy,
  /(?<=\(\s*)from\b/iy,
  /(?<=\b(?:from|join)\s+)values\b/iy,
  /(?<=\b(?:union|except|intersect)\s+)distinct\b/iy,
  /(?<=\bgroup\s+by\s+al)l\s*(?:$|[;)])|(?<=\bgroup\s+by\s+all\s*)(?:[;)]|(?:having|limit|order|qualify)\b)/iy,
  /(?<=\border\s+by\s+)all\b/iy,
  /(?<=\bas\s+)(?:not\s+)?materialized\s*\(/iy,
  /(?<=\*\s*)replace\s*\([^()]*\bas\b/iy,
  /(?<=(?:^|;)\s*set\s+)(?:memory_limit|max_memory|threads|temp_directory|search_path|timezone|preserve_insertion_order)\b/iy,
  /(?<=^\s*begin\s*;[\s\S]*\bcommit\s*);/iy,
  // A column of truth values stands for a condition: `WHERE is_current AND …`; in T-SQL's own style it is `IsCurrent = 1`.
  /(?<=\b(?:where|and|or|not|on)\s+(?:\w+\.)?(?:is|has|was)_[a-z_]+\s*)(?:[;)]|(?:and|or|then|when|group|order|qualify)\b)/iy,
  /(?<=\b(?:where|and|or|not|on)\s+(?:\w+\.)?(?:is|has|was)_[a-z_]*)[a-z_]\s*$/iy,
  // Only T-SQL has statements that begin a batch or stand alone in one.
  /(?<=;(?:\s|--[^\n]*\n)*)(?:alter|create|delete|drop|from|grant|insert|select|update|with)\b/iy,
];

/** What T-SQL refuses and a slip of the hand makes, too; it tells beside something that is sure. */
const perhapsForeign: readonly RegExp[] = [
  /(?<=\bupdate\s+[\w."]+\s+)(?:as\s+)?\w+\s+set\b/iy,
  /(?<=\bdelete\s+from\s+[\w."]+\s+)as\s+\w/iy,
  /(?<=(?:^|;)\s*truncate\s+)\w/iy,
  /(?<=\b(?:set|,)\s+(?:\w+\.)?\w+\s*=\s*)(?:not\b|\()/iy,
  /(?<=\b(?:where|and|or|not|on)\s+(?:\w+\.)?\w+\s*)(?:[;)]|(?:and|or|then|when|group|order|qualify)\b)/iy,
];

/** What T-SQL's grammar reads, though no T-SQL means anything by it; in texts without comments, their strings empty. */
const meaningless: readonly RegExp[] = [
  /\b\w+\s+(?:bool|boolean|int1|int2|int4|int8|float4|float8|interval)\s*(?:,|\)|not\s+null\b|null\b|default\b|primary\s+key\b)/i,
  // A key of text, and a row version with a default.
  /\btext\s+(?:not\s+null\s+)?(?:primary\s+key|unique)\b/i,
  /\btimestamp\s+(?:not\s+null\s+)?default\b/i,
  /(?<!\b(?:use_type_default|@\w+)\s*)(?:=|<>|\bdefault\b|\bselect\b|\bthen\b|\belse\b|\bnot\b|\bvalues\s*\([^()]*,)\s*\(*(?:true|false)\b(?!\s*[.(])/i,
  /\b(?:anti|semi)\s+join\b/i,
  /\binterval\s+''(?:\s+(?:year|month|day|hour|minute|second)s?\b)?/i,
  // Functions without a schema are the server's own, and it has none of these.
  /(?:[,(=<>|+-]|\b(?:select|distinct|then|else|when|and|or|not|where|on|by|default))\s*(?:now|md5|sha256|date_trunc|date_part|date_add|date_sub|date_diff|list_\w+|array_agg|strftime|strptime|ifnull|nvl|bool_and|bool_or|count_if|group_concat|to_date|to_char|gen_random_uuid|make_date|lpad|rpad)\s*\(/i,
];

/** A text of which no setting says the platform: that of its signs, else the one that reads it, else SQL Server. */
export function platformOfUnstated(text: string): PlatformName {
  return detectPlatform(text) ?? platformThatReads(text) ?? 'sqlserver';
}

/**
 * The platform other than SQL Server that understands a text without signs of any; undefined where it is T-SQL, or T-SQL
 * with a mistake. DuckDB and Spark SQL are read with much tolerance, so that reading without a problem is not enough:
 * each place that is no T-SQL must be one that T-SQL never has, inside of a statement that is known there, or stand
 * beside one. Where the grammar of T-SQL reads it all, something must stand there that means nothing in it.
 */
export function platformThatReads(text: string): PlatformName | undefined {
  if (text.length > mostCharacters) return undefined;
  const own = parse(text, { platform: 'sqlserver' });
  const problems = problemsOf(own);
  if (own.batches.length > 1) return undefined;
  const others = problems.filter((problem) => !stands(foreign, problem, text));
  const isSure = others.length < problems.length || meansNothing(text);
  if (!isSure || !others.every((problem) => stands(perhapsForeign, problem, text))) return undefined;
  return otherPlatforms.find((platform) => understands(parse(text, { platform }), problems));
}

function meansNothing(text: string): boolean {
  const code = withoutCommentsAndStrings(text);
  return meaningless.some((pattern) => pattern.test(code));
}

/** Whether one of the patterns stands at a place of the text. */
function stands(patterns: readonly RegExp[], { start }: SyntaxProblem, text: string): boolean {
  return patterns.some((pattern) => {
    pattern.lastIndex = start;
    return pattern.test(text);
  });
}

function understands(script: Script, problems: readonly SyntaxProblem[]): boolean {
  if (problemsOf(script).length > 0) return false;
  const units = unitsOf(script);
  return (
    units.every((unit) => isKnown(unit) && isReadToItsEnd(unit, script.text)) &&
    problems.every(({ start }) => units.some((unit) => reads(unit, startOf(start, script.text))))
  );
}

/** Has a tree, or is a comment on an object or a bound of a transaction, which are kept without one. */
function isKnown({ statement }: Unit): boolean {
  return findAll(statement, 'opaque').every(({ name }) => /^(?:COMMENT ON|BEGIN|START|COMMIT|ROLLBACK)\b/.test(name));
}

/** What a tolerant reading skips behind a statement is no part of its node. */
function isReadToItsEnd({ offset, length, statement }: Unit, text: string): boolean {
  return /^[\s;]*$/.test(text.slice(offset + statement.end, offset + length));
}

/** A semicolon is no part of its statement, what stands before it is. */
function startOf(offset: number, text: string): number {
  return text.charAt(offset) === ';' ? text.slice(0, offset).trimEnd().length - 1 : offset;
}

/** A place is part of a statement there, and not of a clause of which only the bounds are known. */
function reads(unit: Unit, offset: number): boolean {
  const at = offset - unit.offset;
  if (at < unit.statement.start || at >= unit.statement.end) return false;
  return nodesAt(unit, offset).every(({ kind }) => kind !== 'opaque-clause');
}
