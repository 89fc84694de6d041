import { findAll, lastPart } from '../syntax/inspect.ts';
import type { Select } from '../syntax/tree.ts';
import { addToCondition } from './analysis/fixes.ts';
import { callName, columnName } from './analysis/names.ts';
import { columnsIn } from './analysis/sides.ts';
import { ancestor, conjuncts, type Entry } from './analysis/steps.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

const views = ['columns', 'tables', 'key_column_usage', 'table_constraints', 'constraint_column_usage'];

export const metadataLookupLacksSchema: Rule = {
  name: 'metadata-lookup-lacks-schema',
  hazards: ['P07'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: "Columns of a table are looked up by the table's name without its schema.",
  why: 'Two schemas may hold tables of one name: lists built from the result have columns twice, or those of the wrong table.',
  help: 'Filter by the schema too, or by OBJECT_ID of the full name.',
  invalid: [
    { sql: `SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = @Table ORDER BY ORDINAL_POSITION;` },
    {
      sql: `SELECT c.name FROM sys.columns AS c JOIN sys.tables AS t ON t.object_id = c.object_id WHERE t.name = @Table;`,
    },
  ],
  valid: [
    {
      sql: `SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = @Schema AND TABLE_NAME = @Table ORDER BY ORDINAL_POSITION;`,
    },
    { sql: `SELECT c.name FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(@FullName);` },
  ],
  statement(step, context) {
    for (const entry of step.find('select')) {
      const { node } = entry;
      const view = catalogView(entry);
      if (view === null || node.where === null) continue;
      const names = view.schema === 'sys' ? ['name'] : ['table_name'];
      const filtered = conjuncts(node.where).some(
        (test) =>
          test.kind === 'binary' &&
          test.operator === '=' &&
          columnsIn(test, false).some(
            (column) => names.includes(columnName(column).toLowerCase()) && isTableName(column, view.schema, node),
          ),
      );
      if (!filtered || namesSchema(node)) continue;
      const exists = ancestor(entry, 'exists') !== null;
      const test = 'TABLE_SCHEMA = SCHEMA_NAME()';
      context.report(step, view.at, {
        message: 'The table is looked up by its name alone, whatever its schema.',
        // Asking whether anything of a name exists does no more than that.
        severity: exists || view.view === 'tables' ? 'info' : 'warning',
        fixes:
          view.schema === 'sys'
            ? [
                {
                  title: 'Filter by the schema',
                  safe: false,
                  edits: addToCondition(node.where, `${tableAlias(node) ?? 't'}.schema_id = SCHEMA_ID()`),
                },
              ]
            : [{ title: `Add AND ${test}`, safe: false, edits: addToCondition(node.where, test) }],
      });
    }
  },
};

function catalogView(entry: Entry<'select'>) {
  for (const source of entry.scope?.sources ?? []) {
    if (source.node.kind !== 'table') continue;
    const schema = source.node.name.parts.at(-2)?.name.toLowerCase();
    const view = lastPart(source.node.name).name.toLowerCase();
    if ((schema === 'information_schema' || schema === 'sys') && views.includes(view)) {
      return { schema, view, at: source.node };
    }
  }
  return null;
}

/** In sys.columns `name` is the column's own; only sys.tables or sys.objects name the table. */
function isTableName(column: ReturnType<typeof columnsIn>[number], schema: string, select: Select): boolean {
  if (schema !== 'sys') return true;
  const wanted = column.parts.length > 1 ? column.parts.at(-2)?.name.toLowerCase() : null;
  const alias = tableAlias(select);
  return wanted === null ? alias === null : wanted === alias?.toLowerCase();
}

function tableAlias(select: Select): string | null {
  const tables = select.from.flatMap((from) => findAll(from, 'table'));
  const found = tables.find((table) => ['tables', 'objects'].includes(lastPart(table.name).name.toLowerCase()));
  return found === undefined ? null : (found.alias?.name ?? lastPart(found.name).name);
}

function namesSchema(select: Select): boolean {
  const columns = columnsIn(select).map((column) => columnName(column).toLowerCase());
  if (columns.some((name) => ['table_schema', 'schema_id', 'constraint_schema'].includes(name))) return true;
  if (findAll(select, 'table').some((table) => lastPart(table.name).name.toLowerCase() === 'schemas')) return true;
  return findAll(select, 'call').some((call) =>
    ['OBJECT_ID', 'SCHEMA_ID', 'SCHEMA_NAME', 'OBJECT_SCHEMA_NAME'].includes(callName(call)),
  );
}
