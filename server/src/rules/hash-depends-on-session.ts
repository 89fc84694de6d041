import { bare } from '../syntax/inspect.ts';
import { replace } from './analysis/fixes.ts';
import { hashAround } from './analysis/hash-parts.ts';
import { callName } from './analysis/names.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

const languageStyles = ['0', '100', '6', '106', '7', '107', '9', '109', '13', '113', '130'];

export const hashDependsOnSession: Rule = {
  name: 'hash-depends-on-session',
  hazards: ['H19'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A value goes into a hash in a form that depends on the language of the session.',
  why: 'The same row gives another hash in another session, so every row counts as changed.',
  help: 'Convert with a fixed style: 126 for dates and times.',
  judges: 'part',
  invalid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(City, '||', CONVERT(varchar(30), Opened, 109)))) AS HashDiff FROM stg.Shop;`,
    },
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(City, '||', DATENAME(month, Opened)))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  valid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(City, '||', CONVERT(varchar(33), Opened, 126)))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    for (const entry of step.find('cast')) {
      const { node } = entry;
      const style = node.style === null ? null : bare(node.style);
      if (style?.kind !== 'literal' || !languageStyles.includes(style.value)) continue;
      if (!/^n?(var)?char/.test(node.type.text) || hashAround(entry, step) === null) continue;
      context.report(step, node, {
        message: `Style ${style.value} names months in the language of the session.`,
        fixes: [
          {
            title: 'Convert with style 126',
            safe: false,
            edits: [replace(node, `CONVERT(varchar(33), ${context.text(step, node.operand)}, 126)`)],
          },
        ],
      });
    }
    for (const entry of step.find('call')) {
      const name = callName(entry.node);
      const local = name === 'DATENAME' || (name === 'FORMAT' && entry.node.arguments.length === 2);
      if (!local || hashAround(entry, step) === null) continue;
      const value = entry.node.arguments[name === 'DATENAME' ? 1 : 0];
      context.report(step, entry.node, {
        message: `${name} gives a text in the language of the session.`,
        fixes:
          value === undefined
            ? []
            : [
                {
                  title: 'Convert with style 126',
                  safe: false,
                  edits: [replace(entry.node, `CONVERT(varchar(33), ${context.text(step, value)}, 126)`)],
                },
              ],
      });
    }
  },
};
