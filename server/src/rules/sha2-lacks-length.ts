import { insertAt } from './analysis/fixes.ts';
import { callName } from './analysis/names.ts';
import { type Rule, sparkPlatforms } from './engine/rule.ts';

export const sha2LacksLength: Rule = {
  name: 'sha2-lacks-length',
  hazards: ['H17'],
  platforms: sparkPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'sha2 is called without the number of bits.',
  why: 'Spark refuses the call; code that was moved from another engine often lacks the second argument.',
  help: 'Write sha2(text, 256), which gives lower-case hexadecimal text over UTF-8.',
  judges: 'part',
  invalid: [
    {
      platform: 'spark',
      sql: `SELECT sha2(concat_ws('||', coalesce(city, '^^'), coalesce(zip, '^^'))) AS hash_diff FROM stage.shop;`,
    },
  ],
  valid: [
    {
      platform: 'spark',
      sql: `SELECT sha2(concat_ws('||', coalesce(city, '^^'), coalesce(zip, '^^')), 256) AS hash_diff FROM stage.shop;`,
    },
  ],
  statement(step, context) {
    for (const { node } of step.find('call')) {
      const [only] = node.arguments;
      if (callName(node) !== 'SHA2' || node.arguments.length !== 1 || only === undefined) continue;
      context.report(step, node, {
        message: 'sha2 needs the number of bits as its second argument.',
        fixes: [{ title: 'Add 256', safe: true, edits: [insertAt(only.end, ', 256')] }],
      });
    }
  },
};
