import { counted } from '../../../protocol/counted.ts';
import { bare } from '../syntax/inspect.ts';
import { replace } from './analysis/fixes.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { callName } from './analysis/names.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const isnullCutsPlaceholder: Rule = {
  name: 'isnull-cuts-placeholder',
  hazards: ['H12'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: "ISNULL's replacement does not fit the type of its first argument.",
  why: "ISNULL takes the first argument's type: a longer text is cut, so ISNULL of a char(1) shows '^^' as '^', and a text for a number fails at run time.",
  help: 'Convert the column first, and use COALESCE.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, Kind char(1) NULL);`,
      sql: `SELECT ISNULL(Kind, '^^') AS Kind FROM stg.Shop;`,
    },
    {
      ddl: `CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, Size int NULL);`,
      sql: `SELECT ISNULL(Size, '~') AS Size FROM stg.Shop;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, Kind char(1) NULL);`,
      sql: `SELECT COALESCE(CONVERT(varchar(2), Kind), '^^') AS Kind FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('call')) {
      if (callName(node) !== 'ISNULL' || node.arguments.length !== 2) continue;
      const [value, fallback] = node.arguments;
      const literal = fallback === undefined ? null : bare(fallback);
      if (value === undefined || literal?.kind !== 'literal') continue;
      if (literal.type !== 'string' && literal.type !== 'national') continue;
      const facts = factsOf(value, scope, context);
      if (facts === null) continue;
      const cut = facts.family === 'text' && facts.length !== null && facts.length < literal.value.length;
      const refused =
        ['integer', 'decimal', 'float'].includes(facts.family) &&
        literal.value.trim() !== '' &&
        !isNumber(literal.value);
      if (!cut && !refused) continue;
      const text = context.text(step, value);
      const size = Math.max(literal.value.length, facts.length ?? 40, refused ? 40 : 1);
      const better = `COALESCE(CONVERT(varchar(${size}), ${text}), ${context.text(step, literal)})`;
      context.report(step, node, {
        message: cut
          ? `'${literal.value}' does not fit ${text} of ${counted(facts.length, 'character')} and is cut.`
          : `'${literal.value}' is no number, so this fails as soon as ${text} is NULL.`,
        severity: refused ? 'error' : 'warning',
        fixes: [{ title: 'Use COALESCE over the converted value', safe: false, edits: [replace(node, better)] }],
      });
    }
  },
};

function isNumber(text: string): boolean {
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text);
}
