import { bare } from '../syntax/inspect.ts';
import { replace } from './analysis/fixes.ts';
import { castsIn, factsOf, peeled } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const hashNumberLosesDigits: Rule = {
  name: 'hash-number-loses-digits',
  hazards: ['H08'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A float or money value goes into a hash as text without a style.',
  why: 'A float keeps six digits and money two decimals in the text, so changes behind them are not seen.',
  help: 'Convert float with style 3, and cast money to decimal(19, 4) first.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Sale (SaleNo int NOT NULL PRIMARY KEY, Paid money NOT NULL, Score float NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(SaleNo, '||', Paid, '||', CAST(Score AS varchar(40))))) AS HashDiff FROM stg.Sale;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Sale (SaleNo int NOT NULL PRIMARY KEY, Paid money NOT NULL, Score float NOT NULL);`,
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(SaleNo, '||', CAST(Paid AS decimal(19, 4)), '||', CONVERT(varchar(40), Score, 3)))) AS HashDiff FROM stg.Sale;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      for (const { expression } of hash.parts) {
        const column = peeled(expression);
        const facts = factsOf(column, hash.scope, context);
        const float = facts?.family === 'float';
        const money = facts?.base === 'money' || facts?.base === 'smallmoney';
        if (!float && !money) continue;
        const casts = castsIn(expression);
        const nearest = casts.find((cast) => bare(cast.operand) === column);
        if (nearest !== undefined && (nearest.style !== null || !/^n?(var)?char/.test(nearest.type.text))) continue;
        if (nearest === undefined && hash.joining === 'single') continue;
        const at = nearest ?? column;
        const text = context.text(step, column);
        const better = float
          ? `CONVERT(varchar(40), ${text}, 3)`
          : `CAST(CAST(${text} AS decimal(19, 4)) AS varchar(30))`;
        context.report(step, at, {
          message: float
            ? `${text} is a float: only six digits of it go into the hash.`
            : `${text} is money: only two of its four decimals go into the hash.`,
          fixes: [{ title: 'Keep all digits', safe: false, edits: [replace(at, better)] }],
        });
      }
    }
  },
};
