import type { TableHint } from '../syntax/tree.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import type { Edit } from './engine/rule.ts';
import { type Rule, serverPlatforms } from './engine/rule.ts';

export const mergeTargetHintIsRefused: Rule = {
  name: 'merge-target-hint-is-refused',
  hazards: ['M24'],
  platforms: serverPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'The target of a MERGE bears NOLOCK, READUNCOMMITTED or READPAST.',
  why: 'The server refuses NOLOCK and READUNCOMMITTED on a table that is written; READPAST skips locked rows, whose keys are then inserted a second time.',
  help: 'Remove the hint.',
  judges: 'part',
  invalid: [
    {
      sql: `MERGE dw.Unit WITH (NOLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND s.Gone = 1 THEN DELETE;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND s.Gone = 1 THEN DELETE;`,
    },
  ],
  statement(step, context) {
    for (const { merge, target } of mergesOf(step, context.tables)) {
      if (target.node.kind !== 'table') continue;
      for (const hint of target.node.hints) {
        const refused = ['NOLOCK', 'READUNCOMMITTED'].includes(hint.name);
        const skips = hint.name === 'READPAST' && branchesOf(merge, 'not-matched').length > 0;
        if (!refused && !skips) continue;
        context.report(step, hint, {
          message: refused
            ? `${hint.name} is not allowed on the target of a MERGE.`
            : 'READPAST hides locked rows, so their keys are inserted again.',
          severity: refused ? 'error' : 'warning',
          fixes: [
            {
              title: `Remove ${hint.name}`,
              safe: true,
              edits: [hintRemoval(target.node.hints, hint, (start, end) => context.slice(step, start, end))],
            },
          ],
        });
      }
    }
  },
};

/** Takes a hint out of `WITH (…)`, together with the clause when it was the only one. */
export function hintRemoval(
  hints: readonly TableHint[],
  hint: TableHint,
  slice: (start: number, end: number) => string,
): Edit {
  const index = hints.indexOf(hint);
  const before = hints[index - 1];
  const after = hints[index + 1];
  if (before !== undefined) return { start: before.end, end: hint.end, text: '' };
  if (after !== undefined) return { start: hint.start, end: after.start, text: '' };
  const head = /\s*(?:WITH\s*)?\(\s*$/i.exec(slice(hint.start - 200, hint.start))?.[0] ?? '';
  const tail = /^\s*\)/.exec(slice(hint.end, hint.end + 200))?.[0] ?? '';
  return { start: hint.start - head.length, end: hint.end + tail.length, text: '' };
}
