import { bare } from '../syntax/inspect.ts';
import type { Call } from '../syntax/tree.ts';
import { insertAt } from './analysis/fixes.ts';
import { callName, columnName, includes, plainColumn, roleByName, same } from './analysis/names.ts';
import { coversKey } from './analysis/relations.ts';
import { isConstant, sourceOfColumn } from './analysis/sides.ts';
import { ancestor, type Entry, type Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const rowChoiceHasTies: Rule = {
  name: 'row-choice-has-ties',
  hazards: ['P19'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'ROW_NUMBER keeps one row of a key, but its order leaves ties.',
  why: 'Which of the tied rows is kept changes from run to run, so the same stage gives other values, or another version on each load.',
  help: 'Add columns to ORDER BY until no two rows are equal.',
  judges: 'part',
  invalid: [
    {
      sql: `SELECT PersonNo, Phone FROM (SELECT PersonNo, Phone, ROW_NUMBER() OVER (PARTITION BY PersonNo ORDER BY (SELECT NULL)) AS rn FROM stg.PersonFeed) AS x WHERE x.rn = 1;`,
    },
    {
      ddl: `CREATE TABLE stg.PersonFeed (PersonNo int NOT NULL, Phone varchar(30) NULL, LoadedAt datetime2(6) NOT NULL, FileRow int NOT NULL, PRIMARY KEY (PersonNo, LoadedAt, FileRow));`,
      sql: `SELECT PersonNo, Phone FROM (SELECT PersonNo, Phone, ROW_NUMBER() OVER (PARTITION BY PersonNo ORDER BY LoadedAt DESC) AS rn FROM stg.PersonFeed) AS x WHERE x.rn = 1;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.PersonFeed (PersonNo int NOT NULL, Phone varchar(30) NULL, LoadedAt datetime2(6) NOT NULL, FileRow int NOT NULL, PRIMARY KEY (PersonNo, LoadedAt, FileRow));`,
      sql: `SELECT PersonNo, Phone FROM (SELECT PersonNo, Phone, ROW_NUMBER() OVER (PARTITION BY PersonNo ORDER BY LoadedAt DESC, FileRow DESC) AS rn FROM stg.PersonFeed) AS x WHERE x.rn = 1;`,
    },
  ],
  statement(step, context) {
    for (const entry of step.find('call')) {
      if (callName(entry.node) !== 'ROW_NUMBER' || entry.node.over === null || entry.node.over.partitionBy.length === 0)
        continue;
      if (keepsFirst(entry, step)) check(step, context, entry, entry.node.over);
    }
  },
};

function check(step: Step, context: RuleContext, entry: Entry<'call'>, window: NonNullable<Call['over']>): void {
  const order = window.orderBy.map((item) => item.expression);
  if (order.length === 0 || order.every((expression) => isConstant(expression) || isNothing(expression))) {
    context.report(step, entry.node, { message: 'This order is none: any row of a key may be kept.' });
    return;
  }
  const columns = [...window.partitionBy, ...order].map(plainColumn);
  if (columns.some((column) => column === null)) return;
  const named = columns.filter((column) => column !== null);
  const [first] = named;
  const source = first === undefined ? null : sourceOfColumn(first, entry.scope, context.tables);
  if (source === null || (entry.scope?.sources.length ?? 0) !== 1) return;
  const keys = context.tables.relation(source)?.keys ?? null;
  const names = named.map(columnName);
  if (coversKey(keys, names) !== null || putsOutOnly(entry, names)) return;
  const table = context.tables.tableOf(source);
  const inferred = table === null ? null : context.tables.inferredKey(table.name);
  if (inferred?.every((name) => includes(names, name)) === true) return;
  const wider = (keys ?? []).find(
    (key) => key.byDistinct !== true && names.every((name) => includes(key.columns, name)),
  );
  // Where no key is known, an order of several columns shows that ties were thought of.
  if (wider === undefined && order.length > 1) return;
  // Rows of one moment that differ in their digest only are a conflict of the stage, not of this order.
  if (wider !== undefined && missingOf(wider.columns, names).every((name) => roleByName(name) === 'hashdiff')) return;
  const last = window.orderBy.at(-1);
  const missing = missingOf(wider?.columns ?? [], names);
  context.report(step, entry.node, {
    message:
      wider === undefined
        ? `Nothing shows that ${names.join(' + ')} tells the rows of ${sourceText(source)} apart.`
        : `Rows of ${sourceText(source)} with one ${names.join(' + ')} differ in ${missing.join(', ')}, which the order leaves out.`,
    severity: wider === undefined ? 'info' : 'warning',
    fixes:
      last === undefined || missing.length === 0
        ? []
        : [
            {
              title: `Order by ${missing.join(', ')} too`,
              safe: false,
              edits: [insertAt(last.end, missing.map((name) => `, ${name} DESC`).join(''))],
            },
          ],
  });
}

function missingOf(key: readonly string[], names: readonly string[]): readonly string[] {
  return key.filter((name) => !includes(names, name));
}

/** Rows that tie are equal in all that the query puts out, so it does not matter which one stays. */
function putsOutOnly(entry: Entry<'call'>, names: readonly string[]): boolean {
  const select = ancestor(entry, 'select');
  return (
    select?.node.items.every((item) => {
      if (item.start <= entry.node.start && item.end >= entry.node.end) return true;
      const column = plainColumn(item.expression);
      return isConstant(item.expression) || (column !== null && includes(names, columnName(column)));
    }) ?? false
  );
}

/** `(SELECT NULL)` and the like. */
function isNothing(expression: Parameters<typeof isConstant>[0]): boolean {
  const inner = bare(expression);
  return inner.kind === 'subquery' && inner.query.body.kind === 'select' && inner.query.body.from.length === 0;
}

/** The number is compared with 1 somewhere in the statement, or in QUALIFY. */
function keepsFirst(entry: Entry<'call'>, step: Step): boolean {
  const item = ancestor(entry, 'select-item');
  const alias = item?.node.alias?.name ?? null;
  return step.find('binary').some(({ node }) => {
    if (node.operator !== '=') return false;
    const value = bare(node.right);
    if (value.kind !== 'literal' || value.value !== '1') return false;
    if (bare(node.left) === entry.node) return true;
    const column = plainColumn(node.left);
    return alias !== null && column !== null && same(columnName(column), alias);
  });
}
