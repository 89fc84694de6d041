import { findAll } from '../syntax/inspect.ts';
import { hashesOf } from './analysis/hashes.ts';
import { hasLegacyHash, normalises } from './analysis/house.ts';
import { callName } from './analysis/names.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

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
  valid: [{ sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', UPPER(TRIM(ShopCode)))) AS ShopHk FROM stg.Shop;` }],
  statement(step, context) {
    const hashes = hashesOf(step);
    if (hashes.length === 0 || normalises(step, context, 'text')) return;
    for (const hash of hashes) {
      if (hash.purpose !== 'diff' || hasLegacyHash(step, context, ['automate-dv', 'datavault4dbt'])) continue;
      const names = new Set(
        findAll(hash.input, 'call')
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
