import { findAll } from '../syntax/inspect.ts';
import type { Binary, Expression } from '../syntax/tree.ts';
import { columnComparisons } from './analysis/comparisons.ts';
import { insertAt, nullSafeDifferent } from './analysis/fixes.ts';
import { writtenValues } from './analysis/insert-values.ts';
import { memo } from './analysis/memo.ts';
import { columnName, includes, plainColumn } from './analysis/names.ts';
import { isDigestRole } from './analysis/roles.ts';
import { indexIn, indicesWhere } from './analysis/selections.ts';
import { lastName, sameTable, setComparison, tableNamesOf } from './analysis/sides.ts';
import type { Body, Scope, Source, Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { closingSteps, closingsOf } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const trackedColumnIsNotCompared: Rule = {
  name: 'tracked-column-is-not-compared',
  hazards: ['C05'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'The test that closes versions leaves out an attribute that new versions get from the source.',
  why: 'When only this column changes, no new version is opened and the old value stays current.',
  help: 'Compare every attribute that the new version takes from the source.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.DimTier (MemberNo int NOT NULL, Tier int NOT NULL, City varchar(30) NOT NULL, ValidFrom datetime2(6) NOT NULL, ValidTo datetime2(6) NULL, IsCurrent bit NOT NULL, PRIMARY KEY (MemberNo, ValidFrom));
CREATE TABLE stg.Tier (MemberNo int NOT NULL PRIMARY KEY, Tier int NOT NULL, City varchar(30) NOT NULL);`,
      sql: `SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE t SET ValidTo = @now, IsCurrent = 0 FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);
INSERT INTO dw.DimTier (MemberNo, Tier, City, ValidFrom, IsCurrent) SELECT s.MemberNo, s.Tier, s.City, @now, 1 FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.IsCurrent = 1);
COMMIT TRANSACTION;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.DimTier (MemberNo int NOT NULL, Tier int NOT NULL, City varchar(30) NOT NULL, ValidFrom datetime2(6) NOT NULL, ValidTo datetime2(6) NULL, IsCurrent bit NOT NULL, PRIMARY KEY (MemberNo, ValidFrom));
CREATE TABLE stg.Tier (MemberNo int NOT NULL PRIMARY KEY, Tier int NOT NULL, City varchar(30) NOT NULL);`,
      sql: `SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE t SET ValidTo = @now, IsCurrent = 0 FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier, s.City EXCEPT SELECT t.Tier, t.City);
