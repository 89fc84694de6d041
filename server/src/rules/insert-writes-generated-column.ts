import { isSpark, isTsql } from '../../../protocol/platform.ts';
import { nameFits } from '../model/names.ts';
import { tableNameOf } from '../syntax/inspect.ts';
import type { Expression, Identifier, Insert, MergeInsert, NodeBase } from '../syntax/tree.ts';
import { removeItem } from './analysis/fixes.ts';
import { same } from './analysis/names.ts';
import { indexIn, indicesByTables, indicesOf, stepsAt } from './analysis/selections.ts';
import { type Body, type Source, type Step, selectsOf } from './analysis/steps.ts';
import { allPlatforms, type Edit, type Rule, type RuleContext } from './engine/rule.ts';

export const insertWritesGeneratedColumn: Rule = {
  name: 'insert-writes-generated-column',
  hazards: ['M14', 'D10'],
  platforms: allPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'An INSERT names an identity, computed, rowversion or period column.',
  why: 'The server refuses the statement (error 544 for an identity without IDENTITY_INSERT). A Synapse MERGE may not insert into a table with an identity at all.',
  help: 'Leave the column out of the list and let the table fill it.',
  judges: 'body',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Reason (Id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, Code char(4) NOT NULL);`,
      sql: `INSERT INTO dw.Reason (Id, Code) SELECT s.Id, s.Code FROM stg.Reason AS s;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Reason (Id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, Code char(4) NOT NULL);`,
      sql: `SET IDENTITY_INSERT dw.Reason ON;
INSERT INTO dw.Reason (Id, Code) SELECT s.Id, s.Code FROM stg.Reason AS s;
SET IDENTITY_INSERT dw.Reason OFF;`,
    },
  ],
  body(body, context) {
    for (const step of stepsAt(body, writingIndices(body, context.tables))) {
      for (const { node, scope } of step.find('insert')) {
        check(body, step, context, scope?.target ?? null, node.columns, (index) => insertEdits(node, index));
      }
      for (const { node, scope } of step.find('merge-insert')) {
        const target = scope?.target ?? null;
        const table = context.tables.tableOf(target);
        if (context.platform.name === 'synapse' && table?.columns.some((column) => column.identity)) {
          context.report(step, node, {
            message: 'On Synapse a MERGE may not insert into a table with an identity column.',
            hazards: ['M14'],
          });
          continue;
        }
        check(body, step, context, target, node.columns, (index) => mergeEdits(node, index));
      }
    }
  },
};

/** Steps that insert into a table with such a column. */
const writingIndices = indicesByTables((step, tables) =>
  [...step.find('insert'), ...step.find('merge-insert')].some(({ scope }) =>
    tables.tableOf(scope?.target ?? null)?.columns.some((column) => column.identity || column.computed),
  ),
);

function check(
  body: Body,
  step: Step,
  context: RuleContext,
  target: Source | null,
  columns: readonly Identifier[],
  edits: (index: number) => readonly Edit[],
): void {
  const table = context.tables.tableOf(target);
  if (table === null || target === null) return;
  columns.forEach((written, index) => {
    const column = table.columns.find((candidate) => same(candidate.name, written.name));
    if (column === undefined || !(column.identity || column.computed)) return;
    if (column.identity && isTsql(context.platform.name) && allowsIdentity(body, step, target)) return;
    if (!isTsql(context.platform.name) && !isAlwaysGenerated(target, column.name, context)) return;
    const removal = edits(index);
    context.report(step, written, {
      message: `${column.name} is ${column.identity ? 'an identity column' : 'generated'}, so INSERT may not name it.`,
      hazards: [isSpark(context.platform.name) ? 'D10' : 'M14'],
      fixes:
        removal.length === 0 ? [] : [{ title: `Leave ${column.name} out of the INSERT`, safe: true, edits: removal }],
    });
  });
}

function allowsIdentity(body: Body, step: Step, target: Source): boolean {
  const { node } = target;
  if (node.kind !== 'table') return false;
  const name = tableNameOf(node.name);
  let on = false;
  const own = indexIn(body, step);
  for (const index of indicesOf(body, 'set-option')) {
    const statement = body.steps[index]?.statement;
    if (index >= own) break;
    if (statement?.kind !== 'set-option' || !statement.names.includes('IDENTITY_INSERT')) continue;
    if (statement.table === null || nameFits(tableNameOf(statement.table), name)) on = statement.value === 'ON';
  }
  return on;
}

function isAlwaysGenerated(target: Source, column: string, context: RuleContext): boolean {
  const { node } = target;
  if (node.kind !== 'table') return false;
  const name = tableNameOf(node.name);
  return context.tables.objects.alwaysIdentities.some(
    (fact) => nameFits(name, fact.table) && same(fact.column, column),
  );
}

function insertEdits(insert: Insert, index: number): readonly Edit[] {
  if (insert.source.kind !== 'query') return [];
  const lists: (readonly NodeBase[])[] = [insert.columns];
  if (insert.source.body.kind === 'values') {
    for (const row of insert.source.body.rows) lists.push(row.items);
  } else {
    for (const select of selectsOf(insert.source)) lists.push(select.items);
  }
  return removeEverywhere(lists, index);
}

function mergeEdits(insert: MergeInsert, index: number): readonly Edit[] {
  return removeEverywhere([insert.columns, insert.values satisfies readonly Expression[]], index);
}

function removeEverywhere(lists: readonly (readonly NodeBase[])[], index: number): readonly Edit[] {
  const [first] = lists;
  if (first === undefined || lists.some((list) => list.length !== first.length)) return [];
  const edits = lists.map((list) => removeItem(list, index));
  return edits.every((edit) => edit !== null) ? edits : [];
}
