import type { Cursor } from './cursor.ts';
import { closeParenthesis, skipToClosing } from './names.ts';
import { parseSelectItem } from './selectItems.ts';
import type { Expression, Identifier, SelectItem, TableSource } from './tree.ts';

/** `source PIVOT ( aggregate FOR column IN ( values ) ) [AS] alias`. */
export function parsePivot(cursor: Cursor, source: TableSource): TableSource {
  cursor.advance();
  cursor.expect('(');
  const aggregates: SelectItem[] = [];
  do {
    // DuckDB takes a comma behind the last aggregate.
    if (aggregates.length > 0 && cursor.at('FOR')) break;
    aggregates.push(parseSelectItem(cursor));
  } while (!cursor.recovering && cursor.dialect.family !== 'tsql' && cursor.eat(','));
  const [first] = aggregates;
  if (
    cursor.dialect.family === 'tsql' &&
    !(first?.expression.kind === 'call' && first.expression.arguments.length > 0)
  ) {
    cursor.fail('an aggregate such as SUM (column)');
  }
  const values: SelectItem[] = [];
  let column: Expression = { kind: 'error', start: cursor.end, end: cursor.end };
  if (cursor.dialect.family === 'duckdb' && !cursor.at('FOR')) {
    // The statement's form without FOR is bounded only.
    if (!skipToClosing(cursor)) cursor.fail("')'");
  } else {
    cursor.expect('FOR');
    column = cursor.dialect.family === 'tsql' ? parseColumn(cursor) : cursor.grammar.operand(cursor);
    cursor.expect('IN');
    if (cursor.dialect.family === 'duckdb' && cursor.atName) values.push(parsePivotValue(cursor));
    else {
      cursor.expect('(');
      do {
        if (values.length > 0 && cursor.at(')') && cursor.dialect.family === 'duckdb') break;
        values.push(parsePivotValue(cursor));
      } while (!cursor.recovering && cursor.eat(','));
      closeParenthesis(cursor);
    }
    if (cursor.dialect.family !== 'tsql' && !cursor.at(')')) skipToClosing(cursor);
  }
  closeParenthesis(cursor);
  const alias = parsePivotAlias(cursor);
  return { kind: 'pivot', start: source.start, end: cursor.end, source, aggregates, column, values, alias };
}

/** T-SQL takes names only, Spark and DuckDB values with an alias. */
function parsePivotValue(cursor: Cursor): SelectItem {
  if (cursor.dialect.family !== 'tsql') return parseSelectItem(cursor);
  const { start } = cursor;
  const name = cursor.identifier('a column name');
  const expression: Expression = { kind: 'column', start, end: cursor.end, parts: [name] };
  return { kind: 'select-item', start, end: cursor.end, expression, alias: null, aliasStyle: null, assigns: null };
}

function parseColumn(cursor: Cursor): Expression {
  const { start } = cursor;
  const parts: Identifier[] = [];
  do parts.push(cursor.identifier('a column'));
  while (!cursor.recovering && cursor.eat('.'));
  return { kind: 'column', start, end: cursor.end, parts };
}

/** `source UNPIVOT ( value FOR column IN ( columns ) ) [AS] alias`. */
export function parseUnpivot(cursor: Cursor, source: TableSource): TableSource {
  cursor.advance();
  if (cursor.dialect.family !== 'tsql' && cursor.eatAny('INCLUDE', 'EXCLUDE') !== null) cursor.expect('NULLS');
  cursor.expect('(');
  let value = cursor.missingIdentifier();
  let column = cursor.missingIdentifier();
  const columns: Expression[] = [];
  if (cursor.at('(')) {
    // Several value columns at once (Spark, DuckDB): bounded only.
    if (!skipToClosing(cursor)) cursor.fail("')'");
  } else {
    value = cursor.identifier('a column name');
    cursor.expect('FOR');
    column = cursor.identifier('a column name');
    cursor.expect('IN');
    cursor.expect('(');
    do {
      if (columns.length > 0 && cursor.at(')') && cursor.dialect.family === 'duckdb') break;
      columns.push(cursor.dialect.family === 'tsql' ? parseColumn(cursor) : parseSelectItem(cursor).expression);
    } while (!cursor.recovering && cursor.eat(','));
    closeParenthesis(cursor);
  }
  closeParenthesis(cursor);
  const alias = parsePivotAlias(cursor);
  return { kind: 'unpivot', start: source.start, end: cursor.end, source, value, column, columns, alias };
}

function parsePivotAlias(cursor: Cursor): Identifier | null {
  if (cursor.eat('AS')) return cursor.identifier('an alias');
  if (cursor.atName) return cursor.takeIdentifier();
  if (cursor.dialect.family === 'tsql') cursor.fail('an alias');
  return null;
}
