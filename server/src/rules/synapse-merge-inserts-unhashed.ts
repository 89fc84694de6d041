import { branchesOf, mergesOf } from './analysis/merges.ts';
import type { Rule } from './engine/rule.ts';

export const synapseMergeInsertsUnhashed: Rule = {
  name: 'synapse-merge-inserts-unhashed',
  hazards: ['M26'],
  platforms: ['synapse'],
  severity: 'error',
  fix: 'none',
  summary: 'A Synapse MERGE inserts into a table that is not hash distributed.',
  why: 'WHEN NOT MATCHED is supported on hash-distributed targets only, so the server refuses the statement.',
  help: 'Distribute the target by HASH of its key, or write UPDATE and INSERT.',
  invalid: [
    {
      platform: 'synapse',
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label varchar(50) NULL) WITH (DISTRIBUTION = ROUND_ROBIN, HEAP);`,
      sql: `MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT (UnitNo, Label) VALUES (s.UnitNo, s.Label);`,
    },
  ],
  valid: [
    {
      platform: 'synapse',
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label varchar(50) NULL) WITH (DISTRIBUTION = HASH (UnitNo), HEAP);`,
      sql: `MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN NOT MATCHED THEN INSERT (UnitNo, Label) VALUES (s.UnitNo, s.Label);`,
    },
  ],
  statement(step, context) {
    for (const { merge, target } of mergesOf(step, context.tables)) {
      const table = context.tables.tableOf(target);
      const [insert] = branchesOf(merge, 'not-matched');
      if (table === null || insert === undefined) continue;
      const distribution = table.options['distribution'];
      if (distribution !== undefined && /^hash/i.test(distribution)) continue;
      context.report(step, insert, {
        message: `${table.name.table} is distributed by ${distribution ?? 'ROUND_ROBIN'}, and a MERGE may insert into HASH-distributed tables only.`,
      });
    }
  },
};
