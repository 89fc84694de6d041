import { bare } from '../syntax/inspect.ts';
import { addToCondition } from './analysis/fixes.ts';
import { columnName } from './analysis/names.ts';
import { columnsIn, sourceOfColumn } from './analysis/sides.ts';
import { conjuncts } from './analysis/steps.ts';
import { type Tombstone, tombstoneOf, valueFor } from './analysis/tombstones.ts';
import { currentTest } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const tombstoneRepeatsEveryRun: Rule = {
  name: 'tombstone-repeats-every-run',
  hazards: ['I04'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A row that says "deleted" is written for every stored row of an absent key.',
  why: 'Old versions and tombstones of earlier runs are absent from the stage too, so each run adds another tombstone for each of them.',
  help: 'Write one only where the latest row of the key is active.',
  invalid: [
    {
      sql: `INSERT INTO dw.Item (ItemNo, Label, ValidFrom, IsDeleted)
SELECT t.ItemNo, t.Label, @now, 1 FROM dw.Item AS t
WHERE NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  valid: [
    {
      sql: `INSERT INTO dw.Item (ItemNo, Label, ValidFrom, IsDeleted)
SELECT t.ItemNo, t.Label, @now, 1 FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND t.IsDeleted = 0 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  statement(step, context) {
    const tombstone = tombstoneOf(step, context);
    if (tombstone === null || picksActive(tombstone, context)) return;
    const { where } = tombstone.select;
    const flag = deletedFlag(tombstone);
    const test = flag === null ? null : `${tombstone.detection.judged.alias}.${flag.name} = ${flag.active}`;
    context.report(step, tombstone.detection.at, {
      message: 'This also finds old versions and earlier tombstones, so every run writes them again.',
      fixes:
        test === null || where === null
          ? []
          : [{ title: `Add AND ${test}`, safe: false, edits: addToCondition(where, test) }],
    });
  },
};

/** Something besides the absence test reads the judged table's state. */
function picksActive({ detection, select, scope }: Tombstone, context: RuleContext): boolean {
  if (select.from.some((source) => source.kind === 'derived-table') || detection.judged.common !== null) return true;
  return conjuncts(select.where).some((test) => {
    if (currentTest(test, scope, context.tables) !== null) return true;
    if (test.start <= detection.at.start && test.end >= detection.at.end) return false;
    return columnsIn(test).some((column) => {
      const role = context.tables.role(column, scope);
      const own = sourceOfColumn(column, scope, context.tables) === detection.judged;
      return (
        own &&
        ((role !== null && role !== 'attribute' && role !== 'business-key') ||
          /delet|inactiv|status/i.test(columnName(column)))
      );
    });
  });
}

function deletedFlag(tombstone: Tombstone): { readonly name: string; readonly active: string } | null {
  for (const [index, column] of tombstone.columns.entries()) {
    const value = valueFor(tombstone, index);
    const literal = value === null ? null : bare(value);
    if (!/delet|inactiv|remov/i.test(column.name) || literal?.kind !== 'literal') continue;
    if (literal.value === '1') return { name: column.name, active: '0' };
    if (/^y$/i.test(literal.value)) return { name: column.name, active: "'N'" };
    if (/^true$/i.test(literal.value)) return { name: column.name, active: 'false' };
  }
  return null;
}
