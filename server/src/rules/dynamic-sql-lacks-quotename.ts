import { bare } from '../syntax/inspect.ts';
import type { ColumnReference, Expression } from '../syntax/tree.ts';
import { joinedTexts, looksLikeSql, textOf } from './analysis/dynamic-sql.ts';
import { replace } from './analysis/fixes.ts';
import { callName, columnName } from './analysis/names.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

/** Text that a name must follow. */
const beforeName =
  /(?:\b(?:FROM|JOIN|INTO|UPDATE|TABLE|VIEW|MERGE|USING|DATABASE|SCHEMA|INDEX|TRUNCATE\s+TABLE|EXEC(?:UTE)?|ON)\s+|[.[])$/i;
const catalogNames = /^(?:column_name|table_name|table_schema|constraint_name)$/i;

export const dynamicSqlLacksQuotename: Rule = {
  name: 'dynamic-sql-lacks-quotename',
  hazards: ['P06'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A name is put into SQL text without QUOTENAME, or a value without a parameter.',
  why: 'A blank, a bracket or a reserved word in a name breaks the statement, and whoever can set it can run any SQL.',
  help: 'Write QUOTENAME for each part of a name, and hand values to sp_executesql as parameters.',
  judges: 'part',
  invalid: [
    { sql: `DECLARE @sql nvarchar(max) = N'TRUNCATE TABLE ' + @TableName; EXEC sp_executesql @sql;` },
    {
      sql: `SELECT @columns = @columns + ', ' + COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS
WHERE TABLE_SCHEMA = @Schema AND TABLE_NAME = @Table;`,
    },
  ],
  valid: [
    {
      sql: `DECLARE @sql nvarchar(max) = N'TRUNCATE TABLE ' + QUOTENAME(@Schema) + N'.' + QUOTENAME(@Table); EXEC sp_executesql @sql;`,
    },
    { sql: `PRINT N'loaded ' + @TableName;` },
  ],
  statement(step, context) {
    for (const { pieces } of joinedTexts(step)) {
      if (looksLikeSql(pieces)) {
        const unsafe = pieces.find((piece, index) => isBareName(piece, textBefore(pieces, index)));
        const value = pieces.find(
          (piece, index) =>
            isValue(piece) && textBefore(pieces, index).endsWith("'") && textAfter(pieces, index).startsWith("'"),
        );
        const found = unsafe ?? value;
        if (found === undefined) continue;
        const text = context.text(step, found);
        context.report(step, found, {
          message:
            unsafe !== undefined
              ? `${text} is put into SQL text as a name without QUOTENAME.`
              : `${text} is put into SQL text as a value instead of a parameter.`,
          fixes:
            unsafe === undefined
              ? []
              : [{ title: 'Wrap it in QUOTENAME', safe: false, edits: [replace(found, `QUOTENAME(${text})`)] }],
        });
        continue;
      }
      const names = step
        .find('table')
        .some(({ node }) => /^(information_schema|sys)$/i.test(node.name.parts.at(-2)?.name ?? ''));
      const list = names ? pieces.find((piece) => piece.kind === 'column' && isCatalogName(piece)) : undefined;
      if (list === undefined) continue;
      const text = context.text(step, list);
      context.report(step, list, {
        message: `${text} goes into a list of names without QUOTENAME.`,
        fixes: [{ title: 'Wrap it in QUOTENAME', safe: false, edits: [replace(list, `QUOTENAME(${text})`)] }],
      });
    }
  },
};

function textBefore(pieces: readonly Expression[], index: number): string {
  const before = pieces[index - 1];
  return before === undefined ? '' : (textOf(before) ?? '');
}

function textAfter(pieces: readonly Expression[], index: number): string {
  const after = pieces[index + 1];
  return after === undefined ? '' : (textOf(after) ?? '');
}

function isBareName(piece: Expression, before: string): boolean {
  return isValue(piece) && beforeName.test(before);
}

/** A variable or column; what a function made may be quoted already. */
function isValue(piece: Expression): boolean {
  const inner = bare(piece);
  if (inner.kind === 'column') return true;
  if (inner.kind === 'variable')
    return (
      !inner.name.startsWith('@@') &&
      !/quoted|quotename|sql|stmt|query|cmd|list|cols|columns|crlf|clause|where/i.test(inner.name)
    );
  return inner.kind === 'call' && ['OBJECT_NAME', 'SCHEMA_NAME', 'DB_NAME'].includes(callName(inner));
}

function isCatalogName(piece: ColumnReference): boolean {
  const name = columnName(piece);
  return catalogNames.test(name) || (name.toLowerCase() === 'name' && piece.parts.length > 1);
}
