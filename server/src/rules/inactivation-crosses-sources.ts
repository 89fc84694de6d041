import { detectionsOf } from './analysis/absences.ts';
import { columnName, roleByName, same } from './analysis/names.ts';
import { columnsIn } from './analysis/sides.ts';
import { sourceText } from './analysis/tables.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';
import { takesAway } from './inactivation-lacks-stage-guard.ts';

export const inactivationCrossesSources: Rule = {
  name: 'inactivation-crosses-sources',
  hazards: ['I05'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'none',
  summary: 'Absent rows are judged without regard to the record source.',
  why: 'Where several sources feed the table, the stage of one source makes the rows of all others look deleted.',
  help: 'Limit the judged rows to the record source, tenant or partition of the stage.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Item (ItemNo int NOT NULL, RecordSource varchar(20) NOT NULL, Label varchar(50) NULL, IsCurrent bit NOT NULL, ValidTo datetime2(6) NULL, PRIMARY KEY (ItemNo, RecordSource));`,
      sql: `UPDATE t SET IsCurrent = 0, ValidTo = @now FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Item (ItemNo int NOT NULL, RecordSource varchar(20) NOT NULL, Label varchar(50) NULL, IsCurrent bit NOT NULL, ValidTo datetime2(6) NULL, PRIMARY KEY (ItemNo, RecordSource));`,
      sql: `UPDATE t SET IsCurrent = 0, ValidTo = @now FROM dw.Item AS t
WHERE t.IsCurrent = 1 AND t.RecordSource = @source AND NOT EXISTS (SELECT 1 FROM stg.Item AS s WHERE s.ItemNo = t.ItemNo);`,
    },
  ],
  statement(step, context) {
    const [detection] = detectionsOf(step, context);
    if (detection === undefined || !takesAway(step, context)) return;
    const source = context.tables
      .tableOf(detection.target)
      ?.columns.find((column) => column.role === 'record-source' || roleByName(column.name) === 'record-source');
    if (source === undefined) return;
    if (columnsIn(step.statement).some((column) => same(columnName(column), source.name))) return;
    context.report(step, detection.at, {
      message: `${sourceText(detection.target)} holds rows of several sources (${source.name}), and all of them are judged by one stage.`,
    });
  },
};
