import type { PlatformName } from '../../../protocol/platform.ts';
import { findAll, nodesAt, problemsOf, unitsOf } from './inspect.ts';
import { parse } from './parse.ts';
import { detectPlatform } from './platform.ts';
import type { Script, SyntaxProblem, Unit } from './tree.ts';

/** Longer texts are SQL Server's where nothing tells: each further look would cost as much as the first. */
const mostCharacters = 200_000;

/** Asked in this order where a text is no T-SQL. */
const others: readonly PlatformName[] = ['duckdb', 'databricks'];

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
  // Only T-SQL has statements that begin a batch or stand alone in one.
  /(?<=;(?:\s|--[^\n]*\n)*)(?:alter|create|delete|drop|from|grant|insert|select|update|with)\b/iy,
];

/** A text of which no setting says the platform: that of its signs, else the one that reads it, else SQL Server. */
export function platformOfUnstated(text: string): PlatformName {
  return detectPlatform(text) ?? platformThatReads(text) ?? 'sqlserver';
}

/**
 * The platform other than SQL Server that understands a text without signs of any; undefined where it is T-SQL, or T-SQL
 * with a mistake. DuckDB and Spark SQL are read with much tolerance, so that reading without a problem is not enough:
 * each place that is no T-SQL must be one that T-SQL never has, inside of a statement that is known there.
 */
export function platformThatReads(text: string): PlatformName | undefined {
  if (text.length > mostCharacters) return undefined;
  const own = parse(text, { platform: 'sqlserver' });
  const problems = problemsOf(own);
  if (problems.length === 0 || own.batches.length > 1) return undefined;
  if (!problems.every((problem) => isForeign(problem, text))) return undefined;
  return others.find((platform) => understands(parse(text, { platform }), problems));
}

/** Whether a place of the text is such a word. */
function isForeign({ start }: SyntaxProblem, text: string): boolean {
  return foreign.some((pattern) => {
    pattern.lastIndex = start;
    return pattern.test(text);
  });
}

function understands(script: Script, problems: readonly SyntaxProblem[]): boolean {
  if (problemsOf(script).length > 0) return false;
  const units = unitsOf(script);
  return (
    units.every((unit) => isKnown(unit) && isReadToItsEnd(unit, script.text)) &&
    problems.every(({ start }) => units.some((unit) => reads(unit, start)))
  );
}

/** Has a tree, or is a comment on an object, which is kept without one. */
function isKnown({ statement }: Unit): boolean {
  return findAll(statement, 'opaque').every(({ name }) => /^COMMENT ON\b/.test(name));
}

/** What a tolerant reading skips behind a statement is no part of its node. */
function isReadToItsEnd({ offset, length, statement }: Unit, text: string): boolean {
  return /^[\s;]*$/.test(text.slice(offset + statement.end, offset + length));
}

/** A place is part of a statement there, and not of a clause of which only the bounds are known. */
function reads(unit: Unit, offset: number): boolean {
  const at = offset - unit.offset;
  if (at < unit.statement.start || at >= unit.statement.end) return false;
  return nodesAt(unit, offset).every(({ kind }) => kind !== 'opaque-clause');
}
