import type { Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { equatedSides } from './analysis/merges.ts';
import { columnName, includes, plainColumn } from './analysis/names.ts';
import { coversKey } from './analysis/relations.ts';
import { indicesWith } from './analysis/selections.ts';
import { columnsIn, joinConditions, meet, originsOf, sourceOfColumn } from './analysis/sides.ts';
import { conjuncts, type Scope, type Source, type Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { isProvedUnique } from './analysis/unique-guards.ts';
import type { FindingFix, Rule, RuleContext } from './engine/rule.ts';

export const updateMayPickAnyRow: Rule = {
  name: 'update-may-pick-any-row',
  hazards: ['P13'],
  platforms: ['sqlserver', 'azuresql', 'fabric', 'duckdb'],
  severity: 'warning',
  fix: 'unsafe',
  summary: 'UPDATE … FROM joins a source that may have several rows of a key.',
  why: 'The server takes the values of an arbitrary one and raises no error.',
  help: 'Keep one row of each key in the source first, or stop the load where a key is repeated.',
  invalid: [
    {
      ddl: `CREATE TABLE stg.PersonFeed (PersonNo int NOT NULL, Phone varchar(30) NOT NULL, LoadedAt datetime2(6) NOT NULL, PRIMARY KEY (PersonNo, LoadedAt));`,
      sql: `UPDATE t SET Phone = s.Phone FROM dw.Person AS t JOIN stg.PersonFeed AS s ON s.PersonNo = t.PersonNo;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, Phone varchar(30) NOT NULL);`,
      sql: `UPDATE t SET Phone = s.Phone FROM dw.Person AS t JOIN stg.Person AS s ON s.PersonNo = t.PersonNo;`,
    },
    {
      sql: `DECLARE @Repeated int = (SELECT COUNT(*) FROM (SELECT PersonNo FROM stg.PersonFeed GROUP BY PersonNo HAVING COUNT(*) > 1) AS r);
IF @Repeated > 0
  THROW 50010, N'stg.PersonFeed repeats persons', 1;
UPDATE t SET Phone = s.Phone FROM dw.Person AS t JOIN stg.PersonFeed AS s ON s.PersonNo = t.PersonNo;`,
    },
  ],
  body(body, context) {
    for (const index of indicesWith(body, 'update')) {
      const step = body.steps[index];
      for (const { node, scope } of step?.find('update') ?? []) {
        const target = scope?.target;
        if (step === undefined || scope === null || target == null) continue;
        const conditions = [...conjuncts(node.where), ...node.from.flatMap(joinConditions)];
        const values = node.assignments.map(({ value }) => value);
        for (const source of scope.sources) {
          if (source === target || !givesValues(values, source, scope, context)) continue;
          const columns = equated(conditions, source, scope, context);
          if (!isProvedUnique(body, index, source, columns, context.tables)) check(step, context, source, columns);
        }
      }
    }
  },
};

/** Values of the source are set; else any of its rows is as good as another, unless it only decides. */
function givesValues(values: readonly Expression[], source: Source, scope: Scope, context: RuleContext): boolean {
  const used = values.flatMap((value) => columnsIn(value));
  if (used.length === 0) return true;
  return used.some((column) => sourceOfColumn(column, scope, context.tables) === source);
}

function equated(
  conditions: readonly Expression[],
  source: Source,
  scope: Scope,
  context: RuleContext,
): readonly string[] {
  return conditions.flatMap((condition) => {
    const sides = equatedSides(condition);
    if (sides === null) return [];
    return [sides.left, sides.right].flatMap((side) => {
      const column = plainColumn(side);
      return column !== null && sourceOfColumn(column, scope, context.tables) === source ? [columnName(column)] : [];
    });
  });
}

function check(step: Step, context: RuleContext, source: Source, columns: readonly string[]): void {
  if (columns.length === 0) return;
  const relation = context.tables.relation(source);
  if (coversKey(relation?.keys ?? null, columns) !== null) return;
  const wider = (relation?.keys ?? []).find(
    (key) => key.columns.length > columns.length && columns.every((name) => includes(key.columns, name)),
  );
  // A source that reads the target was made for this update, row by row.
  if ((wider === undefined || wider.byDistinct === true) && readsTarget(step, source, context)) return;
  context.report(step, source.node, {
    message:
      wider === undefined
        ? `Nothing shows that ${sourceText(source)} holds each ${columns.join(' + ')} only once; of several rows an arbitrary one is taken.`
        : `${sourceText(source)} has a row for each ${wider.columns.join(' + ')}, and an arbitrary one of each ${columns.join(' + ')} is taken.`,
    severity: wider === undefined || wider.byDistinct === true ? 'info' : 'warning',
    fixes: wider === undefined ? [] : numbered(step, context, source, columns, wider.columns),
  });
}

function numbered(
  step: Step,
  context: RuleContext,
  source: Source,
  columns: readonly string[],
  key: readonly string[],
): readonly FindingFix[] {
  const { node } = source;
  const order = key.filter((name) => !includes(columns, name)).map((name) => `${name} DESC`);
  if (node.kind !== 'table' || source.common !== null || order.length === 0) return [];
  const text = `(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY ${columns.join(', ')} ORDER BY ${order.join(', ')}) AS rn FROM ${context.text(step, node.name)}) AS numbered WHERE rn = 1) AS ${source.alias}`;
  return [{ title: `Keep the last row of each ${columns.join(' + ')}`, safe: false, edits: [replace(node, text)] }];
}

function readsTarget(step: Step, source: Source, context: RuleContext): boolean {
  const target = step.find('update')[0]?.scope?.target;
  const own = target == null ? new Set<string>() : originsOf(target, context.tables);
  return meet(originsOf(source, context.tables), own);
}
