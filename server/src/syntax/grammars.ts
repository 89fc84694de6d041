import { parseAssignments } from './assignments.ts';
import { parseTableElements } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { parseExecute } from './execute.ts';
import { parseCondition, parseExpression, parseSum, parseValue } from './expressions.ts';
import type { Grammar } from './grammar.ts';
import { parseOpenElements } from './openColumns.ts';
import { parseOpenStatement } from './openStatements.ts';
import { parsePrimary } from './primary.ts';
import { parseQuery, parseQueryFrom, parseValuesQuery } from './queries.ts';
import { parseSettingValue } from './settings.ts';
import { parseSingleSource, parseSources, parseTableSource } from './sources.ts';
import { parseStatement, parseStatements } from './statements.ts';
import { parseWrite } from './writes.ts';

const tsql: Grammar = {
  primary: parsePrimary,
  operand: parseSum,
  expression: parseExpression,
  value: parseValue,
  condition: parseCondition,
  query: parseQuery,
  queryFrom: parseQueryFrom,
  values: parseValuesQuery,
  tableSource: parseTableSource,
  singleSource: parseSingleSource,
  sources: parseSources,
  assignments: parseAssignments,
  write: parseWrite,
  statement: parseStatement,
  statements: parseStatements,
  tableElements: parseTableElements,
  execute: parseExecute,
  settingValue: parseSettingValue,
};

/** Spark SQL and DuckDB share T-SQL's expressions and queries, with the dialect's differences inside. */
const open: Grammar = {
  ...tsql,
  statement: parseOpenStatement,
  tableElements: parseOpenElements,
};

/** The grammar of a dialect. */
export function grammarOf(dialect: Dialect): Grammar {
  return dialect.family === 'tsql' ? tsql : open;
}
