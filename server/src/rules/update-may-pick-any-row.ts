import type { Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { equatedSides } from './analysis/merges.ts';
import { columnName, includes, plainColumn } from './analysis/names.ts';
import { coversKey } from './analysis/relations.ts';
import { indicesByTables } from './analysis/selections.ts';
import { columnsIn, joinConditions, meet, originsOf, sourceOfColumn } from './analysis/sides.ts';
import { conjuncts, type Scope, type Source, type Step } from './analysis/steps.ts';
import { sourceText, type Tables } from './analysis/tables.ts';
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
  judges: 'body',
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
    for (const index of doubtfulUpdates(body, context.tables)) {
      const step = body.steps[index];
      if (step === undefined) continue;
      for (const { source, columns } of doubtfulSources(step, context.tables))
        if (!isProvedUnique(body, index, source, columns, context.tables)) report(step, context, source, columns);
    }
  },
};

/** A source of an update, and the columns by which its rows are found. */
interface Joined {
  readonly source: Source;
  readonly columns: readonly string[];
}

/** Asked once of a statement: a script of thousands of updates is looked at again with every key. */
const doubtfulUpdates = indicesByTables((step, tables) => doubtfulSources(step, tables).length > 0);

/** The sources that give values to an update and are joined by columns that are no key of theirs. */
function doubtfulSources(step: Step, tables: Tables): readonly Joined[] {
  return step.find('update').flatMap(({ node, scope }) => {
    if (scope === null || scope.target == null) return [];
    const others = scope.sources.filter((source) => source !== scope.target);
    if (others.length === 0) return [];
    const conditions = [...conjuncts(node.where), ...node.from.flatMap(joinConditions)];
    const values = node.assignments.map(({ value }) => value);
    return others.flatMap((source) => {
      if (!givesValues(values, source, scope, tables)) return [];
      const columns = equated(conditions, source, scope, tables);
      const isKey = coversKey(tables.relation(source)?.keys ?? null, columns) !== null;
      return columns.length === 0 || isKey ? [] : [{ source, columns }];
    });
  });
}

/** Values of the source are set; else any of its rows is as good as another, unless it only decides. */
function givesValues(values: readonly Expression[], source: Source, scope: Scope, tables: Tables): boolean {
  const used = values.flatMap((value) => columnsIn(value));
  if (used.length === 0) return true;
  return used.some((column) => sourceOfColumn(column, scope, tables) === source);
}

function equated(conditions: readonly Expression[], source: Source, scope: Scope, tables: Tables): readonly string[] {
  return conditions.flatMap((condition) => {
    const sides = equatedSides(condition);
    if (sides === null) return [];
    return [sides.left, sides.right].flatMap((side) => {
      const column = plainColumn(side);
      return column !== null && sourceOfColumn(column, scope, tables) === source ? [columnName(column)] : [];
    });
  });
}

function report(step: Step, context: RuleContext, source: Source, columns: readonly string[]): void {
  const relation = context.tables.relation(source);
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
