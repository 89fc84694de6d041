import { bare } from '../syntax/inspect.ts';
import type { Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const textIsAddedToNumber: Rule = {
  name: 'text-is-added-to-number',
  hazards: ['H11'],
  platforms: tsqlPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'The text of a hash is joined by + with a value that is no text.',
  why: 'With a number, + means addition and the server tries to turn the text into a number (error 245); with varchar(max) and a date it refuses the statement.',
  help: 'Convert each value to text.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Line (DocNo varchar(20) NOT NULL, LineNumber int NOT NULL, PRIMARY KEY (DocNo, LineNumber));`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', DocNo + '||' + LineNumber)) AS LineHk FROM stg.Line;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Line (DocNo varchar(20) NOT NULL, LineNumber int NOT NULL, PRIMARY KEY (DocNo, LineNumber));`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', DocNo + '||' + CONVERT(varchar(12), LineNumber))) AS LineHk FROM stg.Line;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      if (hash.joining !== 'plus') continue;
      const facts = (expression: Expression) => factsOf(expression, hash.scope, context);
      const text = hash.parts.some(
        ({ expression, delimiter }) => delimiter !== null || facts(expression)?.family === 'text',
      );
      if (!text) continue;
      for (const { expression } of hash.parts) {
        const type = facts(expression);
        if (type === null || !['integer', 'decimal', 'float'].includes(type.family)) continue;
        if (bare(expression).kind === 'literal') continue;
        context.report(step, expression, {
          message: `${context.text(step, expression)} is a number, so this + adds instead of joining texts.`,
          fixes: [
            {
              title: 'Convert to text',
              safe: true,
              edits: [replace(expression, `CONVERT(varchar(40), ${context.text(step, expression)})`)],
            },
          ],
        });
      }
    }
  },
};
