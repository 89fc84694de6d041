import { lastPart } from '../syntax/inspect.ts';
import { insertAt } from './analysis/fixes.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { stepsOf, stepsWith } from './analysis/selections.ts';
import { type Rule, serverPlatforms } from './engine/rule.ts';

const rangeLocks = ['HOLDLOCK', 'SERIALIZABLE', 'TABLOCKX', 'XLOCK'];

export const mergeLacksHoldlock: Rule = {
  name: 'merge-lacks-holdlock',
  hazards: ['M02'],
  platforms: serverPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: 'A MERGE that inserts takes no range lock on its target.',
  why: 'Two sessions that load the same new key at once both find it missing: one fails on the unique key, or both insert it where there is none.',
  help: 'Add WITH (HOLDLOCK) behind the target, before its alias, unless only one session ever writes the table.',
  judges: 'body',
  invalid: [
    {
      sql: `MERGE dw.Account AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo) VALUES (s.AccountNo);`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Account WITH (HOLDLOCK) AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo) VALUES (s.AccountNo);`,
    },
    {
      sql: `MERGE #account AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo) VALUES (s.AccountNo);`,
    },
  ],
  body(body, context) {
    const locked = stepsOf(body, 'execute', 'set-option').some(
      ({ statement }) =>
        (statement.kind === 'execute' &&
          statement.procedure?.kind === 'name' &&
          lastPart(statement.procedure).name.toLowerCase() === 'sp_getapplock') ||
        (statement.kind === 'set-option' &&
          statement.names.includes('TRANSACTION ISOLATION LEVEL') &&
          /SERIALIZABLE/i.test(statement.value)),
    );
    if (locked) return;
    for (const step of stepsWith(body, 'merge')) {
      for (const { merge, target } of mergesOf(step, context.tables)) {
        const { node } = target;
        if (node.kind !== 'table' || branchesOf(merge, 'not-matched').length === 0) continue;
        if (lastPart(node.name).name.startsWith('#') || target.common !== null) continue;
        if (node.hints.some((hint) => rangeLocks.includes(hint.name))) continue;
        const [hint] = node.hints;
        context.report(step, node.name, {
          message: `The MERGE into ${context.text(step, node.name)} holds no range lock between looking for a key and inserting it.`,
          fixes: [
            {
              title: 'Add HOLDLOCK',
              safe: false,
              edits: [
                hint === undefined ? insertAt(node.name.end, ' WITH (HOLDLOCK)') : insertAt(hint.start, 'HOLDLOCK, '),
              ],
            },
          ],
        });
      }
    }
  },
};
