import { insertAt } from './analysis/fixes.ts';
import { mergesOf } from './analysis/merges.ts';
import { columnName, includes } from './analysis/names.ts';
import { columnsIn } from './analysis/sides.ts';
import { sourceText } from './analysis/tables.ts';
import { type Rule, sparkPlatforms } from './engine/rule.ts';

export const mergeReadsAllPartitions: Rule = {
  name: 'merge-reads-all-partitions',
  hazards: ['D04'],
  platforms: sparkPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'ON of a MERGE into a partitioned table names no partition column.',
  why: 'The whole table is read, and jobs that write different partitions fail with ConcurrentAppendException.',
  help: 'Compare the partition column too, provided that a key never moves to another partition.',
  invalid: [
    {
      platform: 'delta',
      ddl: `CREATE TABLE gold.seat (seat_no INT NOT NULL, biz_date DATE NOT NULL, state STRING) USING DELTA PARTITIONED BY (biz_date);`,
      sql: `MERGE INTO gold.seat AS t USING stage.seat AS s ON t.seat_no = s.seat_no
WHEN MATCHED AND NOT (t.state <=> s.state) THEN UPDATE SET t.state = s.state;`,
    },
  ],
  valid: [
    {
      platform: 'delta',
      ddl: `CREATE TABLE gold.seat (seat_no INT NOT NULL, biz_date DATE NOT NULL, state STRING) USING DELTA PARTITIONED BY (biz_date);`,
      sql: `MERGE INTO gold.seat AS t USING stage.seat AS s ON t.seat_no = s.seat_no AND t.biz_date = s.biz_date
WHEN MATCHED AND NOT (t.state <=> s.state) THEN UPDATE SET t.state = s.state;`,
    },
  ],
  statement(step, context) {
    for (const { merge, target, sources } of mergesOf(step, context.tables)) {
      const table = context.tables.tableOf(target);
      if (table === null || merge.on === null) continue;
      const option = Object.entries(table.options).find(([name]) => /^partitioned by/i.test(name))?.[1] ?? '';
      const columns = option
        .replace(/[()`\s]/g, '')
        .split(',')
        .filter((name) => /^\w+$/.test(name));
      if (columns.length === 0) continue;
      const tested = columnsIn(merge.on).map(columnName);
      const [missing] = columns.filter((name) => !includes(tested, name));
      if (missing === undefined || columns.some((name) => includes(tested, name))) continue;
      const [source] = sources;
      context.report(step, merge.on, {
        message: `${sourceText(target)} is partitioned by ${columns.join(', ')}, which ON does not name, so every partition is read.`,
        fixes:
          source === undefined || source.alias === ''
            ? []
            : [
                {
                  title: `Compare ${missing} too`,
                  safe: false,
                  edits: [insertAt(merge.on.end, ` AND ${target.alias}.${missing} = ${source.alias}.${missing}`)],
                },
              ],
      });
    }
  },
};
