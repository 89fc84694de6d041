import { bare } from '../syntax/inspect.ts';
import type { Select } from '../syntax/tree.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { selectsOf } from './analysis/steps.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const nullMergeKeyInsertsUnchanged: Rule = {
  name: 'null-merge-key-inserts-unchanged',
  hazards: ['D11'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'none',
  summary: 'The rows that a MERGE source gives a NULL key are not limited to changed ones.',
  why: 'A NULL key never matches, so every source row is inserted as a new version on every run.',
  help: 'Join the SELECT with the NULL key to the current versions and keep only rows that differ.',
  invalid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.customer AS t
USING (SELECT s.customer_no AS merge_key, s.* FROM stage.customer AS s
       UNION ALL SELECT NULL AS merge_key, s.* FROM stage.customer AS s) AS u
ON t.customer_no = u.merge_key AND t.is_current = true
WHEN MATCHED AND NOT (t.row_hash <=> u.row_hash) THEN UPDATE SET is_current = false, valid_to = u.loaded_at
WHEN NOT MATCHED THEN INSERT (customer_no, row_hash, valid_from, is_current) VALUES (u.customer_no, u.row_hash, u.loaded_at, true);`,
    },
  ],
  valid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.customer AS t
USING (SELECT s.customer_no AS merge_key, s.* FROM stage.customer AS s
       UNION ALL SELECT NULL AS merge_key, s.* FROM stage.customer AS s JOIN gold.customer AS c ON c.customer_no = s.customer_no
       WHERE c.is_current = true AND NOT (c.row_hash <=> s.row_hash)) AS u
ON t.customer_no = u.merge_key AND t.is_current = true
WHEN MATCHED AND NOT (t.row_hash <=> u.row_hash) THEN UPDATE SET is_current = false, valid_to = u.loaded_at
WHEN NOT MATCHED THEN INSERT (customer_no, row_hash, valid_from, is_current) VALUES (u.customer_no, u.row_hash, u.loaded_at, true);`,
    },
  ],
  statement(step, context) {
    for (const { merge, sources } of mergesOf(step, context.tables)) {
      if (branchesOf(merge, 'not-matched').length === 0) continue;
      for (const source of sources) {
        const query = source.common?.query ?? (source.node.kind === 'derived-table' ? source.node.query : null);
        const selects = query === null ? [] : selectsOf(query);
        if (selects.length < 2) continue;
        const open = selects.find((select) => hasNullKey(select) && select.where === null && isSingle(select));
        if (open === undefined) continue;
        context.report(step, source.common === null ? open : source.node, {
          message: 'This gives every row a NULL key, changed or not, so all of them are inserted again.',
        });
      }
    }
  },
};

/** The first item is NULL: the key column of the union. */
function hasNullKey(select: Select): boolean {
  const first = select.items[0] === undefined ? null : bare(select.items[0].expression);
  return (
    (first?.kind === 'literal' && first.type === 'null') ||
    (first?.kind === 'cast' && bare(first.operand).kind === 'literal')
  );
}

/** A plain table; a join or a query may choose the changed rows. */
function isSingle(select: Select): boolean {
  return (
    select.from.length === 1 &&
    select.from[0]?.kind === 'table' &&
    !/chang|delta|diff|new/i.test(select.from[0].name.parts.at(-1)?.name ?? '')
  );
}
