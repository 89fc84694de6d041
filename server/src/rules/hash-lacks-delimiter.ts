import { bare, findAll } from '../syntax/inspect.ts';
import { insertAt, replace } from './analysis/fixes.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { type HashCall, hashesOf } from './analysis/hashes.ts';
import { hasLegacyHash } from './analysis/house.ts';
import type { Step } from './analysis/steps.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const hashLacksDelimiter: Rule = {
  name: 'hash-lacks-delimiter',
  hazards: ['H01'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Values go into a hash with nothing between them.',
  why: "('ab', 'c') and ('a', 'bc') give the same hash: two keys become one, or a change between neighbouring columns is not seen.",
  help: "Put a delimiter such as '||' between every two values. Stored hashes must be computed again then.",
  judges: 'part',
  invalid: [
    {
      sql: `SELECT HASHBYTES('SHA2_256', CONCAT(ISNULL(Street, '^^'), ISNULL(City, '^^'))) AS HashDiff FROM stg.Shop;`,
    },
    { sql: `SELECT HASHBYTES('SHA2_256', ISNULL(Street, '^^') + ISNULL(City, '^^')) AS HashDiff FROM stg.Shop;` },
  ],
  valid: [
    {
      sql: `SELECT HASHBYTES('SHA2_256', CONCAT(ISNULL(Street, '^^'), '||', ISNULL(City, '^^'))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    const hashes = hashesOf(step);
    if (hashes.length === 0 || hasLegacyHash(step, context, ['legacy-concat'])) return;
    for (const hash of hashes) {
      const bad = undelimited(hash, context);
      if (bad.length === 0) continue;
      context.report(step, hash.joined, {
        message: `${bad.length + 1} values stand in this hash without a delimiter between them.`,
        fixes: fixFor(step, context, hash, bad),
      });
    }
  },
};

/** Indexes of parts that touch the next one; a part of fixed width needs no delimiter behind it. */
function undelimited(hash: HashCall, context: RuleContext): readonly number[] {
  if (hash.joining === 'single') return [];
  if (hash.joining === 'concat-ws' && hash.separator === null) return [];
  return hash.parts.flatMap((part, index) => {
    if (index === hash.parts.length - 1 || (part.delimiter !== null && part.delimiter !== '')) return [];
    return isFixedWidth(hash, index, context) || bringsDelimiter(hash, index) ? [] : [index];
  });
}

/** A CASE may put the delimiter into the value itself, such as for trailing NULLs that are left out. */
function bringsDelimiter(hash: HashCall, index: number): boolean {
  return [hash.parts[index], hash.parts[index + 1]].some(
    (part) => part !== undefined && findAll(part.expression, 'case').length > 0,
  );
}

function isFixedWidth(hash: HashCall, index: number, context: RuleContext): boolean {
  const part = hash.parts[index];
  if (part === undefined) return false;
  const inner = bare(part.expression);
  const facts = factsOf(inner, hash.scope, context);
  if (facts === null) return false;
  return facts.base === 'char' || facts.base === 'nchar' || facts.base === 'binary' || facts.family === 'uuid';
}

function fixFor(step: Step, context: RuleContext, hash: HashCall, bad: readonly number[]): readonly FindingFix[] {
  const title = "Put '||' between the values";
  if (hash.joining === 'concat-ws') {
    const first = hash.joined.kind === 'call' ? hash.joined.arguments[0] : undefined;
    return first === undefined ? [] : [{ title, safe: false, edits: [replace(first, "'||'")] }];
  }
  const glue = hash.joining === 'concat' ? ", '||'" : hash.joining === 'plus' ? " + '||'" : " || '||'";
  const edits = bad.flatMap((index) => {
    const part = hash.parts[index];
    const next = hash.parts[index + 1];
    if (part === undefined || next === undefined) return [];
    // Between the two stands a comma or an operator; the parentheses of a part stay around it.
    const between = context.slice(step, part.expression.end, next.expression.start);
    const at = /^[\s)]*/.exec(between)?.[0].replace(/\s+$/, '').length ?? 0;
    return [insertAt(part.expression.end + at, glue)];
  });
  return [{ title, safe: false, edits }];
}
