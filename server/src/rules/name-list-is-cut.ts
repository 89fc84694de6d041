import { bare, findAll } from '../syntax/inspect.ts';
import { replace } from './analysis/fixes.ts';
import { callName, columnName, plainColumn } from './analysis/names.ts';
import { ancestor } from './analysis/steps.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const nameListIsCut: Rule = {
  name: 'name-list-is-cut',
  hazards: ['P08'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'A list is built in a way that depends on the plan or ends at 8,000 bytes.',
  why: 'With SELECT @list = @list + … ORDER BY the order, and even the number of values, is not defined; STRING_AGG of a short type fails with error 9829 when the list grows.',
  help: "Write STRING_AGG(CONVERT(nvarchar(max), QUOTENAME(name)), ',') WITHIN GROUP (ORDER BY column_id).",
  judges: 'part',
  invalid: [
    {
      sql: `SELECT @list = STRING_AGG(QUOTENAME(c.name), ',') FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(@FullName);`,
    },
    {
      sql: `SELECT @list = @list + ',' + QUOTENAME(c.name) FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(@FullName) ORDER BY c.column_id;`,
    },
  ],
  valid: [
    {
      sql: `SELECT @list = STRING_AGG(CONVERT(nvarchar(max), QUOTENAME(c.name)), ',') WITHIN GROUP (ORDER BY c.column_id) FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(@FullName);`,
    },
  ],
  statement(step, context) {
    for (const { node } of step.find('call')) {
      const [value] = node.arguments;
      if (callName(node) !== 'STRING_AGG' || value === undefined) continue;
      const inner = bare(value);
      const name = plainColumn(inner);
      const quoted = inner.kind === 'call' && callName(inner) === 'QUOTENAME';
      const catalog = name !== null && /^(name|column_name)$/i.test(columnName(name));
      if (!quoted && !catalog) continue;
      context.report(step, node, {
        message: 'This list fails with an error beyond 8,000 bytes.',
        fixes: [
          {
            title: 'Convert to nvarchar(max)',
            safe: true,
            edits: [replace(value, `CONVERT(nvarchar(max), ${context.text(step, value)})`)],
          },
        ],
      });
    }
    for (const entry of step.find('select-item')) {
      const { node } = entry;
      const query = ancestor(entry, 'query')?.node;
      if (node.assigns === null || query === undefined || query.orderBy.length === 0) continue;
      const variable = node.assigns.name.toLowerCase();
      const repeats = findAll(node.expression, 'variable').some((other) => other.name.toLowerCase() === variable);
      const select = ancestor(entry, 'select')?.node;
      if (!repeats || select === undefined || select.from.length === 0 || select.top !== null) continue;
      context.report(step, node, {
        message: `The order in which ${node.assigns.name} grows is not defined, and ORDER BY may leave values out.`,
      });
    }
  },
};
