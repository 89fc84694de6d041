import { nameFits } from '../model/names.ts';
import { tableNameOf } from '../syntax/inspect.ts';
import { mergesOf } from './analysis/merges.ts';
import { columnName, includes } from './analysis/names.ts';
import type { Rule } from './engine/rule.ts';

export const mergeTargetIsSpecial: Rule = {
  name: 'merge-target-is-special',
  hazards: ['M23'],
  platforms: ['sqlserver', 'azuresql', 'synapse'],
  severity: 'warning',
  fix: 'none',
  summary: 'The target of a MERGE is of a kind for which MERGE is known to fail.',
  why: 'With a unique filtered index whose filter column changes, MERGE may report a violation that is none; columnstore and system-versioned targets make it slow or fail in other ways.',
  help: 'Write UPDATE and INSERT in one transaction instead.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.DimUnit (UnitNo int NOT NULL, Label nvarchar(50) NULL, IsCurrent bit NOT NULL);
CREATE UNIQUE INDEX UX_DimUnit ON dw.DimUnit (UnitNo) WHERE IsCurrent = 1;`,
      sql: `MERGE dw.DimUnit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo AND t.IsCurrent = 1
WHEN MATCHED AND s.Gone = 1 THEN UPDATE SET IsCurrent = 0;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.DimUnit (UnitNo int NOT NULL, Label nvarchar(50) NULL, IsCurrent bit NOT NULL);
CREATE UNIQUE INDEX UX_DimUnit ON dw.DimUnit (UnitNo) WHERE IsCurrent = 1;`,
      sql: `UPDATE t SET IsCurrent = 0 FROM dw.DimUnit AS t JOIN stg.Unit AS s ON t.UnitNo = s.UnitNo
WHERE t.IsCurrent = 1 AND s.Gone = 1;`,
    },
  ],
  statement(step, context) {
    for (const { merge, target } of mergesOf(step, context.tables)) {
      if (target.node.kind !== 'table' || target.common !== null) continue;
      const name = tableNameOf(target.node.name);
      const { filteredIndexes, columnstores } = context.tables.objects;
      const set = merge.branches.flatMap(({ action }) =>
        action?.kind === 'merge-update'
          ? action.assignments.flatMap(({ column }) => (column === null ? [] : [columnName(column)]))
          : [],
      );
      const filtered = filteredIndexes.find(
        (index) => nameFits(name, index.table) && index.filter.some((column) => includes(set, column)),
      );
      const table = context.tables.tableOf(target);
      const options = Object.entries(table?.options ?? {}).map(([key, value]) => `${key} ${value}`.toLowerCase());
      const columnstore =
        context.platform.name !== 'synapse' &&
        (columnstores.some((other) => nameFits(name, other)) || options.some((text) => text.includes('columnstore')));
      const versioned = options.some((text) => /system.?versioning\W+(=\s*)?on/.test(text));
      const text = context.text(step, target.node.name);
      if (filtered !== undefined) {
        context.report(step, target.node, {
          message: `MERGE changes a column that the unique filtered index ${filtered.name} of ${text} is filtered by, and may fail with a violation that is none.`,
        });
      } else if (columnstore || versioned) {
        context.report(step, target.node, {
          message: columnstore
            ? `${text} is a columnstore table, for which MERGE is slower than UPDATE and INSERT.`
            : `${text} is system-versioned, and each row that MERGE rewrites becomes history.`,
          severity: 'info',
        });
      }
    }
  },
};
