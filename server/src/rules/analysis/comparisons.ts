import { bare, childrenOf } from '../../syntax/inspect.ts';
import type { Binary, ColumnReference, Expression, Node } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { columnName, plainColumn, same } from './names.ts';
import { columnNamed } from './relations.ts';
import { sourceOfColumn } from './sides.ts';
import type { Entry, Scope, Step } from './steps.ts';
import type { Tables } from './tables.ts';

/** `a <> b` or `a = b` between plain columns of two different sources. */
export interface ColumnComparison {
  readonly entry: Entry<'binary'>;
  readonly node: Binary;
  readonly left: ColumnReference;
  readonly right: ColumnReference;
  /** True or false when both sides' nullability is known, else null. */
  readonly nullable: boolean | null;
  /** Another condition beside it tests one of its columns for NULL. */
  readonly nullTested: boolean;
}

/** Comparisons with the given operators between columns of two different sources, in the order of the text. */
export function columnComparisons(
  step: Step,
  tables: Tables,
  operators: readonly string[],
): readonly ColumnComparison[] {
  return step.find('binary').flatMap((entry) => {
    const { node, scope } = entry;
    if (!operators.includes(node.operator)) return [];
    const left = plainColumn(node.left);
    const right = plainColumn(node.right);
    if (left === null || right === null) return [];
    const leftSource = sourceOfColumn(left, scope, tables);
    const rightSource = sourceOfColumn(right, scope, tables);
    if (leftSource === null || rightSource === null || leftSource === rightSource) return [];
    return [
      {
        entry,
        node,
        left,
        right,
        nullable: eitherNullable(left, right, scope, tables),
        nullTested: testsNullOf(entry, [left, right]),
      },
    ];
  });
}

/** True when one side may be NULL, false when neither may, null when that is not known. */
function eitherNullable(
  left: ColumnReference,
  right: ColumnReference,
  scope: Scope | null,
  tables: Tables,
): boolean | null {
  const first = storedNullable(left, scope, tables);
  const second = storedNullable(right, scope, tables);
  if (first === true || second === true) return true;
  return first === false && second === false ? false : null;
}

/** Nullability of the column itself: that an outer join may leave it empty is another question. */
export function storedNullable(column: ColumnReference, scope: Scope | null, tables: Tables): boolean | null {
  const source = sourceOfColumn(column, scope, tables);
  const columns = source === null ? null : (tables.relation(source)?.columns ?? null);
  return columns === null ? null : (columnNamed(columns, columnName(column))?.nullable ?? null);
}

/** True when the predicate around an entry tests one of some columns for NULL. */
function testsNullOf(entry: Entry, columns: readonly ColumnReference[]): boolean {
  const tested = nullTestedIn(predicateAround(entry));
  return columns.some((column) =>
    tested.get(columnName(column).toLowerCase())?.some((other) => sameReference(column, other)),
  );
}

/** The whole condition that an expression is part of. What one part finds holds for all parts on its way up. */
function predicateAround(entry: Entry): Entry {
  const passed: { top: Entry | null }[] = [];
  let top: Entry = entry;
  for (;;) {
    const cell = topCell(top);
    if (cell.top === null) {
      passed.push(cell);
      if (top.parent !== null && logical.has(top.parent.node.kind)) {
        top = top.parent;
        continue;
      }
    }
    const found = cell.top ?? top;
    for (const each of passed) each.top = found;
    return found;
  }
}

const logical: ReadonlySet<string> = new Set(['binary', 'unary', 'parenthesis', 'is-null', 'is-truth']);
const topCell = memo((_: Entry): { top: Entry | null } => ({ top: null }));

/** The columns that a condition tests for NULL, by their names in lower case. */
const nullTestedIn = memo((condition: Entry): ReadonlyMap<string, readonly ColumnReference[]> => {
  const found = new Map<string, ColumnReference[]>();
  const pending: Node[] = [condition.node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const tested = next.kind === 'is-null' ? plainColumn(next.operand) : null;
    if (tested !== null) {
      const name = columnName(tested).toLowerCase();
      const known = found.get(name);
      if (known === undefined) found.set(name, [tested]);
      else known.push(tested);
    }
    if (next.kind !== 'query') pending.push(...childrenOf(next));
  }
  return found;
});

function sameReference(left: ColumnReference, right: ColumnReference): boolean {
  return (
    same(columnName(left), columnName(right)) &&
    (left.parts.length === 1 ||
      right.parts.length === 1 ||
      same(left.parts.at(-2)?.name ?? '', right.parts.at(-2)?.name ?? ''))
  );
}

/** True when an odd number of NOTs stands above, inside the same predicate. */
export function isNegated(entry: Entry): boolean {
  let negated = false;
  for (let at = entry.parent; at !== null; at = at.parent) {
    const { node } = at;
    if (node.kind === 'unary' && (node.operator === 'NOT' || node.operator === '!')) negated = !negated;
    else if (!['binary', 'parenthesis'].includes(node.kind)) break;
  }
  return negated;
}

/** ISNULL, COALESCE, IFNULL or NVL with a literal: what stands for NULL. */
export function sentinelOf(
  expression: Expression,
): { readonly column: Expression; readonly value: string; readonly national: boolean } | null {
  const inner = bare(expression);
  if (inner.kind !== 'call' || inner.arguments.length !== 2) return null;
  const name = inner.name.parts.at(-1)?.name.toUpperCase() ?? '';
  if (!['ISNULL', 'COALESCE', 'IFNULL', 'NVL'].includes(name)) return null;
  const [column, fallback] = inner.arguments;
  if (column === undefined || fallback === undefined) return null;
  const value = bare(fallback);
  if (value.kind !== 'literal' || value.type === 'null') return null;
  return { column, value: value.value, national: value.type === 'national' };
}
