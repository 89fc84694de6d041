import { bare, findAll } from '../syntax/inspect.ts';
import type { Call, Expression } from '../syntax/tree.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { hasLegacyHash, normalises } from './analysis/house.ts';
import { callName } from './analysis/names.ts';
import type { Scope } from './analysis/steps.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const hashdiffIsNormalised: Rule = {
  name: 'hashdiff-is-normalised',
  hazards: ['H13'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'none',
  summary: 'A hashdiff is built over values in upper case or without blanks.',
  why: 'A corrected spelling, a removed blank or an added line feed is no change for it.',
  help: 'Normalise business keys only where the key is defined so, and attributes not at all.',
  judges: 'part',
  invalid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(UPPER(Street), '||', UPPER(City)))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  valid: [
    { sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', UPPER(TRIM(ShopCode)))) AS ShopHk FROM stg.Shop;` },
    {
      ddl: `CREATE TABLE stg.Shop (ShopId uniqueidentifier NULL, Zip nchar(5) NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(LOWER(CONVERT(nvarchar(36), ShopId)), N'||', RTRIM(Zip)))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    const hashes = hashesOf(step);
    if (hashes.length === 0 || normalises(step, context, 'text')) return;
    for (const hash of hashes) {
      if (hash.purpose !== 'diff' || hasLegacyHash(step, context, ['automate-dv', 'datavault4dbt'])) continue;
      const names = new Set(
        findAll(hash.input, 'call')
          .filter((call) => !losesNothing(call, hash.scope, context))
          .map(callName)
          .filter((name) => ['UPPER', 'LOWER', 'TRIM', 'LTRIM', 'RTRIM'].includes(name)),
      );
      if (names.size === 0) continue;
      context.report(step, hash.joined, {
        message: `${[...names].join(' and ')} hide${names.size === 1 ? 's' : ''} changes from this hashdiff.`,
      });
    }
  },
};

/** The digits of what is no text have no case of their own, and a text of fixed length is filled up with blanks. */
function losesNothing(call: Call, scope: Scope | null, context: RuleContext): boolean {
  const [value] = call.arguments;
  const facts = value === undefined ? null : factsOf(converted(value), scope, context);
  if (facts === null || facts.family === 'other') return false;
  return facts.family !== 'text' || (callName(call) === 'RTRIM' && /^n?char$/.test(facts.base));
}

/** What is converted to text. */
function converted(expression: Expression): Expression {
  const inner = bare(expression);
  if (inner.kind === 'cast' || inner.kind === 'collate') return converted(inner.operand);
  const [digits] = inner.kind === 'call' && callName(inner) === 'HEX' ? inner.arguments : [];
  return digits === undefined ? inner : converted(digits);
}
