import type { Rule } from './engine/rule.ts';

export const synapseUpdateJoins: Rule = {
  name: 'synapse-update-joins',
  hazards: ['P14'],
  platforms: ['synapse'],
  severity: 'info',
  fix: 'none',
  summary: 'UPDATE or DELETE on Synapse uses an explicit JOIN.',
  why: 'Older dedicated pools refuse it with error 104058; newer ones accept it.',
  help: 'Join in the WHERE clause, or make a new table with CTAS and rename it.',
  invalid: [
    {
      platform: 'synapse',
      sql: `UPDATE t SET Label = s.Label FROM dw.Unit AS t JOIN stg.Unit AS s ON s.UnitNo = t.UnitNo;`,
    },
  ],
  valid: [
    {
      platform: 'synapse',
      sql: `UPDATE dw.Unit SET Label = s.Label FROM stg.Unit AS s WHERE s.UnitNo = dw.Unit.UnitNo;`,
    },
  ],
  statement(step, context) {
    for (const { node } of [...step.find('update'), ...step.find('delete')]) {
      const join = node.from.find((source) => source.kind === 'join');
      if (join === undefined) continue;
      context.report(step, join, { message: 'Older Synapse pools refuse a JOIN in UPDATE and DELETE.' });
    }
  },
};
