import { isTsql } from '../../../protocol/platform.ts';
import { bare, findAll } from '../syntax/inspect.ts';
import type { Expression } from '../syntax/tree.ts';
import { sentinelOf } from './analysis/comparisons.ts';
import { replace } from './analysis/fixes.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { hasLegacyHash, normalises } from './analysis/house.ts';
import { callOf } from './analysis/names.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const hashEquatesNullAndEmpty: Rule = {
  name: 'hash-equates-null-and-empty',
  hazards: ['H04'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: 'A hash is the same for NULL and for an empty text.',
  why: 'A change from NULL to an empty text, or back, is not seen.',
  help: "Show NULL as a placeholder that no value can be, such as '^^', unless the house treats the two as equal on purpose.",
  judges: 'part',
  invalid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(ISNULL(Street, ''), '||', ISNULL(City, '')))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  valid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(ISNULL(Street, '^^'), '||', ISNULL(City, '^^')))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    const hashes = hashesOf(step);
    if (hashes.length === 0 || hasLegacyHash(step, context, ['legacy-concat', 'automate-dv', 'datavault4dbt'])) return;
    if (normalises(step, context, 'empty')) return;
    for (const hash of hashes) {
      const empty = hash.parts.filter(
        ({ expression }) => emptyFallback(expression) !== null || turnsEmptyToNull(expression),
      );
      const silent =
        hash.joining === 'concat' && isTsql(context.platform.name)
          ? hash.parts.filter(
              ({ expression }) =>
                context.tables.nullable(expression, hash.scope) === true &&
                factsOf(expression, hash.scope, context)?.family === 'text',
            )
          : [];
      if (empty.length === 0 && silent.length === 0) continue;
      const edits = [
        ...empty.flatMap(({ expression }) => {
          const literal = emptyFallback(expression);
          return literal === null ? [] : [replace(literal, context.text(step, literal).replace("''", "'^^'"))];
        }),
        ...silent.map(({ expression }) => {
          const national = factsOf(expression, hash.scope, context)?.unicode === true ? 'N' : '';
          return replace(expression, `COALESCE(${context.text(step, expression)}, ${national}'^^')`);
        }),
      ];
      context.report(step, hash.joined, {
        message: 'NULL and an empty text go into this hash alike.',
        fixes: edits.length === 0 ? [] : [{ title: "Show NULL as '^^'", safe: false, edits }],
      });
    }
  },
};

/** The '' of ISNULL(x, ''). */
function emptyFallback(expression: Expression): Expression | null {
  const inner = bare(expression);
  if (inner.kind === 'cast' || inner.kind === 'collate') return emptyFallback(inner.operand);
  if (sentinelOf(inner)?.value === '' && inner.kind === 'call') return inner.arguments[1] ?? null;
  if (
    inner.kind === 'call' &&
    ['UPPER', 'LOWER', 'TRIM', 'LTRIM', 'RTRIM'].some((name) => callOf(inner, name) !== null)
  ) {
    const [first] = inner.arguments;
    return first === undefined ? null : emptyFallback(first);
  }
  return null;
}

function turnsEmptyToNull(expression: Expression): boolean {
  return findAll(expression, 'call').some((call) => {
    if (callOf(call, 'NULLIF') === null) return false;
    const second = call.arguments[1] === undefined ? null : bare(call.arguments[1]);
    return second?.kind === 'literal' && second.value === '';
  });
}
