import { replace } from './analysis/fixes.ts';
import { factsOf, placeholderOf, textLiteral } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const concatWsSkipsNull: Rule = {
  name: 'concat-ws-skips-null',
  hazards: ['H03'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'CONCAT_WS builds a hash over values that may be NULL.',
  why: "It leaves NULL out together with its delimiter, so ('a', NULL, 'b') and ('a', 'b', NULL) give the same hash: a value that moves to the next column is not seen.",
  help: "Replace NULL in each value by a placeholder such as '^^' first. Stored hashes must be computed again then.",
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, Middle nvarchar(50) NULL, Suffix nvarchar(50) NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT_WS(N'||', Middle, Suffix))) AS HashDiff FROM stg.Person;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, Middle nvarchar(50) NULL, Suffix nvarchar(50) NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT_WS(N'||', COALESCE(Middle, N'^^'), COALESCE(Suffix, N'^^')))) AS HashDiff FROM stg.Person;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      if (hash.joining !== 'concat-ws' || hash.parts.length < 2) continue;
      const open = hash.parts.filter(
        ({ expression }) =>
          context.tables.nullable(expression, hash.scope) !== false && placeholderOf(expression) === null,
      );
      if (open.length === 0) continue;
      const certain = open.some(({ expression }) => context.tables.nullable(expression, hash.scope) === true);
      context.report(step, hash.joined, {
        message: `CONCAT_WS leaves out ${open.map(({ expression }) => context.text(step, expression)).join(', ')} where NULL, so values may move between columns unseen.`,
        severity: certain ? 'warning' : 'info',
        fixes: [
          {
            title: "Show NULL as '^^'",
            safe: false,
            edits: open.map(({ expression }) => {
              const national = factsOf(expression, hash.scope, context)?.base.startsWith('n') === true;
              return replace(expression, `COALESCE(${context.text(step, expression)}, ${textLiteral('^^', national)})`);
            }),
          },
        ],
      });
    }
  },
};
