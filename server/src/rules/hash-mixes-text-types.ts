import { findAll } from '../syntax/inspect.ts';
import type { Cast } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import type { Rule } from './engine/rule.ts';

export const hashMixesTextTypes: Rule = {
  name: 'hash-mixes-text-types',
  hazards: ['H09'],
  platforms: ['sqlserver', 'azuresql', 'synapse'],
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Unicode text is converted to varchar before it is hashed.',
  why: "Letters outside the code page become '?', so different names give one hash; and the hash of a varchar never equals that of the same nvarchar.",
  help: 'Hash nvarchar as nvarchar, or use a UTF-8 collation on every platform that computes the hash.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, FullName nvarchar(100) NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONVERT(varchar(100), FullName))) AS HashDiff FROM stg.Person;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, FullName nvarchar(100) NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', FullName)) AS HashDiff FROM stg.Person;`,
    },
  ],
  statement(step, context) {
    // A generated load that cannot hash UTF-8 refuses other letters by a guard of its own.
    if (context.own !== null) return;
    const seen = new Set<Cast>();
    for (const hash of hashesOf(step)) {
      for (const cast of findAll(hash.input, 'cast')) {
        if (!/^(var)?char(\(|$)/.test(cast.type.text) || seen.has(cast)) continue;
        seen.add(cast);
        const facts = factsOf(cast.operand, hash.scope, context);
        if (facts?.family !== 'text' || !facts.unicode) continue;
        // A UTF-8 collation keeps every letter.
        if (findAll(cast, 'collate').some((node) => /_UTF8$/i.test(node.collation.name))) continue;
        if (context.slice(step, cast.end, cast.end + 60).match(/^\s*COLLATE\s+\w+_UTF8/i) !== null) continue;
        const type = `n${context.text(step, cast.type).replace(/\(\s*(\d+)\s*\)/, (_, n: string) => `(${Math.min(Number(n), 4000)})`)}`;
        context.report(step, cast, {
          message: `${context.text(step, cast.operand)} is Unicode text, and varchar loses the letters that its code page lacks.`,
          fixes: [{ title: `Convert to ${type}`, safe: false, edits: [replace(cast.type, type)] }],
        });
      }
    }
  },
};
