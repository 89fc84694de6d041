import type { Expression, Node } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { housesOf } from './analysis/house.ts';
import { writtenValues } from './analysis/insert-values.ts';
import { memo } from './analysis/memo.ts';
import { columnName, plainColumn, roleByName, same } from './analysis/names.ts';
import { indicesByTables, indicesWhere, stepsAt } from './analysis/selections.ts';
import { meet, sourceOfColumn, type TableNames, tablesIn } from './analysis/sides.ts';
import { ancestor, type Entry, type Step } from './analysis/steps.ts';
import { openEndOf } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const openEndIsMixed: Rule = {
  name: 'open-end-is-mixed',
  hazards: ['T07'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A test for open versions uses another open end than the rows have.',
  why: 'Rows whose end is 9999-12-31 are not found by IS NULL, and rows with NULL not by a date: their versions are never closed, or closed ones are opened twice.',
  help: 'Use one open end for a table, in its default, in INSERT and in every test.',
  invalid: [
    {
      sql: `INSERT INTO dw.DimTier (MemberNo, Tier, ValidFrom, ValidTo)
SELECT s.MemberNo, s.Tier, @now, '9999-12-31' FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.ValidTo IS NULL);`,
    },
    {
      ddl: `CREATE TABLE dw.DimTier (MemberNo int NOT NULL, Tier int NULL, ValidFrom datetime2(6) NOT NULL, ValidTo datetime2(6) NOT NULL);`,
      sql: `SELECT MemberNo FROM dw.DimTier AS t WHERE t.ValidTo IS NULL;`,
    },
  ],
  valid: [
    {
      sql: `INSERT INTO dw.DimTier (MemberNo, Tier, ValidFrom, ValidTo)
SELECT s.MemberNo, s.Tier, @now, '9999-12-31' FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.ValidTo = '9999-12-31');`,
    },
  ],
  body(body, context) {
    const written = stepsAt(body, endingIndices(body)).flatMap(endsOf);
    for (const step of stepsAt(body, testingIndices(body, context.tables))) {
      for (const entry of step.find('is-null')) {
        const column = plainColumn(entry.node.operand);
        if (column === null || entry.node.not || context.tables.role(column, entry.scope) !== 'effective-end') continue;
        const source = sourceOfColumn(column, entry.scope, context.tables);
        // Behind an outer join the test asks for a missing row.
        if (source === null || source.optional || orsWithDate(entry.parent?.node) || comparesNull(entry)) continue;
        if (housesOf(step, context).some((options) => options.open_end === null)) continue;
        const table = context.tables.tableOf(source);
        const known = table?.columns.find((candidate) => same(candidate.name, columnName(column)));
        const open = written.find(
          (item) => meet(item.tables, tablesIn(source.node)) && same(item.column, columnName(column)),
        );
        const never = known !== undefined && !known.nullable;
        if (!never && open?.kind !== 'date') continue;
        const text = open === undefined ? null : context.text(open.step, open.value);
        const value = open?.kind === 'date' ? text : (known?.default ?? null);
        context.report(step, entry.node, {
          message: never
            ? `${columnName(column)} is NOT NULL, so this finds no open version.`
            : `New versions get ${text} as their end, so this does not find them.`,
          fixes:
            value === null
              ? []
              : [
                  {
                    title: `Test for ${value}`,
                    safe: false,
                    edits: [replace(entry.node, `${context.text(step, column)} = ${value}`)],
                  },
                ],
        });
      }
    }
    if (written.length > 0) for (const step of stepsAt(body, datingIndices(body))) testsDate(step, context, written);
  },
};

interface WrittenEnd {
  readonly tables: TableNames;
  readonly column: string;
  readonly kind: 'null' | 'date';
  readonly step: Step;
  readonly value: Expression;
}

/** The open ends that a step's INSERT writes; `writtenValues` also gives what SET writes, which closes versions. */
const endsOf = memo((step: Step): readonly WrittenEnd[] =>
  writtenValues(step).flatMap(({ column, value, target, by }) => {
    const kind = by === 'insert' ? openEndOf(value) : null;
    if (kind === null || roleByName(column) !== 'effective-end') return [];
    return [{ tables: tablesIn(target.node), column, kind, step, value }];
  }),
);

const endingIndices = indicesWhere((step) => endsOf(step).length > 0);

/** Steps that test whether the end of a version is NULL. */
const testingIndices = indicesByTables((step, tables) =>
  step.find('is-null').some(({ node, scope }) => {
    const column = plainColumn(node.operand);
    return column !== null && !node.not && tables.role(column, scope) === 'effective-end';
  }),
);

/** Steps that compare with a date far in the future. */
const datingIndices = indicesWhere((step) => step.find('binary').some(({ node }) => openEndOf(node.right) === 'date'));

/** `ValidTo = '9999-12-31'` over rows whose open end is NULL. */
function testsDate(step: Step, context: RuleContext, written: readonly WrittenEnd[]): void {
  for (const entry of step.find('binary')) {
    const { node, scope, parent } = entry;
    if (node.operator !== '=' || ancestor(entry, 'assignment') !== null) continue;
    const column = plainColumn(node.left);
    if (
      column === null ||
      openEndOf(node.right) !== 'date' ||
      (parent?.node.kind === 'binary' && parent.node.operator === 'OR')
    )
      continue;
    if (context.tables.role(column, scope) !== 'effective-end') continue;
    const source = sourceOfColumn(column, scope, context.tables);
    const own = written.filter(
      (item) => source !== null && meet(item.tables, tablesIn(source.node)) && same(item.column, columnName(column)),
    );
    if (own.length === 0 || own.some((item) => item.kind === 'date')) continue;
    context.report(step, node, {
      message: 'New versions get NULL as their end, so this does not find them.',
      fixes: [{ title: 'Test for NULL', safe: false, edits: [replace(node, `${context.text(step, column)} IS NULL`)] }],
    });
  }
}

/** `a IS NULL AND b IS NULL` compares two values. */
function comparesNull(entry: Entry<'is-null'>): boolean {
  const around = entry.parent?.node;
  if (around?.kind !== 'binary' || around.operator !== 'AND') return false;
  return around.left.kind === 'is-null' && around.right.kind === 'is-null';
}

function orsWithDate(node: Node | undefined): boolean {
  return node?.kind === 'binary' && node.operator === 'OR';
}