INSERT INTO dw.DimTier (MemberNo, Tier, City, ValidFrom, IsCurrent) SELECT s.MemberNo, s.Tier, s.City, @now, 1 FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.IsCurrent = 1);
COMMIT TRANSACTION;`,
    },
  ],
  body(body, context) {
    for (const step of closingSteps(body, context.tables)) {
      for (const { node, scope } of closingsOf(step, context.tables)) {
        if (node.kind !== 'update' || scope.target === null || node.where === null) continue;
        const tested = testedBy(step, context, scope, node.where);
        if (tested === null || tested.columns.length === 0) continue;
        const missing = insertedAttributes(body, step, scope.target, context).filter(
          (name) => !includes(tested.columns, name),
        );
        if (missing.length === 0) continue;
        const source = scope.sources.find((other) => other !== scope.target);
        const { last } = tested;
        context.report(step, last?.at ?? node.where, {
          message: `${missing.join(', ')} of ${sourceText(scope.target)} ${missing.length === 1 ? 'is' : 'are'} not compared, so a change there opens no version.`,
          fixes:
            last === null || source === undefined
              ? []
              : [
                  {
                    title: `Compare ${missing.join(', ')} too`,
                    safe: false,
                    edits: last.edits(missing, scope.target.alias, source.alias),
                  },
                ],
        });
      }
    }
  },
};

interface LastTest {
  readonly at: Expression;
  readonly edits: (names: readonly string[], target: string, source: string) => ReturnType<typeof insertAt>[];
}

/** The columns that a change test compares, and how to extend it; null when a digest decides. */
function testedBy(
  step: Step,
  context: RuleContext,
  scope: Scope,
  where: Expression,
): { readonly columns: readonly string[]; readonly last: LastTest | null } | null {
  const columns: string[] = [];
  let last: LastTest | null = null;
  for (const test of columnComparisons(step, context.tables, ['<>', '!='])) {
    if (test.node.start < where.start || test.node.end > where.end) continue;
    if (isDigestRole(context.tables.role(test.left, scope)) || isDigestRole(context.tables.role(test.right, scope)))
      return null;
    columns.push(columnName(test.left));
    const { node } = test;
    last = {
      at: node,
      edits: (names, target, source) => [
        insertAt(node.start, '('),
        insertAt(
          node.end,
          `${names.map((name) => ` OR ${nullSafeDifferent(context.platform, `${target}.${name}`, `${source}.${name}`)}`).join('')})`,
        ),
      ],
    };
  }
  for (const test of [...findAll(where, 'is-distinct'), ...findAll(where, 'binary').filter(isNullSafe)]) {
    const column = plainColumn(test.left);
    const other = plainColumn(test.right);
    if (column === null || other === null) continue;
    if (isDigestRole(context.tables.role(column, scope)) || isDigestRole(context.tables.role(other, scope)))
      return null;
    columns.push(columnName(column), columnName(other));
  }
  for (const test of findAll(where, 'exists')) {
    const sets = setComparison(test.query);
    if (sets === null || sets.operator !== 'EXCEPT') continue;
    const names = sets.left.map(plainColumn);
    if (names.some((column) => column === null || isDigestRole(context.tables.role(column, scope)))) return null;
    columns.push(...names.flatMap((column) => (column === null ? [] : [columnName(column)])));
    const [leftEnd, rightEnd] = [sets.left.at(-1)?.end, sets.right.at(-1)?.end];
    const leftReads = sets.left[0] === undefined ? null : plainColumn(sets.left[0]);
    const targetFirst = leftReads?.parts.at(-2)?.name.toLowerCase() === scope.target?.alias.toLowerCase();
    if (leftEnd === undefined || rightEnd === undefined) continue;
    last = {
      at: test,
      edits: (missing, target, source) => [
        insertAt(leftEnd, missing.map((name) => `, ${targetFirst ? target : source}.${name}`).join('')),
        insertAt(rightEnd, missing.map((name) => `, ${targetFirst ? source : target}.${name}`).join('')),
      ],
    };
  }
  return { columns, last };
}

function isNullSafe({ operator }: Binary): boolean {
  return operator === '<=>';
}

const insertingIndices = indicesWhere((step) => writtenValues(step).some(({ by }) => by === 'insert'));

/** Where INSERTs of a body give a column of a target a source column's value: indices of their steps, ascending. */
interface InsertedColumn {
  readonly column: string;
  readonly target: Source;
  readonly indices: number[];
}

/** By the written table's name without its schema. Collected once a body, so that not every closing walks over all inserts. */
const insertedColumns = memo((body: Body): ReadonlyMap<string, ReadonlyMap<string, InsertedColumn>> => {
  const found = new Map<string, Map<string, InsertedColumn>>();
  for (const index of insertingIndices(body)) {
    const step = body.steps[index];
    for (const { column, value, by, target } of step === undefined ? [] : writtenValues(step)) {
      if (by !== 'insert' || plainColumn(value) === null) continue;
      for (const name of tableNamesOf(target)) {
        const columns = found.get(lastName(name)) ?? new Map<string, InsertedColumn>();
        found.set(lastName(name), columns);
        const key = `${name} ${column.toLowerCase()}`;
        const known = columns.get(key);
        if (known === undefined) columns.set(key, { column, target, indices: [index] });
        else known.indices.push(index);
      }
    }
  }
  return found;
});

/** Attributes that a later INSERT into the same table takes from a source column of the same name. */
function insertedAttributes(body: Body, step: Step, target: Source, context: RuleContext): readonly string[] {
  const table = context.tables.tableOf(target);
  if (table === null) return [];
  const own = indexIn(body, step);
  const columns = [...tableNamesOf(target)].flatMap((name) => [
    ...(insertedColumns(body).get(lastName(name))?.values() ?? []),
  ]);
  const names = columns.flatMap(({ column, target: written, indices }) => {
    if ((indices.at(-1) ?? -1) <= own || !sameTable(written, target)) return [];
    const role = table.columns.find((candidate) => candidate.name.toLowerCase() === column.toLowerCase())?.role;
    return role === 'attribute' ? [column] : [];
  });
  return [...new Set(names)];
}
