import type { Assignment } from '../syntax/tree.ts';
import { removeItem } from './analysis/fixes.ts';
import { columnName, same } from './analysis/names.ts';
import type { Scope, Source, Step } from './analysis/steps.ts';
import { type Rule, type RuleContext, tsqlPlatforms } from './engine/rule.ts';

export const setWritesGeneratedColumn: Rule = {
  name: 'set-writes-generated-column',
  hazards: ['M13'],
  platforms: tsqlPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'SET writes an identity, computed, period or distribution column.',
  why: 'The server refuses the statement (error 8102 for an identity). On Synapse, a MERGE that changes the distribution column can leave rows in the wrong distribution.',
  help: 'Leave the column out of SET.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Reason (Id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, Code char(4) NOT NULL, Label nvarchar(80) NULL);`,
      sql: `UPDATE t SET t.Id = s.Id, t.Label = s.Label
FROM dw.Reason AS t JOIN stg.Reason AS s ON s.Code = t.Code;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Reason (Id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, Code char(4) NOT NULL, Label nvarchar(80) NULL);`,
      sql: `UPDATE t SET t.Label = s.Label
FROM dw.Reason AS t JOIN stg.Reason AS s ON s.Code = t.Code;`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('update')) check(step, context, node.assignments, scope, false);
    for (const { node, scope } of step.find('merge-update')) check(step, context, node.assignments, scope, true);
  },
};

function check(
  step: Step,
  context: RuleContext,
  assignments: readonly Assignment[],
  scope: Scope | null,
  merge: boolean,
): void {
  const target = scope?.target ?? null;
  const table = context.tables.tableOf(target);
  if (target === null || table === null) return;
  assignments.forEach((assignment, index) => {
    const name = assignment.column === null ? null : columnName(assignment.column);
    const column = table.columns.find((candidate) => name !== null && same(candidate.name, name));
    if (column === undefined) return;
    const distributed = merge && isDistribution(target, context, column.name);
    if (!column.identity && !column.computed && !distributed) return;
    const what = column.identity
      ? 'an identity column'
      : column.computed
        ? 'a generated column'
        : 'the distribution column';
    const removal = removeItem(assignments, index);
    context.report(step, assignment, {
      message: `${column.name} is ${what}, so SET may not write it.`,
      severity: distributed && !column.identity && !column.computed ? 'warning' : 'error',
      fixes: removal === null ? [] : [{ title: `Leave ${column.name} out of SET`, safe: true, edits: [removal] }],
    });
  });
}

function isDistribution(target: Source, context: RuleContext, name: string): boolean {
  if (context.platform.name !== 'synapse') return false;
  const option = context.tables.tableOf(target)?.options['distribution'] ?? '';
  const columns = /hash\s*\(([^)]*)\)/i.exec(option)?.[1] ?? '';
  return columns.split(',').some((column) => same(column.replace(/[[\]\s]/g, ''), name));
}
