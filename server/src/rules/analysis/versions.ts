import { bare } from '../../syntax/inspect.ts';
import type { Assignment, ColumnReference, Expression, MergeUpdate, Update } from '../../syntax/tree.ts';
import { memoByStep } from './memo.ts';
import { columnName, plainColumn, same } from './names.ts';
import { rowNumberOf } from './relations.ts';
import { indicesByTables, stepsAt } from './selections.ts';
import { columnsIn, innerColumn, isConstant, sourceOfColumn } from './sides.ts';
import type { Body, Scope, Source, Step } from './steps.ts';
import type { Tables } from './tables.ts';

/** A condition that keeps only open or current versions of one source. */
export interface CurrentTest {
  readonly source: Source | null;
  readonly column: ColumnReference;
  readonly by: 'flag' | 'end' | 'row-number';
}

const openYear = /9999|4000|2999|3000|2099|2100|2199|2200/;

/** Reads one condition of an AND chain as a current-row test. */
export function currentTest(condition: Expression, scope: Scope | null, tables: Tables): CurrentTest | null {
  const inner = bare(condition);
  const test = (column: ColumnReference | null, by: CurrentTest['by']): CurrentTest | null =>
    column === null ? null : { source: sourceOfColumn(column, scope, tables), column, by };
  if (inner.kind === 'column') return isFlag(inner, scope, tables) ? test(inner, 'flag') : null;
  if (inner.kind === 'is-truth') {
    const column = plainColumn(inner.operand);
    return column !== null && isFlag(column, scope, tables) ? test(column, 'flag') : null;
  }
  if (inner.kind === 'is-null' && !inner.not) {
    const column = plainColumn(inner.operand);
    return column !== null && isEnd(column, scope, tables) ? test(column, 'end') : null;
  }
  if (inner.kind === 'is-distinct' && inner.not) return equality(inner.left, inner.right, scope, tables, test);
  if (inner.kind !== 'binary') return null;
  if (inner.operator === 'OR') {
    // `ValidTo IS NULL OR ValidTo = '9999-12-31'`
    const left = currentTest(inner.left, scope, tables);
    const right = currentTest(inner.right, scope, tables);
    return left !== null && right !== null ? left : null;
  }
  if (inner.operator === '=' || inner.operator === '<=>' || inner.operator === '==') {
    return equality(inner.left, inner.right, scope, tables, test);
  }
  if (['>', '>='].includes(inner.operator)) {
    const column = innerColumn(inner.left);
    return column !== null && isEnd(column, scope, tables) && isConstant(inner.right) ? test(column, 'end') : null;
  }
  if (['<', '<='].includes(inner.operator)) {
    const column = innerColumn(inner.right);
    return column !== null && isEnd(column, scope, tables) && isConstant(inner.left) ? test(column, 'end') : null;
  }
  return null;
}

function equality(
  first: Expression,
  second: Expression,
  scope: Scope | null,
  tables: Tables,
  test: (column: ColumnReference | null, by: CurrentTest['by']) => CurrentTest | null,
): CurrentTest | null {
  for (const [side, other] of [
    [first, second],
    [second, first],
  ] as const) {
    const column = innerColumn(side);
    if (column === null) continue;
    const value = bare(other);
    if (value.kind === 'literal' && value.value === '1' && rowNumberOf(side, scope, tables) !== null) {
      return test(column, 'row-number');
    }
    if (
      value.kind === 'literal' &&
      value.value === '1' &&
      /^(rn|row_?num(ber)?|rnk?|seq|rownum)$/i.test(columnName(column))
    ) {
      return test(column, 'row-number');
    }
    if (isFlag(column, scope, tables) && isOpenFlag(value)) return test(column, 'flag');
    if (isEnd(column, scope, tables) && (isConstant(value) || value.kind === 'column')) {
      return isConstant(value) ? test(column, 'end') : null;
    }
    // The version that has the latest date of its key.
    if (value.kind === 'subquery' && columnsIn(value).length > 0) return test(column, 'row-number');
  }
  return null;
}

function isFlag(column: ColumnReference, scope: Scope | null, tables: Tables): boolean {
  return tables.role(column, scope) === 'current-flag';
}

function isEnd(column: ColumnReference, scope: Scope | null, tables: Tables): boolean {
  return tables.role(column, scope) === 'effective-end';
}

function isOpenFlag(value: Expression): boolean {
  if (value.kind === 'variable') return true;
  if (value.kind === 'cast') return isOpenFlag(bare(value.operand));
  return value.kind === 'literal' && /^(1|y|yes|t|true|c|current|a|active)$/i.test(value.value.trim());
}

function isClosedFlag(value: Expression): boolean {
  if (value.kind === 'cast') return isClosedFlag(bare(value.operand));
  return value.kind === 'literal' && /^(0|n|no|f|false|h|i|inactive|expired|historical)$/i.test(value.value.trim());
}

/** What an UPDATE or a WHEN MATCHED branch sets to close a version. */
export interface Closing {
  readonly flag: Assignment | null;
  readonly end: Assignment | null;
}

/**
 * The assignments that close a version: a current flag set to its closed value, or a validity end set to a time. An
 * end date that is copied from a source column of the same name is an attribute.
 */
export function closingOf(assignments: readonly Assignment[], scope: Scope | null, tables: Tables): Closing | null {
  let flag: Assignment | null = null;
  let end: Assignment | null = null;
  for (const assignment of assignments) {
    const { column } = assignment;
    if (column === null) continue;
    const role = tables.role(column, scope);
    const value = bare(assignment.value);
    if (role === 'current-flag' && isClosedFlag(value)) flag = assignment;
    if (role === 'effective-end' && isEndValue(value, columnName(column))) end = assignment;
  }
  return flag === null && end === null ? null : { flag, end };
}

function isEndValue(value: Expression, column: string): boolean {
  if (value.kind === 'literal') return value.type !== 'null' && !openYear.test(value.value);
  if (value.kind === 'default' || value.kind === 'case') return false;
  return !columnsIn(value).some((other) => same(columnName(other), column));
}

/** A literal far in the future, or NULL: the value of an open end. */
export function openEndOf(expression: Expression): 'null' | 'date' | null {
  const inner = bare(expression);
  if (inner.kind === 'literal') {
    if (inner.type === 'null') return 'null';
    return inner.type !== 'number' && openYear.test(inner.value) ? 'date' : null;
  }
  if (inner.kind === 'cast') {
    const operand = openEndOf(inner.operand);
    return operand;
  }
  if (inner.kind === 'call' && inner.arguments.length > 0) {
    const [first] = inner.arguments;
    return first !== undefined && openEndOf(first) === 'date' ? 'date' : null;
  }
  return null;
}

/** An UPDATE or WHEN MATCHED branch of a step that closes versions. */
export interface ClosingStatement {
  readonly closing: Closing;
  readonly scope: Scope;
  readonly node: Update | MergeUpdate;
}

/** Everything in a step that closes versions. */
export const closingsOf = memoByStep((step: Step, tables: Tables): readonly ClosingStatement[] =>
  [...step.find('update'), ...step.find('merge-update')].flatMap(({ node, scope }) => {
    const closing = scope === null ? null : closingOf(node.assignments, scope, tables);
    return closing === null || scope === null ? [] : [{ closing, scope, node }];
  }),
);

const closingIndices = indicesByTables((step, tables) => closingsOf(step, tables).length > 0);

/** The steps of a body that close versions. */
export function closingSteps(body: Body, tables: Tables): readonly Step[] {
  return stepsAt(body, closingIndices(body, tables));
}
