import type { Cursor } from './cursor.ts';
import type { Call, Expression } from './tree.ts';

/** True for comparisons, predicates and their combinations. */
export function isCondition(expression: Expression): boolean {
  let inner = expression;
  while (inner.kind === 'parenthesis') inner = inner.inner;
  switch (inner.kind) {
    case 'binary':
      return conditionOperators.has(inner.operator);
    case 'unary':
      return inner.operator === 'NOT';
    case 'is-null':
    case 'is-truth':
    case 'is-distinct':
    case 'in-list':
    case 'in-query':
    case 'between':
    case 'like':
    case 'exists':
    case 'quantified':
    case 'current-of':
      return true;
    case 'call':
      return predicateCalls.has(calledName(inner));
    default:
      return false;
  }
}

export const comparisonOperators: ReadonlySet<string> = new Set([
  '=',
  '<>',
  '!=',
  '<',
  '>',
  '<=',
  '>=',
  '!<',
  '!>',
  '<=>',
  '==',
]);
const conditionOperators: ReadonlySet<string> = new Set([...comparisonOperators, 'AND', 'OR']);
/** Functions of T-SQL that are conditions. */
const predicateCalls: ReadonlySet<string> = new Set([
  'CONTAINS',
  'FREETEXT',
  'UPDATE',
  'TSEQUAL',
  'REGEXP_LIKE',
  'MATCH',
]);

/** The name of a function without a schema, in upper case; '' where there is a schema. */
function calledName(call: Call): string {
  return call.name.parts.length === 1 ? (call.name.parts[0]?.name ?? '').toUpperCase() : '';
}

function isCallOf(expression: Expression, name: string): boolean {
  let inner = expression;
  while (inner.kind === 'parenthesis') inner = inner.inner;
  return inner.kind === 'call' && calledName(inner) === name;
}

/** On T-SQL a condition is no value; reports one that stands in a value's place. REGEXP_LIKE is read as both. */
export function requireValue(cursor: Cursor, expression: Expression): void {
  if (isCallOf(expression, 'REGEXP_LIKE')) return;
  requireOperand(cursor, expression);
}

/** As `requireValue`, for what stands before a comparison: there Microsoft's parser has taken REGEXP_LIKE for a condition. */
export function requireOperand(cursor: Cursor, expression: Expression): void {
  if (cursor.dialect.booleanValues || cursor.recovering || !isCondition(expression)) return;
  cursor.report(expression.start, expression.end, 'Expected a value, but found a condition.');
}

/** On T-SQL a value is no condition; reports that its comparison is missing. */
export function requireCondition(cursor: Cursor, expression: Expression): void {
  if (cursor.dialect.booleanValues || cursor.recovering || isCondition(expression)) return;
  cursor.fail('a comparison');
}
