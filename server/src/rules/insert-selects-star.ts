import { bare, lastPart } from '../syntax/inspect.ts';
import type { Insert, Select } from '../syntax/tree.ts';
import { insertAt, replace } from './analysis/fixes.ts';
import { same } from './analysis/names.ts';
import { type Scope, type Source, selectsOf } from './analysis/steps.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const insertSelectsStar: Rule = {
  name: 'insert-selects-star',
  hazards: ['P18'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'INSERT takes its values from SELECT *.',
  why: 'When a column is added or moved on either side, the statement fails or puts values into the wrong columns.',
  help: 'Name the columns on both sides.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL);`,
      sql: `INSERT INTO dw.Unit SELECT * FROM stg.Unit;`,
    },
    { sql: `INSERT INTO dw.Unit SELECT n.* FROM stg.NewUnit AS n;` },
  ],
  valid: [
    { sql: `INSERT INTO dw.Unit (UnitNo, Label) SELECT UnitNo, Label FROM stg.Unit;` },
    { sql: `INSERT INTO dw.Unit (UnitNo, Label) SELECT * FROM (SELECT UnitNo, Label FROM stg.Unit) AS s;` },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('insert')) {
      if (node.source.kind !== 'query' || node.byName) continue;
      const temporary =
        node.target.kind === 'table-variable' ||
        (node.target.kind === 'table' && lastPart(node.target.name).name.startsWith('#'));
      for (const select of selectsOf(node.source)) {
        const inside = step.entry(select)?.scope ?? null;
        const star = select.items.find((item) => {
          const expression = bare(item.expression);
          return expression.kind === 'star' && opensTable(expression.qualifier.at(-1)?.name ?? null, inside);
        });
        if (star === undefined) continue;
        context.report(step, star, {
          message: `${context.text(step, star)} ties this INSERT to the order of the columns.`,
          severity: temporary ? 'info' : 'warning',
          fixes: expand(context, node, select, scope?.target ?? null, inside),
        });
      }
    }
  },
};

/** A star over a query that names its columns is a list; over a table it is not. */
function opensTable(qualifier: string | null, scope: Scope | null): boolean {
  const sources = (scope?.sources ?? []).filter((source) => qualifier === null || same(source.alias, qualifier));
  return sources.some((source) => {
    const query = source.common?.query ?? (source.node.kind === 'derived-table' ? source.node.query : null);
    if (query === null) return source.node.kind !== 'derived-table';
    return selectsOf(query).some((select) => select.items.some((item) => bare(item.expression).kind === 'star'));
  });
}

/** Both lists, when every column of the source has one of the same name in the target. */
function expand(
  context: RuleContext,
  insert: Insert,
  select: Select,
  target: Source | null,
  scope: Scope | null,
): readonly FindingFix[] {
  const [item] = select.items;
  const [source] = scope?.sources ?? [];
  if (item === undefined || source === undefined || select.items.length !== 1 || scope?.sources.length !== 1) return [];
  const written = context.tables.tableOf(target)?.columns.filter((column) => !column.identity && !column.computed);
  const read = context.tables.relation(source)?.columns;
  if (written === undefined || read == null || read.length !== written.length || insert.columns.length > 0) return [];
  if (!read.every((column, index) => same(column.name, written[index]?.name ?? ''))) return [];
  const alias = source.node.kind === 'table' && source.node.alias === null ? '' : `${source.alias}.`;
  return [
    {
      title: 'Name the columns',
      safe: true,
      edits: [
        insertAt(insert.target.end, ` (${written.map((column) => column.name).join(', ')})`),
        replace(item, read.map((column) => `${alias}${column.name}`).join(', ')),
      ],
    },
  ];
}
