import type { Expression } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { plainColumn } from './analysis/names.ts';
import { setComparison } from './analysis/sides.ts';
import { ancestor, type Entry, type Step } from './analysis/steps.ts';
import { type Rule, type RuleContext, serverPlatforms } from './engine/rule.ts';

const incomparable = ['xml', 'text', 'ntext', 'image', 'geography', 'geometry', 'json'];

export const comparisonUsesIncomparableType: Rule = {
  name: 'comparison-uses-incomparable-type',
  hazards: ['C09'],
  platforms: serverPlatforms,
  severity: 'error',
  fix: 'unsafe',
  summary: 'A column of a type without comparison stands in a comparison, EXCEPT, DISTINCT or GROUP BY.',
  why: 'The server refuses the statement.',
  help: 'Convert the column to nvarchar(max) or varbinary(max), or leave it out of the change test.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Doc (DocNo int NOT NULL PRIMARY KEY, Body xml NULL);
CREATE TABLE stg.Doc (DocNo int NOT NULL PRIMARY KEY, Body xml NULL);`,
      sql: `UPDATE t SET Body = s.Body FROM dw.Doc AS t JOIN stg.Doc AS s ON s.DocNo = t.DocNo
WHERE EXISTS (SELECT s.Body EXCEPT SELECT t.Body);`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Doc (DocNo int NOT NULL PRIMARY KEY, Body xml NULL);
CREATE TABLE stg.Doc (DocNo int NOT NULL PRIMARY KEY, Body xml NULL);`,
      sql: `UPDATE t SET Body = s.Body FROM dw.Doc AS t JOIN stg.Doc AS s ON s.DocNo = t.DocNo
WHERE EXISTS (SELECT CONVERT(nvarchar(max), s.Body) EXCEPT SELECT CONVERT(nvarchar(max), t.Body));`,
    },
  ],
  statement(step, context) {
    for (const entry of step.find('binary')) {
      if (!['=', '<>', '!=', '<', '>'].includes(entry.node.operator)) continue;
      check(step, context, entry, [entry.node.left, entry.node.right]);
    }
    for (const entry of step.find('query')) {
      const sets = setComparison(entry.node);
      if (sets === null || sets.operator === 'UNION') continue;
      for (const select of step.find('select')) {
        if (ancestor(select, 'query')?.node !== entry.node) continue;
        check(
          step,
          context,
          select,
          select.node.items.map((item) => item.expression),
        );
      }
    }
    for (const entry of step.find('select')) {
      if (entry.node.groupBy !== null) check(step, context, entry, entry.node.groupBy.items);
      if (entry.node.distinct)
        check(
          step,
          context,
          entry,
          entry.node.items.map((item) => item.expression),
        );
    }
  },
};

function check(step: Step, context: RuleContext, entry: Entry, expressions: readonly Expression[]): void {
  for (const expression of expressions) {
    const column = plainColumn(expression);
    const type = column === null ? null : context.tables.type(column, entry.scope);
    if (column === null || type === null || !incomparable.includes(type.split('(')[0] ?? '')) continue;
    const text = context.text(step, column);
    context.report(step, column, {
      message: `${text} is of type ${type}, which cannot be compared.`,
      fixes: [
        {
          title: 'Compare it as text',
          safe: false,
          edits: [
            replace(column, type === 'image' ? `CONVERT(varbinary(max), ${text})` : `CONVERT(nvarchar(max), ${text})`),
          ],
        },
      ],
    });
  }
}
