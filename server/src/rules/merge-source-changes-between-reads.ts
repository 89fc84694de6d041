import { findAll } from '../syntax/inspect.ts';
import { mergesOf } from './analysis/merges.ts';
import { callName } from './analysis/names.ts';
import { type Rule, sparkPlatforms } from './engine/rule.ts';

const changing = ['RAND', 'RANDN', 'UUID', 'MONOTONICALLY_INCREASING_ID', 'SHUFFLE', 'INPUT_FILE_NAME'];

export const mergeSourceChangesBetweenReads: Rule = {
  name: 'merge-source-changes-between-reads',
  hazards: ['D03'],
  platforms: sparkPlatforms,
  versions: 'Delta 2.1 and older',
  severity: 'info',
  fix: 'none',
  summary: 'The source of a MERGE gives other rows each time it is read.',
  why: 'Delta 2.1 and older read the source twice, so rows are lost or doubled; newer versions keep a copy first.',
  help: 'Write the source into a table first, and choose rows in an order without ties.',
  invalid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.unit AS t USING (SELECT uuid() AS unit_id, label FROM stage.unit) AS s ON t.unit_id = s.unit_id
WHEN NOT MATCHED THEN INSERT (unit_id, label) VALUES (s.unit_id, s.label);`,
    },
  ],
  valid: [
    {
      platform: 'delta',
      sql: `MERGE INTO gold.unit AS t USING (SELECT unit_id, label FROM stage.unit) AS s ON t.unit_id = s.unit_id
WHEN NOT MATCHED THEN INSERT (unit_id, label) VALUES (s.unit_id, s.label);`,
    },
  ],
  statement(step, context) {
    for (const { sources } of mergesOf(step, context.tables)) {
      for (const source of sources) {
        const query = source.common?.query ?? (source.node.kind === 'derived-table' ? source.node.query : null);
        const call =
          query === null ? undefined : findAll(query, 'call').find((node) => changing.includes(callName(node)));
        if (call === undefined) continue;
        context.report(step, source.common === null ? call : source.node, {
          message: `${callName(call).toLowerCase()}() gives other values each time the source is read.`,
        });
      }
    }
  },
};
