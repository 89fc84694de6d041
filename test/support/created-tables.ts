import { absoluteRange, lastPart, unitsOf, visit } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import type { Name, Node, SelectItem, Unit } from '../../server/src/syntax/tree.ts';

/**
 * A T-SQL batch apart from the tables that it creates. DacFx believes any column of a table that a batch itself creates,
 * so they become tables of the database: CREATE TABLE statements move there, SELECT INTO a temporary table has one made
 * for it with the columns of its list, and `#name` is read there as `[dbo].[prefix_name]`.
 */
export function withTablesApart(
  text: string,
  prefix: string,
): { readonly ddl: readonly string[]; readonly text: string } {
  const ddl: string[] = [];
  const edits: { readonly start: number; readonly end: number; readonly put: string }[] = [];
  const lasting = (name: Name): string => `[dbo].[${prefix}_${lastPart(name).name.replace('#', '')}]`;
  const replace = (unit: Unit, node: Node, put: string): void => {
    edits.push({ ...absoluteRange(unit, node), put });
  };
  for (const unit of unitsOf(parse(text, { platform: 'sqlserver' }))) {
    visit(unit.statement, {
      'create-table': (node) => {
        const { start, end } = absoluteRange(unit, node);
        ddl.push(text.slice(start, end).replace(/^ +/gm, ''));
        replace(unit, node, "PRINT N''");
        return false;
      },
      select: ({ into, items }) => {
        if (into === null) return;
        const columns = items.map((item) => `[${columnName(item)}] int NULL`);
        ddl.push(`CREATE TABLE ${lasting(into)} (${columns.join(', ')})`);
      },
      table: ({ name }) => {
        if (lastPart(name).name.startsWith('#')) replace(unit, name, lasting(name));
      },
    });
  }
  return { ddl, text: edited(text, edits) };
}

function columnName({ alias, expression }: SelectItem): string {
  if (alias !== null) return alias.name;
  if (expression.kind !== 'column') throw new Error(`a column without a name: ${expression.kind}`);
  return lastPart(expression).name;
}

function edited(text: string, edits: readonly { start: number; end: number; put: string }[]): string {
  let result = text;
  for (const { start, end, put } of [...edits].sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + put + result.slice(end);
  }
  return result;
}
