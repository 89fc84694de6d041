import { bare } from '../syntax/inspect.ts';
import { replace } from './analysis/fixes.ts';
import { branchesOf, mergesOf } from './analysis/merges.ts';
import { columnName, roleByName } from './analysis/names.ts';
import { tombstoneOf, valueFor } from './analysis/tombstones.ts';
import { closingOf } from './analysis/versions.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const tombstoneLosesAttributes: Rule = {
  name: 'tombstone-loses-attributes',
  hazards: ['I06'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A row that says "deleted" is stored with NULL attributes.',
  why: 'Reports that read the latest row of a key lose its last known values.',
  help: 'Copy the last attributes, and change the flag and the dates only.',
  invalid: [
    {
      sql: `INSERT INTO dw.Item (ItemNo, Label, ValidFrom, IsDeleted)
SELECT t.ItemNo, NULL, @now, 1 FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  valid: [
    {
      sql: `INSERT INTO dw.Item (ItemNo, Label, ValidFrom, IsDeleted)
SELECT t.ItemNo, t.Label, @now, 1 FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  statement(step, context) {
    const tombstone = tombstoneOf(step, context);
    if (tombstone !== null) {
      tombstone.columns.forEach((column, index) => {
        const value = valueFor(tombstone, index);
        const literal = value === null ? null : bare(value);
        if (value === null || literal?.kind !== 'literal' || literal.type !== 'null' || isControl(column.name)) return;
        const copy = `${tombstone.detection.judged.alias}.${context.text(step, column)}`;
        context.report(step, value, {
          message: `The deleted row loses its ${column.name}.`,
          fixes: [{ title: `Copy ${copy}`, safe: false, edits: [replace(value, copy)] }],
        });
      });
    }
    for (const facts of mergesOf(step, context.tables)) {
      for (const branch of branchesOf(facts.merge, 'not-matched-by-source')) {
        if (branch.action?.kind !== 'merge-update') continue;
        if (closingOf(branch.action.assignments, facts.scope, context.tables) === null) continue;
        for (const { column, value } of branch.action.assignments) {
          const literal = bare(value);
          if (column === null || literal.kind !== 'literal' || literal.type !== 'null' || isControl(columnName(column)))
            continue;
          context.report(step, value, { message: `The deleted row loses its ${columnName(column)}.` });
        }
      }
    }
  },
};

/** Dates, flags and other columns that a load fills may well be NULL. */
function isControl(name: string): boolean {
  return roleByName(name) !== null || /date|time|_dt$|_at$|flag|ind$|user|_by$/i.test(name);
}
