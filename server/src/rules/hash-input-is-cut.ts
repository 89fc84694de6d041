import { counted } from '../../../protocol/counted.ts';
import { bare } from '../syntax/inspect.ts';
import { replace } from './analysis/fixes.ts';
import { castsIn, factsOf, peeled } from './analysis/hash-parts.ts';
import { type HashCall, hashesOf } from './analysis/hashes.ts';
import { isUnicodeType } from './analysis/tables.ts';
import { type Rule, type RuleContext, tsqlPlatforms } from './engine/rule.ts';

export const hashInputIsCut: Rule = {
  name: 'hash-input-is-cut',
  hazards: ['H10'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'The text of a hash is cut before it is hashed.',
  why: 'Rows that differ behind the cut give the same hash, and their changes are not seen. CONCAT and + of types without max cut at 8,000 bytes without a message.',
  help: 'Make the first value varchar(max) or nvarchar(max), or state a length that holds all values.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Memo (MemoId int NOT NULL PRIMARY KEY, Subject varchar(200) NOT NULL, Body varchar(4000) NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONVERT(varchar(256), CONCAT(Subject, '||', Body)))) AS HashDiff FROM stg.Memo;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Memo (MemoId int NOT NULL PRIMARY KEY, Subject varchar(200) NOT NULL, Body varchar(4000) NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(Subject, '||', Body))) AS HashDiff FROM stg.Memo;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      const needed = widthOf(hash, context);
      const wrapper = hash.wrappers.find((node) => node.kind === 'cast' && textLength(node.type.text) !== null);
      const limit = wrapper?.kind === 'cast' ? textLength(wrapper.type.text) : null;
      if (wrapper?.kind === 'cast' && limit !== null && limit < needed.known) {
        const longer = wrapper.type.text.replace(/\(\d+\)/, '(max)');
        context.report(step, wrapper.type, {
          message: `${wrapper.type.text} cuts the text of the hash: its columns may hold ${counted(needed.known, 'character')}.`,
          fixes: [{ title: `Convert to ${longer}`, safe: false, edits: [replace(wrapper.type, longer)] }],
        });
        continue;
      }
      const joined = hash.joining === 'single' ? null : context.tables.type(hash.joined, hash.scope);
      const room = joined !== null && isUnicodeType(joined, context.platform) ? 4000 : 8000;
      if (joined !== null && !joined.includes('(max)') && needed.known > room) {
        const [first] = hash.parts;
        if (first === undefined) continue;
        const type = room === 4000 ? 'nvarchar(max)' : 'varchar(max)';
        context.report(step, hash.joined, {
          message: `The columns of this hash may hold ${counted(needed.known, 'character')}, but the joined text is cut at ${room}.`,
          fixes: [
            {
              title: `Make the first value ${type}`,
              safe: false,
              edits: [replace(first.expression, `CAST(${context.text(step, first.expression)} AS ${type})`)],
            },
          ],
        });
        continue;
      }
      cutColumns(hash, context, (at, message) => context.report(step, at, { message }));
    }
  },
};

/** Characters that the parts may hold together, as far as their types are known. */
function widthOf(hash: HashCall, context: RuleContext): { readonly known: number } {
  let known = 0;
  for (const { expression, delimiter } of hash.parts) {
    const length = factsOf(expression, hash.scope, context);
    known += (delimiter?.length ?? 0) + (length?.family === 'text' ? finite(length.length) : 0);
  }
  return { known };
}

function finite(length: number | null): number {
  return length === null || !Number.isFinite(length) ? 0 : length;
}

function textLength(type: string): number | null {
  const match = /^n?(?:var)?char\((\d+)\)$/.exec(type);
  return match === null ? null : Number(match[1]);
}

/** A single column that is cast to a shorter text. */
function cutColumns(
  hash: HashCall,
  context: RuleContext,
  report: (at: HashCall['input'], message: string) => void,
): void {
  for (const { expression } of hash.parts) {
    const column = peeled(expression);
    const facts = factsOf(column, hash.scope, context);
    if (facts?.family !== 'text' || facts.length === null) continue;
    for (const cast of castsIn(expression)) {
      const limit = textLength(cast.type.text);
      if (limit === null || bare(cast.operand) !== column || limit >= facts.length) continue;
      report(
        cast,
        `${cast.type.text} cuts a column that may hold ${Number.isFinite(facts.length) ? counted(facts.length, 'character') : 'any number of characters'}.`,
      );
    }
  }
}
