import { nameFits } from '../model/names.ts';
import { tableNameOf } from '../syntax/inspect.ts';
import { type Rule, serverPlatforms } from './engine/rule.ts';

export const composableMergeMeetsConstraint: Rule = {
  name: 'composable-merge-meets-constraint',
  hazards: ['M19'],
  platforms: serverPlatforms,
  severity: 'error',
  fix: 'none',
  summary: 'INSERT … SELECT … FROM (MERGE … OUTPUT …) writes a table with a foreign key or a trigger.',
  why: 'The server refuses it: the outer target may have no trigger and may take no part in a foreign key, so a dimension that facts refer to cannot be loaded this way.',
  help: 'Write OUTPUT … INTO a temporary table and insert from it in a second statement.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.FactRate (RateId int NOT NULL REFERENCES dw.DimRate (RateId));`,
      sql: `INSERT INTO dw.DimRate (RateCode) SELECT x.RateCode FROM (
    MERGE dw.DimRate AS t USING stg.Rate AS s ON t.RateCode = s.RateCode AND t.IsCurrent = 1
    WHEN MATCHED AND EXISTS (SELECT s.Pct EXCEPT SELECT t.Pct) THEN UPDATE SET IsCurrent = 0
    OUTPUT $action, s.RateCode) AS x (Act, RateCode) WHERE x.Act = 'UPDATE';`,
    },
  ],
  valid: [
    {
      sql: `INSERT INTO dw.DimRate (RateCode) SELECT x.RateCode FROM (
    MERGE dw.DimRate AS t USING stg.Rate AS s ON t.RateCode = s.RateCode AND t.IsCurrent = 1
    WHEN MATCHED AND EXISTS (SELECT s.Pct EXCEPT SELECT t.Pct) THEN UPDATE SET IsCurrent = 0
    OUTPUT $action, s.RateCode) AS x (Act, RateCode) WHERE x.Act = 'UPDATE';`,
    },
  ],
  statement(step, context) {
    if (step.find('dml-table').length === 0) return;
    for (const { node } of step.find('insert')) {
      if (node.target.kind !== 'table' || node.source.kind !== 'query') continue;
      const name = tableNameOf(node.target.name);
      const { foreignKeys, triggers } = context.tables.objects;
      const key = foreignKeys.find((fact) => nameFits(name, fact.from) || nameFits(name, fact.to));
      const trigger = triggers.find((fact) => nameFits(name, fact.table));
      if (key === undefined && trigger === undefined) continue;
      context.report(step, node.target, {
        message:
          trigger !== undefined
            ? `${context.text(step, node.target.name)} has the trigger ${trigger.name}, so it may not take rows from a nested MERGE.`
            : `${context.text(step, node.target.name)} takes part in a foreign key, so it may not take rows from a nested MERGE.`,
      });
    }
  },
};
