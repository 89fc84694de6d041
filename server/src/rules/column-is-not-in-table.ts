import { compactName } from '../model/names.ts';
import { replace } from './analysis/fixes.ts';
import { writtenValues } from './analysis/insert-values.ts';
import { same } from './analysis/names.ts';
import { sourceText } from './analysis/tables.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const columnIsNotInTable: Rule = {
  name: 'column-is-not-in-table',
  hazards: [],
  platforms: allPlatforms,
  severity: 'error',
  fix: 'unsafe',
  summary: "INSERT or SET names a column that the table's DDL does not have.",
  why: 'The server refuses the statement (error 207), or the DDL in the folder is older than the table.',
  help: 'Correct the name, or bring the DDL up to date.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, UnitLabel varchar(50) NULL);`,
      sql: `INSERT INTO dw.Unit (UnitNo, Unit_Label) SELECT s.UnitNo, s.Label FROM stg.Unit AS s;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, UnitLabel varchar(50) NULL);`,
      sql: `INSERT INTO dw.Unit (UnitNo, UnitLabel) SELECT s.UnitNo, s.Label FROM stg.Unit AS s;`,
    },
    {
      ddl: `CREATE TABLE dw.Delivers (Rate int NULL) AS EDGE;`,
      sql: `INSERT INTO dw.Delivers ($from_id, $to_id, Rate) SELECT s.FromNode, s.ToNode, s.Rate FROM stg.Delivers AS s;`,
    },
  ],
  statement(step, context) {
    const seen = new Set<number>();
    for (const { column, at, target } of writtenValues(step)) {
      const table = context.tables.tableOf(target);
      if (table === null || table.columns.length === 0 || column === '' || seen.has(at.start)) continue;
      if (table.columns.some((candidate) => same(candidate.name, column)) || isGraphColumn(column)) continue;
      seen.add(at.start);
      const alike = table.columns.find((candidate) => compactName(candidate.name) === compactName(column));
      const text = context.text(step, at);
      context.report(step, at, {
        message: `${sourceText(target)} has no column ${column}.`,
        fixes:
          alike === undefined
            ? []
            : [{ title: `Write ${alike.name}`, safe: false, edits: [replace(at, text.replace(column, alike.name))] }],
      });
    }
  },
};

/** Columns of graph tables that no DDL lists; a folder's DDL may leave AS NODE and AS EDGE out, too. */
function isGraphColumn(column: string): boolean {
  return /^\$(?:node|edge|from|to)_id$/i.test(column);
}
