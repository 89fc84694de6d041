import { findAll } from '../syntax/inspect.ts';
import { factsOf, peeled } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { callName } from './analysis/names.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const hashDelimiterMayBeData: Rule = {
  name: 'hash-delimiter-may-be-data',
  hazards: ['H02'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'none',
  summary: 'The delimiter of a hash is one ordinary character that values may hold.',
  why: "With the delimiter '|', ('a|b', 'c') and ('a', 'b|c') give the same hash.",
  help: 'Escape the delimiter in each value, or use one that the data cannot hold.',
  judges: 'part',
  invalid: [
    {
      sql: `SELECT HASHBYTES('SHA2_256', CONCAT(ISNULL(Street, '^^'), '|', ISNULL(City, '^^'))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  valid: [
    {
      sql: `SELECT HASHBYTES('SHA2_256', CONCAT(ISNULL(Street, '^^'), '||', ISNULL(City, '^^'))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      const delimiter = hash.separator ?? hash.parts[0]?.delimiter ?? null;
      if (delimiter === null || delimiter.length !== 1 || delimiter.charCodeAt(0) < 32) continue;
      const open = hash.parts.some(({ expression }) => {
        const facts = factsOf(peeled(expression), hash.scope, context);
        if (facts !== null && facts.family !== 'text') return false;
        return !findAll(expression, 'call').some((call) => callName(call) === 'REPLACE');
      });
      if (!open || hash.parts.length < 2) continue;
      context.report(step, hash.joined, {
        message: `A value that holds '${delimiter}' can give the hash of another row.`,
      });
    }
  },
};
