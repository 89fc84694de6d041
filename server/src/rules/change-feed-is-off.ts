import { nameFits, parseTableName } from '../model/names.ts';
import { bare, tableNameOf } from '../syntax/inspect.ts';
import { insertAt } from './analysis/fixes.ts';
import { callName } from './analysis/names.ts';
import { indicesOf, indicesWith, stepsAt } from './analysis/selections.ts';
import { type Rule, sparkPlatforms } from './engine/rule.ts';

export const changeFeedIsOff: Rule = {
  name: 'change-feed-is-off',
  hazards: ['D09'],
  platforms: sparkPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'The change feed of a table is read, but its DDL does not turn it on.',
  why: 'The read fails, or it lacks all changes before the feed was turned on.',
  help: "Set TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') before the first load.",
  invalid: [
    {
      platform: 'databricks',
      ddl: `CREATE TABLE gold.seat (seat_no INT NOT NULL, state STRING) USING DELTA;`,
      sql: `SELECT seat_no, _change_type FROM table_changes('gold.seat', 2);`,
    },
  ],
  valid: [
    {
      platform: 'databricks',
      ddl: `CREATE TABLE gold.seat (seat_no INT NOT NULL, state STRING) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');`,
      sql: `SELECT seat_no, _change_type FROM table_changes('gold.seat', 2);`,
    },
  ],
  body(body, context) {
    for (const index of indicesWith(body, 'table-function')) {
      const step = body.steps[index];
      if (step === undefined) continue;
      for (const { node } of step.find('table-function')) {
        if (node.call.kind !== 'call' || callName(node.call) !== 'TABLE_CHANGES') continue;
        const first = node.call.arguments[0] === undefined ? null : bare(node.call.arguments[0]);
        const name = first?.kind === 'literal' ? parseTableName(first.value) : undefined;
        const table = name === undefined ? null : context.tables.table(name);
        if (table === null || first?.kind !== 'literal') continue;
        const on = Object.entries(table.options).some(
          ([key, value]) => /enablechangedatafeed/i.test(`${key} ${value}`) && /true/i.test(value),
        );
        const turnedOn = stepsAt(
          body,
          indicesOf(body, 'alter-table').filter((at) => at < index),
        ).some(
          (before) =>
            before.statement.kind === 'alter-table' &&
            /enableChangeDataFeed/i.test(context.text(before, before.statement)) &&
            nameFits(tableNameOf(before.statement.name), table.name),
        );
        if (on || turnedOn) continue;
        context.report(step, node.call, {
          message: `${first.value} has no change feed: its DDL does not set delta.enableChangeDataFeed.`,
          fixes: [
            {
              title: 'Turn it on before this statement',
              safe: false,
              edits: [
                insertAt(
                  step.statement.start,
                  `ALTER TABLE ${first.value} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');\n`,
                ),
              ],
            },
          ],
        });
      }
    }
  },
};
