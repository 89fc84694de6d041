import { isTsql } from '../../../protocol/platform.ts';
import { compareTypes, typeFacts } from '../model/types.ts';
import { replace } from './analysis/fixes.ts';
import { writtenValues } from './analysis/insert-values.ts';
import { plainColumn, same } from './analysis/names.ts';
import { isDigestRole } from './analysis/roles.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const writeNarrowsType: Rule = {
  name: 'write-narrows-type',
  hazards: [],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A column is written into one of a shorter or less exact type.',
  why: 'The load fails on the first value that does not fit, or digits and fractions of a second are lost and the row looks changed on every run.',
  help: 'Widen the target column, or cast on purpose.',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(30) NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL);`,
      sql: `INSERT INTO dw.Unit (UnitNo, Label) SELECT s.UnitNo, s.Label FROM stg.Unit AS s;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL);`,
      sql: `INSERT INTO dw.Unit (UnitNo, Label) SELECT s.UnitNo, s.Label FROM stg.Unit AS s;`,
    },
  ],
  statement(step, context) {
    for (const { column, value, scope, target } of writtenValues(step)) {
      const written = context.tables.tableOf(target)?.columns.find((candidate) => same(candidate.name, column));
      const source = plainColumn(value);
      // Only a stored column has values of its full type; a computed one is as long as what it is made of.
      const from = source === null ? null : (context.tables.column(source, scope)?.column.column?.type ?? null);
      if (written === undefined || from === null || from === '' || written.type === '') continue;
      // A digest as text holds hexadecimal digits, whatever the type's alphabet.
      if (isDigestRole(written.role)) continue;
      const tsql = isTsql(context.platform.name);
      if (compareTypes(typeFacts(from, tsql), typeFacts(written.type, tsql)) !== 'narrowing') continue;
      const text = context.text(step, value);
      context.report(step, value, {
        message: `${text} is ${from}, but ${column} holds ${written.type} only.`,
        fixes: [
          {
            title: `Cast to ${written.type}`,
            safe: false,
            edits: [replace(value, `CAST(${text} AS ${written.type})`)],
          },
        ],
      });
    }
  },
};
