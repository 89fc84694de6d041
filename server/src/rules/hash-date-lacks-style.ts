import { bare } from '../syntax/inspect.ts';
import type { Cast, Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { castsIn, factsOf, peeled } from './analysis/hash-parts.ts';
import { type HashCall, hashesOf } from './analysis/hashes.ts';
import { type Rule, type RuleContext, tsqlPlatforms } from './engine/rule.ts';

export const hashDateLacksStyle: Rule = {
  name: 'hash-date-lacks-style',
  hazards: ['H07'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A datetime goes into a hash without a style.',
  why: "datetime and smalldatetime become text such as 'Jan  1 2026  9:05AM': the seconds are gone, and the month's name follows the session's language.",
  help: 'Write CONVERT(varchar(33), value, 126).',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, Born datetime NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(PersonNo, '||', Born))) AS HashDiff FROM stg.Person;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, Born datetime NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(PersonNo, '||', CONVERT(varchar(33), Born, 126)))) AS HashDiff FROM stg.Person;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      for (const { expression } of hash.parts) {
        const found = unstyled(expression, hash, context);
        if (found === null) continue;
        const value = found.kind === 'cast' ? found.operand : found;
        context.report(step, found, {
          message: `${context.text(step, value)} is rendered without seconds and in the session's language.`,
          fixes: [
            {
              title: 'Convert with style 126',
              safe: false,
              edits: [replace(found, `CONVERT(varchar(33), ${context.text(step, value)}, 126)`)],
            },
          ],
        });
      }
    }
  },
};

/** The cast without a style, or the bare datetime that CONCAT or + turns into text. */
function unstyled(expression: Expression, hash: HashCall, context: RuleContext): Cast | Expression | null {
  const column = peeled(expression);
  const facts = factsOf(column, hash.scope, context);
  if (facts === null || !['datetime', 'smalldatetime'].includes(facts.base)) return null;
  const casts = castsIn(expression);
  const toText = casts.find((cast) => /^n?(var)?char/.test(cast.type.text) && bare(cast.operand) === column);
  if (toText !== undefined) return toText.style === null ? toText : null;
  if (casts.length > 0) return null;
  return hash.joining === 'single' ? null : column;
}
