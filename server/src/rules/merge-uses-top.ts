import { type Rule, serverPlatforms } from './engine/rule.ts';

export const mergeUsesTop: Rule = {
  name: 'merge-uses-top',
  hazards: ['M17'],
  platforms: serverPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A MERGE is limited by TOP.',
  why: 'The server picks the rows and actions in no order, so a loop may see the same rows again and never end, and a run leaves the target half loaded.',
  help: 'Cut the source into batches by key ranges instead.',
  judges: 'part',
  invalid: [
    {
      sql: `MERGE TOP (1000) dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT (UnitNo) VALUES (s.UnitNo);`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t
USING (SELECT UnitNo FROM stg.Unit WHERE UnitNo BETWEEN @from AND @to) AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT (UnitNo) VALUES (s.UnitNo);`,
    },
  ],
  statement(step, context) {
    for (const { node } of step.find('merge')) {
      if (node.top === null) continue;
      const start = node.top.start;
      context.report(step, node.top, {
        message: 'TOP makes this MERGE change rows in no particular order.',
        fixes: [
          {
            title: 'Remove TOP',
            safe: false,
            edits: [{ start, end: node.target.start, text: '' }],
          },
        ],
      });
    }
  },
};
