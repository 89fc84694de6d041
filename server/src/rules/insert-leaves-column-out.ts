import { isSpark } from '../../../protocol/platform.ts';
import type { Identifier } from '../syntax/tree.ts';
import { insertAt } from './analysis/fixes.ts';
import { lists, same } from './analysis/names.ts';
import { isTechnicalRole } from './analysis/roles.ts';
import { type Scope, type Source, type Step, selectsOf } from './analysis/steps.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const insertLeavesColumnOut: Rule = {
  name: 'insert-leaves-column-out',
  hazards: ['C05'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'An INSERT leaves out a column that the table requires or that the source delivers.',
  why: 'Without a value for a NOT NULL column the statement fails (error 515); a delivered attribute that is left out stays NULL.',
  help: 'Add the column to both lists.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NOT NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NOT NULL);`,
      sql: `INSERT INTO dw.Unit (UnitNo) SELECT s.UnitNo FROM stg.Unit AS s;`,
    },
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL, Size int NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL, Size int NULL);`,
      sql: `INSERT INTO dw.Unit (UnitNo, Label) SELECT s.UnitNo, s.Label FROM stg.Unit AS s;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NOT NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NOT NULL);`,
      sql: `INSERT INTO dw.Unit (UnitNo, Label) SELECT s.UnitNo, s.Label FROM stg.Unit AS s;`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('insert')) {
      if (node.columns.length === 0 || node.source.kind !== 'query' || node.byName) continue;
      const selects = selectsOf(node.source);
      const [only] = selects;
      const inside = only === undefined ? null : (step.entry(only)?.scope ?? null);
      check(step, context, scope?.target ?? null, node.columns, inside, (name, alias) =>
        selects.length === 1 && only !== undefined && node.columns.length === only.items.length
          ? [
              insertAt(node.columns.at(-1)?.end ?? 0, `, ${name}`),
              insertAt(only.items.at(-1)?.end ?? 0, `, ${alias}.${name}`),
            ]
          : [],
      );
    }
    for (const { node, scope } of step.find('merge-insert')) {
      if (node.columns.length === 0) continue;
      check(step, context, scope?.target ?? null, node.columns, scope, (name, alias) => [
        insertAt(node.columns.at(-1)?.end ?? 0, `, ${name}`),
        insertAt(node.values.at(-1)?.end ?? 0, `, ${alias}.${name}`),
      ]);
    }
  },
};

function check(
  step: Step,
  context: RuleContext,
  target: Source | null,
  columns: readonly Identifier[],
  scope: Scope | null,
  edits: (name: string, alias: string) => FindingFix['edits'],
): void {
  const table = context.tables.tableOf(target);
  const last = columns.at(-1);
  if (table === null || last === undefined) return;
  for (const column of table.columns) {
    if (lists(columns, column.name) || column.identity || column.computed) continue;
    const giver = (scope?.sources ?? []).find(
      (source) =>
        source !== target &&
        context.tables.relation(source)?.columns?.some((candidate) => same(candidate.name, column.name)),
    );
    const required = !column.nullable && column.default === null;
    const delivered = giver !== undefined && !isTechnicalRole(column.role) && context.tables.tableOf(giver) !== table;
    if (!required && !(delivered && column.role === 'attribute')) continue;
    const list = giver === undefined ? [] : edits(column.name, giver.alias);
    context.report(step, last, {
      message: required
        ? `${column.name} is NOT NULL without a default, and this INSERT leaves it out.`
        : `${column.name} is delivered by the source, and this INSERT leaves it out.`,
      severity: required && !isSpark(context.platform.name) ? 'error' : 'warning',
      hazards: required ? [] : ['C05'],
      fixes: list.length === 0 ? [] : [{ title: `Insert ${column.name} too`, safe: false, edits: list }],
    });
  }
}
